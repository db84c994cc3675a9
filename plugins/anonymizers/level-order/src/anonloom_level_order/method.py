"""The partitioner `level-order`."""

from typing import Literal

import attrs
import numpy as np

from anonloom import Classes, Guard, Partitioner, StageContext, Table, param
from anonloom.params import at_least
from anonloom.typing import IntArray
from anonloom_kernels.admissible_windows import by_size_alone
from anonloom_kernels.coarse_blocks import each_cell
from anonloom_kernels.compiled import announce_interpreted
from anonloom_kernels.hierarchy_levels import levels_of
from anonloom_kernels.level_order_key import BITS, level_order
from anonloom_kernels.losses import losses_of
from anonloom_level_order.cut import Cut
from anonloom_level_order.recut import Recutter
from anonloom_level_order.search import search_blocks
from anonloom_level_order.sequence import order_by_sequence

#: For an estimate of the time, elements that are read per row and axis: for the order; for a cut
#: and for each size of its classes; for each doubling of long windows.
_ORDER_STEPS = 180
_CUT_STEPS = 20
_SIZE_STEPS = 5
_LONG_STEPS = 100
#: How often rows are ordered and cut for each part that is tried out, and in each round.
_AHEAD = 4.5
_RECUT = 2


@attrs.frozen(kw_only=True)
class LevelOrder(Partitioner):
    """Orders the rows by levels of their axes, then cuts the order where it loses least.

    Given classes that the guard does not admit, and no part of which it admits, are suppressed.
    """

    search: Literal["none", "blocks", "full"] = param(
        help="Which order: none: one sequence of levels for all rows; blocks: every block of rows "
        "has its own sequence; full: parts are tried out before a block is divided, and "
        "neighbouring classes are cut anew along other orders.",
        default="blocks",
    )

    rounds: int = param(
        help="How many times `search: full` cuts neighbouring classes anew.",
        default=150,
        check=at_least(0),
    )

    tried: int = param(
        help="How many parts `search: full` tries out per block.",
        default=6,
        check=at_least(1),
    )

    def partition(
        self, table: Table, classes: Classes, guard: Guard, context: StageContext
    ) -> Classes:
        """Return the refined classes."""
        if not len(classes):
            return classes
        announce_interpreted(context, __package__, self._steps(table, classes, guard))
        cut = self._cut(table, classes, guard, context)
        refined = Classes(cut.rows, cut.edges, classes.suppressed)
        if cut.infeasible.any():
            whole = classes.starts[cut.infeasible]
            refined = refined.suppress(np.isin(refined.starts, whole))
        if self.search == "full" and len(refined):
            refined = self._recut(table, classes, refined, guard, context)
        return refined

    def _steps(self, table: Table, classes: Classes, guard: Guard) -> float:
        """How many elements the kernels read and write, about."""
        rows, k = len(classes.rows), guard.min_size
        order = 0 if self.search == "none" else _ORDER_STEPS
        cut = _CUT_STEPS + _SIZE_STEPS * 2 * k
        steps: float = order + cut
        if self.search == "full":
            steps *= 1 + _AHEAD * self.tried + _RECUT * self.rounds
        if not guard.size_only:
            long = max(0.0, np.log2(rows / (2 * k)))
            steps += _LONG_STEPS * long * (2 if self.search == "full" else 1)
        return steps * rows * len(table.axes)

    def _cut(self, table: Table, classes: Classes, guard: Guard, context: StageContext) -> Cut:
        """Order and cut every class."""
        if self.search == "none":
            order = order_by_sequence(table, classes.rows, classes.bounds)
        else:
            order = level_order(table, classes.rows, classes.bounds)
        cut = Cut.of(table, classes, order, guard)
        if self.search == "full":
            # Looking ahead is a heuristic, too: where it does not help it is not used.
            cut = cut.or_better(
                Cut.of(table, classes, self._ahead(table, classes, guard, context), guard)
            )
        return cut

    def _ahead(
        self, table: Table, classes: Classes, guard: Guard, context: StageContext
    ) -> IntArray:
        """Positions in the classes' rows, ordered within each class by looking ahead."""
        losses, levels, windows = losses_of(table), levels_of(table), by_size_alone(guard)

        def search(first: int, last: int) -> IntArray:
            bounds = classes.bounds[first : last + 1]
            rows = classes.rows[bounds[0] : bounds[-1]]
            order = search_blocks(
                np.ascontiguousarray(table.codes[:, rows]), losses, levels,
                bounds - bounds[0], windows, self.tried, BITS,
            )  # fmt: skip
            return order + int(bounds[0])

        return each_cell(search, classes, context)

    def _recut(
        self, table: Table, given: Classes, refined: Classes, guard: Guard, context: StageContext
    ) -> Classes:
        """Cut neighbouring classes anew, inside the classes that were given."""
        parent = given.labels(len(table))[refined.rows[refined.starts]]
        first = np.append(True, np.diff(parent) != 0)
        recutter = Recutter(
            table,
            guard,
            np.ascontiguousarray(table.codes[:, refined.rows]),
            refined.rows,
            np.append(refined.starts[first], len(refined.rows)),
            losses_of(table),
            levels_of(table),
            by_size_alone(guard),
            np.arange(len(refined.rows)),
            refined.bounds,
        )
        recutter.improve(self.rounds, context)
        return Classes(refined.rows[recutter.order], recutter.edges, refined.suppressed)
