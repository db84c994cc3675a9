"""The partitioner `vp-tree`: classes are cut by distance from one of their rows, near and far."""

from typing import Literal

import attrs

from anonloom import Classes, Guard, Partitioner, Schema, StageContext, Table, param
from anonloom_kernels.compiled import announce_interpreted
from anonloom_rayden.gower import Categories, Distance, distance_problem, space_of
from anonloom_rayden.tree import ALIGNED, HALF, PAPER, Rule
from anonloom_rayden.tree_growth import TreeBuilder, gather, rows_of, sizes_decide
from anonloom_rayden.vantage import BEST_SPREAD, FARTHEST, RANDOM

CUTS = {"aligned": ALIGNED, "half": HALF, "paper": PAPER}
VANTAGES = {"random": RANDOM, "farthest": FARTHEST, "best-spread": BEST_SPREAD}


@attrs.frozen(kw_only=True)
class VpTree(Partitioner):
    """Vantage-point tree partitioning (RAYDEN, Algorithm 1).

    A class is cut while it has at least twice the rows that the guard demands and the guard admits
    both halves. Given classes that the guard does not admit and that cannot be cut into admitted
    ones are suppressed.
    """

    cut: Literal["aligned", "half", "paper"] = param(
        help="Where the near rows end. aligned: at a multiple of k, so that classes have k to "
        "2k-1 rows, most of them k; half: at the middle row; paper: at the median distance, with "
        "all rows at that distance near, which leaves classes below k.",
        default="aligned",
    )

    vantage: Literal["random", "farthest", "best-spread"] = param(
        help="The row that distances are taken from: any; the farthest from any; or the one of "
        "six whose distances vary most.",
        default="best-spread",
    )

    distance: Distance = param(
        help="gower: mean of the differences per column; euclidean: root of the mean of their "
        "squares, for numbers only.",
        default="gower",
    )

    categories: Categories = param(
        help="How far two categories are apart. equality: 1 unless they are equal; hierarchy: "
        "the share of the values under their lowest common node; codes: difference of their ranks, "
        "as if they were numbers.",
        default="equality",
    )

    @property
    def sound(self) -> bool:
        """Whether no class falls below k: not where ties at the median stay together."""
        return self.cut != "paper"

    def problem(self, schema: Schema) -> str | None:
        """Say that a Euclidean distance has nothing to do with categories."""
        return distance_problem(schema, self.distance, self.categories)

    def partition(
        self, table: Table, classes: Classes, guard: Guard, context: StageContext
    ) -> Classes:
        """Return the refined classes."""
        space = space_of(table, self.distance, self.categories)
        if not len(classes):
            return classes
        points, roots, rows = gather(table, classes, context)
        rule = Rule(CUTS[self.cut], VANTAGES[self.vantage], guard.min_size, 0)
        growing = TreeBuilder(space, rule, context)
        announce_interpreted(context, __package__, growing.steps(roots))
        if not self.sound or sizes_decide(table, guard, len(rows)):
            points, leaves = growing.freely(points, roots)
        else:
            points, leaves = growing.cut_guarded(points, roots, rows, table, guard)
        refined = Classes(*rows_of(points, leaves, rows), classes.suppressed)
        if not self.sound:
            return refined
        # A cut makes admitted halves only; what was never cut is as good as it came.
        admitted = guard.admits_classes(table, refined)
        return refined if admitted.all() else refined.suppress(~admitted)
