"""Which cuts are allowable: both halves must be admitted by the guard."""

import attrs
import numpy as np

from anonloom import Guard, Table
from anonloom.typing import BoolArray, IntArray
from anonloom_mondrian.fragments import Fragments


@attrs.frozen(eq=False)
class Admission:
    """Asks the guard about classes of fragments.

    Attributes
    ----------
    table
        The table that the codes come from.
    rows
        The row order that the fragments refer to.
    guard
        What every class must satisfy.
    """

    table: Table
    rows: IntArray
    guard: Guard

    @property
    def size_suffices(self) -> bool:
        """Whether every half that is large enough is admitted."""
        return self.guard.size_only and self.table.with_all_columns().persons is None

    def roomy(self, level: Fragments) -> BoolArray:
        """Whether each class has the rows for two."""
        roomy: BoolArray = level.sizes >= 2 * self.guard.min_size
        return roomy

    def large(self, sizes: IntArray) -> BoolArray:
        """Whether so many rows are enough for a class."""
        kept = np.asarray(self.guard.least_kept(sizes))
        large: BoolArray = (sizes > 0) & (kept >= self.guard.demanded)
        return large

    def both(self, halves: Fragments) -> BoolArray:
        """Whether both halves of each class are admitted; large enough they are."""
        if not len(halves) or self.size_suffices:
            return np.ones(len(halves) // 2, bool)
        bounds = halves.row_bounds()
        rows = self.rows[halves.places()]
        verdict = self.guard.admits(self.table, rows, bounds[:-1], bounds[1:])
        both: BoolArray = verdict[0::2] & verdict[1::2]
        return both
