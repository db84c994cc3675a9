"""Generalizer rounded: the intervals of numbers end on round numbers."""

from decimal import ROUND_FLOOR, Decimal

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom import Classes, Generalizer, Release, StageContext, Table, param
from anonloom.cells import interval_text, number_text
from anonloom.data import Axis
from anonloom.params import at_least
from anonloom.typing import CodeArray


@attrs.frozen(kw_only=True)
class Rounded(Generalizer):
    """Publishes numbers as intervals on a round grid, and other columns as they declare it.

    A class that publishes `[23, 37]` names the age of its youngest and of its oldest member;
    `[20, 40]` does not.
    """

    steps: int = param(
        help="Numbers lie on the finest grid of 1, 2, 5, 10, 20, 50, ... on which the range of "
        "their column has at most so many steps.",
        default=10,
        check=at_least(1),
    )

    def generalize(self, table: Table, classes: Classes, context: StageContext) -> Release:
        """Return the release, with one cell per class and axis."""
        lo, hi = classes.extents(table.codes)
        cells = []
        for index, axis in enumerate(table.axes):
            if axis.form == "set":
                codes = table.codes[index]
                members = [np.unique(codes[classes.members(c)]) for c in range(len(classes))]
                cells.append(axis.publish_sets(members))
            elif axis.form == "interval" and axis.type == "number" and axis.range > 0:
                cells.append(self._rounded_intervals(axis, lo[:, index], hi[:, index]))
            else:
                cells.append(axis.publish(lo[:, index], hi[:, index]))
        return Release.from_cells(table, classes, cells, truthful=self.truthful)

    def _rounded_intervals(self, axis: Axis, lo: CodeArray, hi: CodeArray) -> NDArray[np.object_]:
        """Published cells of classes that cover the codes from `lo` to `hi`."""
        step = _round_up(axis.range / self.steps)
        least, greatest = axis.texts(lo), axis.texts(hi)
        # What a class with missing values publishes does not change: `*`, or nothing at all.
        cells = axis.publish(lo, hi)
        for which in np.flatnonzero(hi != axis.missing):
            first = _grid_line(str(least[which]), step)
            # A value on the grid begins a cell: 30 is in [30, 40], like 31. If it ended one as
            # well, a class of thirty-year-olds would publish its exact age, and no other would.
            last = _grid_line(str(greatest[which]), step) + step
            cells[which] = interval_text(number_text(float(first)), number_text(float(last)))
        return cells


def _round_up(width: float) -> Decimal:
    """Return the least of ..., 0.1, 0.2, 0.5, 1, 2, 5, 10, ... that is not below a width."""
    exact = Decimal(repr(width))
    power = Decimal(1).scaleb(exact.adjusted())
    return next(power * digit for digit in (1, 2, 5, 10) if power * digit >= exact)


def _grid_line(number: str, step: Decimal) -> Decimal:
    """Return the multiple of a step that is at or below a number."""
    # Decimal, since floats err: 0.6 // 0.2 is 2.0, and 3 * 0.2 is above 0.6.
    return (Decimal(number) / step).to_integral_value(ROUND_FLOOR) * step
