"""The partitioner `level-order`."""

from typing import Literal

import attrs
import numpy as np

from anonloom.data.classes import Classes
from anonloom.data.table import Table
from anonloom.kinds.context import Run
from anonloom.kinds.guard import Guard
from anonloom.kinds.partitioner import Partitioner
from anonloom.params import at_least, param
from anonloom_kernels.compiled import compiling, in_threads
from anonloom_kernels.cutting import divide
from anonloom_kernels.levelkey import BITS, level_order, scratch_for
from anonloom_kernels.levels import levels_of
from anonloom_kernels.losses import losses_of
from anonloom_kernels.windows import Ints, by_size_alone, windows_of
from anonloom_level_order.recut import Recutter
from anonloom_level_order.search import search_block
from anonloom_level_order.sequence import order_by_sequence


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

    def partition(self, table: Table, classes: Classes, guard: Guard, run: Run) -> Classes:
        """Return the refined classes."""
        if not len(classes):
            return classes
        with compiling(run):
            order = self._order(table, classes, guard, run)
            rows = classes.rows[order]
            losses = losses_of(table)
            windows = windows_of(table, rows, classes.bounds, guard)
            ordered = np.ascontiguousarray(table.codes[:, rows].T)
            edges, divided = divide(losses, ordered, classes.bounds, windows)
            refined = Classes(rows, edges, classes.suppressed)
            if not divided.all():
                whole = classes.bounds[:-1][~divided]
                refined = refined.suppress(np.isin(edges[:-1], whole))
            if self.search == "full" and len(refined):
                refined = self._recut(table, classes, refined, guard, run)
        return refined

    def _order(self, table: Table, classes: Classes, guard: Guard, run: Run) -> Ints:
        """Positions in the classes' rows, ordered within each class."""
        if self.search == "none":
            return order_by_sequence(table, classes.rows, classes.bounds)
        if self.search == "blocks" or not table.axes:
            return level_order(table, classes.rows, classes.bounds)
        codes = np.ascontiguousarray(table.codes[:, classes.rows])
        losses, levels, windows = losses_of(table), levels_of(table), by_size_alone(guard)
        order = np.arange(len(classes.rows))
        exponents = np.array([BITS])

        def search(block: int) -> None:
            begin, end = classes.bounds[block], classes.bounds[block + 1]
            room = scratch_for(levels, len(order))
            search_block(
                codes, losses, levels, order, begin, end, windows, self.tried, exponents, room
            )

        in_threads(search, range(len(classes)), run.workers)
        return order

    def _recut(
        self, table: Table, given: Classes, refined: Classes, guard: Guard, run: Run
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
        recutter.improve(self.rounds, run)
        return Classes(refined.rows[recutter.order], recutter.edges, refined.suppressed)
