"""Partitioner median-cut: cuts classes in two at the median, as long as the guard allows it."""

import attrs
import numpy as np

from anonloom import Classes, Guard, Partitioner, StageContext, Table, param
from anonloom.data import Rows
from anonloom.params import at_least


@attrs.frozen(kw_only=True)
class MedianCut(Partitioner):
    """Cuts every class at the median of the first column on which both halves are admitted."""

    smallest: int = param(
        help="Classes with fewer rows than this are not cut.", default=2, check=at_least(2)
    )

    def partition(
        self, table: Table, classes: Classes, guard: Guard, context: StageContext
    ) -> Classes:
        """Return the classes refined: every row in an admitted class, or suppressed."""
        waiting = [classes.members(which) for which in range(len(classes))]
        finished: list[Rows] = []
        while waiting:
            rows = waiting.pop()
            halves = self._cut(table, rows, guard)
            waiting += halves
            finished += [] if halves else [rows]
        labels = np.repeat(np.arange(len(finished)), [len(rows) for rows in finished])
        rows = np.concatenate([np.empty(0, np.int64), *finished])
        result = Classes.from_labels(labels, rows=rows, suppressed=classes.suppressed)
        # A given class that could not be cut may be one that the guard does not admit.
        return result.suppress(~guard.admits_classes(table, result))

    def _cut(self, table: Table, rows: Rows, guard: Guard) -> list[Rows]:
        """Return both halves, or nothing when no column allows a cut."""
        for codes in table.codes if len(rows) >= self.smallest else []:
            order = rows[np.argsort(codes[rows], kind="stable")]
            values = codes[order]
            # Rows with the median value stay together: they lie in the upper half.
            middle = int(np.searchsorted(values, values[len(values) // 2]))
            starts, stops = np.array([0, middle]), np.array([middle, len(order)])
            if middle > 0 and guard.admits(table, order, starts, stops).all():
                return [order[:middle], order[middle:]]
        return []
