"""What a release shows of a column: the only words in which a public report may name its groups.

Quantiles of the original are cells of it, each perhaps a single person's; so are the values of a
category. A group is named by what stands in the release, or it is numbered.
"""

import re
from collections.abc import Iterator
from typing import Any

import attrs
import numpy as np
import pandas as pd

from anonloom.data.axis import Axis
from anonloom.data.cells import MOMENTS, read_interval, read_range
from anonloom_linkage.paired import Floats, PairedColumn

# A decade, year, quarter, month, day, hour or some of them, as calendar hierarchies write it.
_UNIT = re.compile(
    r"(?P<year>\d{4,})(?:(?P<decade>s)|-Q(?P<quarter>[1-4])"
    r"|-(?P<month>\d\d)(?:-(?P<day>\d\d)(?: (?P<hour>\d\d)(?:-(?P<until>\d\d))?h)?)?)?"
)
# Of bins without an end on one side.
_ONE_SIDED = re.compile(r"(?:<|>=) (?P<end>-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)")


@attrs.frozen(eq=False)
class Shown:
    """What can be read of one column in the release.

    Attributes
    ----------
    values
        Codes of the values that stand there, alone or in a set.
    bounds
        Of an ordered column, ascending: the values, and where intervals and groups begin and end.
    groups
        Of a category: name, first and last code of every group, the smallest first.
    """

    values: frozenset[int] = attrs.field(repr=False)
    bounds: Floats = attrs.field(repr=False)
    groups: tuple[tuple[str, int, int], ...] = attrs.field(repr=False)

    @classmethod
    def of(cls, column: PairedColumn, side: int, cells: Any) -> "Shown":
        """Read the cells of a release.

        Parameters
        ----------
        side
            Which table of the column the release is.
        cells
            Its column, as it is published.
        """
        axis = column.axis
        single = np.unique(column.sides[side])
        values = {int(code) for code in single[single < axis.occurring]}
        bounds: list[float] = []
        groups: list[tuple[str, int, int]] = []
        for text in _texts(cells):
            cover = axis.read(text)
            if cover is None or cover.star:
                continue
            if cover.form == "set":
                values |= {int(code) for code in cover.codes if code < axis.occurring}
            elif column.ordered:
                bounds += _ends(axis, text)
            elif cover.form == "nodes":
                groups.append((text, cover.first, cover.last))
        if column.ordered:
            bounds += axis.places[sorted(values)].tolist()
        groups.sort(key=lambda group: group[2] - group[1])
        return cls(frozenset(values), np.unique(np.array(bounds, float)), tuple(groups))

    def nearest(self, edges: Floats) -> Floats:
        """Return the bound next to every edge; nothing where the release shows none."""
        if not len(self.bounds) or not len(edges):
            return np.empty(0)
        right = np.minimum(np.searchsorted(self.bounds, edges), len(self.bounds) - 1)
        left = np.maximum(right - 1, 0)
        nearer = edges - self.bounds[left] <= self.bounds[right] - edges
        found: Floats = np.where(nearer, self.bounds[left], self.bounds[right])
        return found

    def names(self, axis: Axis, codes: Any) -> list[str]:
        """Name values of a category: as they are where they stand, else by their group."""
        known = {
            int(code): str(text)
            for code, text in zip(codes, axis.texts(np.asarray(codes)), strict=True)
            if int(code) in self.values
        }
        named: dict[str, int] = {}
        labels = []
        for code in codes:
            label = known.get(int(code))
            if label is None:
                inside = self._smallest(int(code))
                named[inside] = named.get(inside, 0) + 1
                label = f"{inside} {named[inside]}"
            labels.append(label)
        return labels

    def _smallest(self, code: int) -> str:
        around = (name for name, first, last in self.groups if first <= code <= last)
        group = next(around, None)
        return "withheld value" if group is None else f"{group}, withheld value"


def _texts(cells: Any) -> Iterator[str]:
    """Yield the distinct cells of a column that are written as texts; others are single values."""
    if pd.api.types.is_numeric_dtype(cells.dtype) or pd.api.types.is_datetime64_any_dtype(cells):
        return
    for cell in cells.dropna().unique():
        if isinstance(cell, str):
            yield cell


def _ends(axis: Axis, text: str) -> list[float]:
    """Where something begins and ends that a cell of an ordered column says."""
    if axis.type in MOMENTS:
        return _of_calendar(axis, text)
    one_sided = _ONE_SIDED.fullmatch(text)
    if one_sided:
        return [float(one_sided["end"])]
    ends = read_interval(text) or read_range(text)
    written = [text] if ends is None else [ends.lo, ends.hi]
    try:
        return [float(end) for end in written]
    except ValueError:
        return []  # a name that somebody gave to a group


def _of_calendar(axis: Axis, text: str) -> list[float]:
    ends = read_interval(text)
    if ends is not None:
        return [*_of_calendar(axis, ends.lo)[:1], *_of_calendar(axis, ends.hi)[:1]]
    unit = MOMENTS[axis.type]
    found = _UNIT.fullmatch(text)
    try:
        if found is None:
            return [_counted(np.datetime64(text.replace(" ", "T"), unit))]
        first, length = _first_and_length(found)
        return [_counted(end.astype(f"M8[{unit}]")) for end in (first, first + length)]
    except ValueError:
        return []


def _first_and_length(unit: re.Match[str]) -> tuple[np.datetime64, np.timedelta64]:
    year = unit["year"]
    if unit["hour"]:
        first = np.datetime64(f"{year}-{unit['month']}-{unit['day']}T{unit['hour']}", "h")
        hours = int(unit["until"]) - int(unit["hour"]) if unit["until"] else 1
        return first, np.timedelta64(hours, "h")
    if unit["day"]:
        return np.datetime64(f"{year}-{unit['month']}-{unit['day']}", "D"), np.timedelta64(1, "D")
    if unit["month"]:
        return np.datetime64(f"{year}-{unit['month']}", "M"), np.timedelta64(1, "M")
    if unit["quarter"]:
        month = 3 * int(unit["quarter"]) - 2
        return np.datetime64(f"{year}-{month:02}", "M"), np.timedelta64(3, "M")
    return np.datetime64(year, "Y"), np.timedelta64(10 if unit["decade"] else 1, "Y")


def _counted(moment: Any) -> float:
    return float(moment.astype(np.int64))
