"""Classes cut along an order, and the better of two such cuts."""

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom import Classes, Guard, Table
from anonloom.typing import FloatArray, IntArray
from anonloom_kernels.admissible_windows import windows_of
from anonloom_kernels.losses import losses_of
from anonloom_kernels.optimal_cuts import divide


@attrs.frozen(eq=False)
class Cut:
    """The optimal division of an order.

    Attributes
    ----------
    rows
        The order, given class after given class.
    bounds
        Offsets of the given classes.
    edges
        Offsets of the new classes.
    loss
        What each given class loses, infinite where no division is admitted.
    """

    rows: IntArray
    bounds: IntArray
    edges: IntArray
    loss: FloatArray

    @classmethod
    def of(cls, table: Table, classes: Classes, order: IntArray, guard: Guard) -> "Cut":
        """Cut an order of the classes' rows, class by class."""
        rows = classes.rows[order]
        windows = windows_of(table, rows, classes.bounds, guard)
        # Rows that stand side by side are taken as a whole.
        ordered = np.ascontiguousarray(table.codes.T).take(rows, axis=0)
        return cls(
            rows, classes.bounds, *divide(losses_of(table), ordered, classes.bounds, windows)
        )

    @property
    def infeasible(self) -> NDArray[np.bool_]:
        """Whether each given class has no admitted division; it stays whole."""
        return np.isinf(self.loss)

    def or_better(self, other: "Cut") -> "Cut":
        """Take for every given class the cut that loses less."""
        better = other.loss < self.loss
        taken = np.repeat(better, np.diff(self.bounds))
        ours = ~better[np.searchsorted(self.bounds, self.edges[:-1], side="right") - 1]
        theirs = better[np.searchsorted(self.bounds, other.edges[:-1], side="right") - 1]
        starts = np.union1d(self.edges[:-1][ours], other.edges[:-1][theirs])
        return Cut(
            np.where(taken, other.rows, self.rows),
            self.bounds,
            np.append(starts, len(self.rows)),
            np.minimum(self.loss, other.loss),
        )
