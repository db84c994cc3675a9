"""Cut every class where its rows lose least afterwards, on all axes together."""

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom.kinds.context import Run
from anonloom_kernels.compiled import compiling
from anonloom_kernels.losses import Losses, losses_of
from anonloom_mondrian.admission import Admission, Marks
from anonloom_mondrian.fragments import Codes, Fragments, Ints, join
from anonloom_mondrian.scoring import NONE, Trees, score_cuts, trees_of


@attrs.frozen(eq=False)
class Proposals:
    """Two cuts of every class along every axis, (axes x classes).

    Attributes
    ----------
    score, smaller
        How good the better cut is, and how many rows its smaller half has.
    best
        Last code of the left half of the better cut, `NONE` where no cut is large enough.
    even
        The same of the cut with the largest smaller half.
    """

    score: NDArray[np.float64]
    smaller: Ints
    best: Codes
    even: Codes

    @classmethod
    def empty(cls, axes: int, classes: int) -> "Proposals":
        """Return proposals that are still to be filled."""
        shape = (axes, classes)
        return cls(
            np.zeros(shape), np.zeros(shape, np.int64), *np.full((2, *shape), NONE, np.int32)
        )

    def order(self) -> Ints:
        """Axes of every class, the better first; among equals the more even, then the first."""
        return np.lexsort((-self.smaller, -self.score), axis=0)


@attrs.frozen(eq=False)
class BestLossCutter:
    """Cuts one level after the other where least is lost.

    Attributes
    ----------
    admission
        Says which cuts are allowable.
    per_bit
        Power of the entropy of a cut, by which the drop in loss is divided.
    run
        Told when kernels are compiled.
    losses, trees
        What an extent loses on each axis, and where the children of its node end.
    enough
        Whether a class of so many rows is large enough.
    """

    admission: Admission
    per_bit: float
    run: Run
    losses: Losses
    trees: Trees
    enough: Marks

    @classmethod
    def of(cls, admission: Admission, per_bit: float, run: Run) -> "BestLossCutter":
        """Prepare what all levels need."""
        table = admission.table
        enough = admission.large(np.arange(len(admission.rows) + 1))
        return cls(admission, per_bit, run, losses_of(table), trees_of(table), enough)

    def cut(self, level: Fragments) -> tuple[list[Fragments], Fragments]:
        """Cut all classes of a level; return those that stay as they are, and the halves."""
        roomy = self.admission.roomy(level)
        closed = [level.take(np.flatnonzero(~roomy))]
        level = level.take(np.flatnonzero(roomy))
        if not len(level):
            return closed, level
        proposals = self.propose(level)
        cut, uncut = np.zeros(len(level), bool), np.arange(len(level))
        halves: list[Fragments] = []
        order = proposals.order()
        # Where the guard refuses the best cut of every axis, the most even ones are the likeliest
        # to hold enough different values on both sides.
        for last_codes in (proposals.best, proposals.even):
            for axis in order:
                there = last_codes[axis[uncut], uncut] != NONE
                tried = uncut[there]
                if len(tried):
                    along = axis[tried]
                    parts = level.take(tried).divided(along, last_codes[along, tried])
                    admitted = self.admission.both(parts)
                    halves.append(parts.take(np.flatnonzero(np.repeat(admitted, 2))))
                    cut[tried[admitted]] = True
                    uncut = np.flatnonzero(~cut)
        closed.append(level.take(uncut))
        return closed, join([level.take(uncut[:0]), *halves])

    def propose(self, level: Fragments) -> Proposals:
        """Find the best and the most even cut of every class along every axis."""
        found = Proposals.empty(len(level.codes), len(level))
        with compiling(self.run):
            score_cuts(
                level.codes,
                level.weight,
                level.bounds,
                self.losses,
                self.trees,
                self.enough,
                self.per_bit,
                found.score,
                found.smaller,
                found.best,
                found.even,
            )
        return found
