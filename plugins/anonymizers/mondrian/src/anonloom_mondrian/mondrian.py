"""Mondrian: cut classes in two, a whole level of the tree at once, while both halves pass."""

from typing import TYPE_CHECKING, Literal, Protocol

import attrs

from anonloom import Classes, Guard, Partitioner, StageContext, Table, param
from anonloom.params import between

if TYPE_CHECKING:
    from anonloom_mondrian.admission import Admission
    from anonloom_mondrian.fragments import Fragments


class Cutter(Protocol):
    """What cuts the classes of a level."""

    def cut(self, level: "Fragments") -> "tuple[list[Fragments], Fragments]":
        """Return the classes that stay as they are, and the halves of the others."""


@attrs.frozen(kw_only=True)
class Mondrian(Partitioner):
    """Multidimensional partitioning (LeFevre, DeWitt and Ramakrishnan 2006, section 4).

    Classes are cut until no axis has an allowable cut. Given classes that the guard does not admit
    and that cannot be cut into admitted ones are suppressed.
    """

    mode: Literal["strict", "relaxed"] = param(
        help="strict: rows with equal values stay together, regions are disjoint; relaxed: rows "
        "with the median value may go either way, so that halves are equal.",
        default="strict",
    )

    cut: Literal["best-loss", "widest"] = param(
        help="Where a class is cut. best-loss: where the loss of its rows on all axes drops most, "
        "categories also between the children of their node; widest: near the middle of its "
        "widest axis, as the paper writes it.",
        default="best-loss",
    )

    per_bit: float = param(
        help="cut: best-loss only. 0 takes the cut after which least is lost, 1 the one with the "
        "greatest drop per bit of its entropy; between them the entropy counts with this power.",
        check=between(0, 1),
        default=0.5,
    )

    ties: Literal["even", "best", "left"] = param(
        help="cut: widest only. Where a strict cut puts the rows with the median value: where the "
        "halves are more even, where less is lost, or always left, as the paper writes it.",
        default="even",
    )

    def partition(
        self, table: Table, classes: Classes, guard: Guard, context: StageContext
    ) -> Classes:
        """Return the refined classes."""
        # Imported here and below: a pipeline that is only checked cuts nothing.
        from anonloom_mondrian.admission import Admission
        from anonloom_mondrian.fragments import assemble, gather

        if not len(classes):
            return classes
        level, rows = gather(table, classes)
        cutters = self._cutters(Admission(table, rows, guard), context)
        done: list[Fragments] = []
        finished = 0
        while len(level):
            closed, level = _cut(cutters, level)
            done += closed
            finished += sum(int(part.weight.sum()) for part in closed)
            context.progress(finished, len(rows))
        refined = assemble(done, rows, classes)
        # A cut makes admitted halves only; what was never cut is as good as it came.
        admitted = guard.admits_classes(table, refined)
        return refined if admitted.all() else refined.suppress(~admitted)

    def _cutters(self, admission: "Admission", context: StageContext) -> list[Cutter]:
        """Return what cuts a class; where the first finds nothing, the next is asked."""
        from anonloom_mondrian.widest import WidestCutter

        halving = [WidestCutter(admission, "either")] if self.mode == "relaxed" else []
        if self.cut == "best-loss":
            # Imported here: nothing else needs a compiler.
            from anonloom_mondrian.best_loss import BestLossCutter

            return [BestLossCutter.of(admission, self.per_bit, context), *halving]
        return [*halving] or [WidestCutter(admission, self.ties)]


def _cut(cutters: list[Cutter], level: "Fragments") -> "tuple[list[Fragments], Fragments]":
    """Cut a level; return the classes that no cutter can cut, and the halves of the others."""
    from anonloom_mondrian.fragments import join

    closed, halves = [level], []
    for cutter in cutters:
        closed, parts = cutter.cut(join(closed))
        halves.append(parts)
    return closed, join(halves)
