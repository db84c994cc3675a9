"""Which boxes the guard admits: by their sizes first, by their rows only where that is needed."""

from functools import cached_property

import attrs
import numpy as np

from anonloom import Classes, Guard, Table, short_repr
from anonloom.typing import BoolArray, IntArray
from anonloom_full_domain.grid import Boxes, Grid


@short_repr
@attrs.frozen(eq=False)
class Judge:
    """Asks the guard about boxes."""

    table: Table
    grid: Grid
    guard: Guard

    @cached_property
    def _large(self) -> BoolArray:
        """Whether a class of so many rows is large enough, for all sizes that can occur."""
        sizes = np.arange(self.grid.rows + 1, dtype=np.int64)
        large: BoolArray = np.asarray(self.guard.least_kept(sizes)) >= self.guard.demanded
        large[0] = False
        return large

    @cached_property
    def larger_is_better(self) -> bool:
        """Whether every size beyond one that is large enough is so, too."""
        return bool((np.diff(self._large.astype(np.int8)) >= 0).all())

    @cached_property
    def sizes_decide(self) -> bool:
        """Whether no row has to be looked at."""
        return self.guard.size_only and self.table.with_all_columns().persons is None

    def large(self, boxes: Boxes) -> BoolArray:
        """Whether boxes have enough rows."""
        return self._large[boxes.sizes]

    def admission(self, boxes: Boxes, points: IntArray, asked: BoolArray) -> BoolArray:
        """Judge those boxes that are asked for, all of which are large enough.

        Parameters
        ----------
        points
            What the boxes were made of, each point with all of its rows.
        """
        if self.sizes_decide or not asked.any():
            return asked
        # The last entry stands for points that are in no box.
        inside = np.flatnonzero(np.append(asked, False)[boxes.of_point])
        order = inside[np.argsort(boxes.of_point[inside], kind="stable")]
        members = points[order]
        rows = self._rows[spans(self._offsets[members], self.grid.weights[members])]
        stops = np.cumsum(boxes.sizes[asked])
        verdict = asked.copy()
        starts = stops - boxes.sizes[asked]
        verdict[asked] = self.guard.admits(self.table, rows, starts, stops)
        return verdict

    @cached_property
    def _rows(self) -> IntArray:
        """Rows sorted by point."""
        return self.grid.classes.rows[Classes.from_labels(self.grid.point).rows]

    @cached_property
    def _offsets(self) -> IntArray:
        return np.cumsum(self.grid.weights) - self.grid.weights


def spans(starts: IntArray, lengths: IntArray) -> IntArray:
    """Return the numbers of all ranges, one range after the other."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    return np.repeat(starts - ends + lengths, lengths) + np.arange(total)
