"""Generalizer `centroid`: one typical value for all rows of a class."""

from typing import Literal

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom import Classes, Generalizer, Release, StageContext, Table, cells, param
from anonloom.data import Axis
from anonloom_recoding.members import Members

#: Digits after the point of a mean: enough to compute with, too few to tell single rows.
DIGITS = 6


@attrs.frozen(kw_only=True)
class Centroid(Generalizer):
    """Publishes a mean or median of numbers, dates and times, and the most frequent category."""

    number: Literal["mean", "median"] = param(
        help="The typical value of numbers, dates and times.", default="mean"
    )
    category: Literal["mode", "node"] = param(
        help="mode: the most frequent value, the first in the column's order if there are "
        "several; node: the lowest node of the hierarchy that covers all.",
        default="mode",
    )

    @property
    def truthful(self) -> bool:
        """A typical value is hardly anybody's own."""
        return False

    def generalize(self, table: Table, classes: Classes, context: StageContext) -> Release:
        """Return the release."""
        lo, hi = classes.extents(table.codes)
        written = []
        for index, axis in enumerate(table.axes):
            if axis.type != "category":
                written.append(self._typical(axis, Members.of(table.codes[index], classes)))
            elif self.category == "node":
                written.append(axis.publish(lo[:, index], hi[:, index], form="nodes"))
            else:
                mode = modes(Members.of(table.codes[index], classes), axis.missing)
                written.append(np.array(axis.texts(mode), object))
        return Release.from_cells(table, classes, written, truthful=False)

    def _typical(self, axis: Axis, members: Members) -> NDArray[np.object_]:
        """Typical values as text; a class that has none is missing."""
        centre = means(axis, members) if self.number == "mean" else medians(axis, members)
        if axis.type in cells.MOMENTS:
            unit = cells.MOMENTS[axis.type]
            whole = np.where(np.isnan(centre), 0, np.floor(centre))
            texts = cells.moment_texts(whole.astype(f"datetime64[{unit}]"), unit)
        else:
            texts = [cells.number_text(round(value, DIGITS)) for value in np.nan_to_num(centre)]
        written = np.array(texts, object)
        written[np.isnan(centre)] = None
        return written


def _present(axis: Axis, members: Members) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Counts without missing values, and their sum in every class."""
    counts = np.where(members.codes == axis.missing, 0, members.counts)
    totals = np.bincount(members.owner, counts, len(members.bounds) - 1)
    return counts, totals.astype(np.int64)


def means(axis: Axis, members: Members) -> NDArray[np.float64]:
    """Mean place of the values of every class; NaN without any."""
    counts, totals = _present(axis, members)
    sums = np.bincount(members.owner, counts * axis.places[members.codes], len(totals))
    mean = np.full(len(totals), np.nan)
    np.divide(sums, totals, out=mean, where=totals > 0)
    return mean


def medians(axis: Axis, members: Members) -> NDArray[np.float64]:
    """Median place of the values of every class, halfway between the two middle ones."""
    counts, totals = _present(axis, members)
    reach = np.append(0, np.cumsum(counts))
    base = reach[members.bounds[:-1]]
    some = totals > 0
    # The entry of the row with a given number, counted from 1 in each class.
    lower, upper = (
        np.searchsorted(reach, (base + middle)[some], side="left") - 1
        for middle in ((totals + 1) // 2, totals // 2 + 1)
    )
    median = np.full(len(totals), np.nan)
    places = axis.places[members.codes]
    median[some] = (places[lower] + places[upper]) / 2
    return median


def modes(members: Members, missing: int) -> NDArray[np.int64]:
    """Most frequent code of every class; missing only where there is nothing else."""
    order = np.lexsort((members.codes, -members.counts, members.codes == missing, members.owner))
    return members.codes[order[members.bounds[:-1]]]
