"""What a release shows of a column: the only words in which a public report may name its values.

A quantile of the original, the threshold of a split, the value that makes a group: each is a cell
of the table, perhaps of a single person. Whoever names one publicly names what the release shows.
"""

from collections.abc import Iterator
from typing import Any

import attrs
import numpy as np

from anonloom import short_repr
from anonloom.cells import MOMENTS, cell_text, moment_texts, place, read_interval
from anonloom.data import Axis
from anonloom.lazy import pd
from anonloom.typing import FloatArray
from anonloom_columns._notations.spans import period
from anonloom_columns._notations.table import read_span


@short_repr
@attrs.frozen(eq=False)
class Visible:
    """What can be read of one column in a release.

    Attributes
    ----------
    values
        Of a category, codes of the values that stand there, alone or in a set.
    groups
        Of a category, every group that stands there: its name, its first and its last code, the
        smallest first.
    bounds
        Of an ordered column, ascending: single values, and where intervals and groups begin and
        end.
    """

    values: frozenset[int]
    groups: tuple[tuple[str, int, int], ...]
    bounds: FloatArray

    @classmethod
    def of(cls, axis: Axis, cells: Any) -> "Visible":
        """Read the cells of a release.

        Parameters
        ----------
        axis
            The column in the original.
        cells
            The column of the release's frame.
        """
        values: set[int] = set()
        groups: list[tuple[str, int, int]] = []
        bounds = _single_moments_and_numbers(axis, cells)
        for text in _texts(cells):
            cover = axis.read(text)
            if cover is None or cover.star:
                continue
            if axis.type == "category":
                if cover.form == "nodes":
                    # What looks like a mask need not lie side by side.
                    if cover.members is None:
                        groups.append((text, cover.first, cover.last))
                else:
                    values |= {int(code) for code in cover.codes if code < axis.value_count}
            elif cover.form == "set":
                bounds += axis.places[cover.codes].tolist()
            else:
                bounds += _ends(axis, text)
        groups.sort(key=lambda group: group[2] - group[1])
        return cls(frozenset(values), tuple(groups), np.unique(np.array(bounds, float)))

    def nearest(self, places: FloatArray) -> FloatArray:
        """Return the bound next to every place; nothing where the release shows none."""
        if not len(self.bounds) or not len(places):
            return np.empty(0)
        right = np.minimum(np.searchsorted(self.bounds, places), len(self.bounds) - 1)
        left = np.maximum(right - 1, 0)
        nearer = places - self.bounds[left] <= self.bounds[right] - places
        result: FloatArray = np.where(nearer, self.bounds[left], self.bounds[right])
        return result

    def between(self, below: float, up_to: float) -> float | None:
        """Return the first bound above a place, up to another one; None where there is none."""
        index = int(np.searchsorted(self.bounds, below, side="right"))
        inside = index < len(self.bounds) and self.bounds[index] <= up_to
        return float(self.bounds[index]) if inside else None

    def group_of(self, code: int) -> str | None:
        """Return the smallest group that holds a value."""
        around = (name for name, first, last in self.groups if first <= code <= last)
        return next(around, None)

    def label_of(self, axis: Axis, first: int, last: int) -> str | None:
        """Return what the release calls exactly these values of a category, if it does."""
        if first == last and first in self.values:
            return str(axis.texts(np.array([first]))[0])
        exact = (name for name, begin, end in self.groups if (begin, end) == (first, last))
        return next(exact, None)


def place_texts(axis: Axis, places: FloatArray) -> list[str]:
    """Write places of an ordered column that were declared or published, as they were."""
    unit = MOMENTS.get(axis.type)
    if unit is None:
        return [cell_text(float(place)) for place in places]
    return moment_texts(places.astype(np.int64).astype(f"datetime64[{unit}]"), unit)


def _single_moments_and_numbers(axis: Axis, cells: Any) -> list[float]:
    """Places of cells that are no texts."""
    if pd.api.types.is_datetime64_any_dtype(cells.dtype) and axis.type in MOMENTS:
        moments = cells.dropna().unique().astype(f"datetime64[{MOMENTS[axis.type]}]")
        return [float(moment) for moment in np.asarray(moments).astype(np.int64)]
    if pd.api.types.is_numeric_dtype(cells.dtype) and axis.type == "number":
        return [float(number) for number in cells.dropna().unique()]
    return []


def _texts(cells: Any) -> Iterator[str]:
    """Yield the distinct cells of a column that are written as texts."""
    if pd.api.types.is_numeric_dtype(cells.dtype) or pd.api.types.is_datetime64_any_dtype(cells):
        return
    for cell in cells.dropna().unique():
        if isinstance(cell, str):
            yield cell


def _ends(axis: Axis, text: str) -> list[float]:
    """Where something begins and ends that a cell of an ordered column says."""
    interval = read_interval(text)
    if interval is not None:
        return [*_single(interval.lo, axis)[:1], *_single(interval.hi, axis)[:1]]
    return _single(text, axis) or _of_notation(axis, text)


def _single(text: str, axis: Axis) -> list[float]:
    """Where a single value stands, or a period of a calendar begins and ends."""
    value = place(text, axis.type)
    if value is not None:
        return [value]
    span = None if axis.type == "number" else period(text, axis.type)
    return [span.lo, span.hi] if span else []


def _of_notation(axis: Axis, text: str) -> list[float]:
    span = read_span(text, axis.type)
    return [end for end in (span.lo, span.hi) if np.isfinite(end)] if span else []
