"""The classes of a release told by its published cells alone, for a file that anybody may see.

Extents of classes and ends of regions are values of persons, also where the cells are coarser. Here
an interval is told by the ends that it shows, a set by its members, and a group of a hierarchy by
its label and by a value that stands for it because the label tells it.
"""

from typing import Any

import attrs
import numpy as np
import pandas as pd

from anonloom import Column, Release, Table, cells
from anonloom.cells import STAR
from anonloom.data import Axis, Cover
from anonloom.hierarchies import Breaks, Quantiles

__all__ = [
    "describe_cells",
]

Place = int | None


def describe_cells(table: Table, release: Release) -> dict[str, dict[str, Any]] | None:
    """Return what every published class shows of every axis; None where cells cannot tell.

    Parameters
    ----------
    table
        The table that was partitioned; only what its axes say of published cells is used.
    """
    if release.classes is None or not release.truthful:
        return None
    kept = np.flatnonzero((release.classes >= 0) & ~release.suppressed_rows)
    if not len(kept):
        return None
    # Whichever row of a class is first, all of them show the same cells.
    _, first = np.unique(release.groups()[kept], return_index=True)
    described = {}
    for axis in table.axes:
        shown = _PublishedAxis(axis, table)
        for cell in release.frame[axis.name].iloc[kept[first]]:
            if not shown.add(None if pd.isna(cell) else str(cell)):
                return None
        described[axis.name] = shown.data()
    return described


def published_breaks(source: Quantiles, column: Column, table: Table, release: Release) -> Breaks:
    """Return bins at quantiles by breaks that a release shows.

    Of a quasi-identifier these are the ends of the bins that are published; a column that is
    published as it is has its quantiles anew from there.
    """
    shown = release.frame.loc[~release.suppressed_rows, column.name].dropna().unique()
    if column.role != "quasi":
        return source.breaks_over(np.sort(np.asarray(shown, float)))
    results: set[float] = set()
    for text in map(str, shown):
        ends = cells.read_interval(text)
        for number in (ends.lo, ends.hi) if ends else (text.lstrip("<>= "),):
            try:
                results.add(float(number))
            except ValueError:
                continue
    return source.breaks_over(table.encode_column(column.name).axis.values).only(results)


@attrs.define(eq=False)
class _PublishedAxis:
    """What the classes show of one axis, as places in a list of values."""

    axis: Axis
    table: Table
    values: dict[Any, int] = attrs.field(factory=dict)
    least: list[Place] = attrs.field(factory=list)
    most: list[Place] = attrs.field(factory=list)
    node: list[str | None] = attrs.field(factory=list)
    members: list[list[int]] = attrs.field(factory=list)

    def add(self, cell: str | None) -> bool:
        """Enter the cell of the next class; False if it cannot be told."""
        cover = self.axis.read(cell)
        if cover is None:
            return False
        label: str | None = None
        values: list[Any] | None
        if cover.star:
            label, values = STAR, []
        elif cover.form == "nodes":
            label, values = cell, self._stand_in(str(cell))
        else:
            values = self._values_in_cell(cell, cover)
        if values is None:
            return False
        places = [self.values.setdefault(value, len(self.values)) for value in values]
        self.least.append(places[0] if places else None)
        self.most.append(places[-1] if places else None)
        self.node.append(label)
        self.members.append(places)
        return True

    def data(self) -> dict[str, Any]:
        """Return everything as plain data."""
        data: dict[str, Any] = {"values": list(self.values), "least": self.least, "most": self.most}
        if any(label is not None for label in self.node):
            data["node"] = self.node
        if self.axis.form == "set":
            data["members"] = self.members
        return data

    def _values_in_cell(self, cell: str | None, cover: Cover) -> list[Any] | None:
        """Values that a cell tells: the missing one, members, ends, or itself."""
        if cell is None:
            return [None]
        members = cells.read_set(cell) if cover.form == "set" else None
        if members is not None:
            values = [self._value(member) for member in members]
            return None if None in values else values
        ends = cells.read_interval(cell) if cover.form == "interval" else None
        values = [self._value(text) for text in ((ends.lo, ends.hi) if ends else (cell,))]
        return None if None in values else values

    def _stand_in(self, label: str) -> list[Any] | None:
        source = self.table.schema[self.axis.name].generalization
        if isinstance(source, Quantiles):
            source = source.breaks_over(self.axis.values)
        if source is None:
            return None
        result = source.stand_in(label)
        value = None if result is None else self._value(str(result))
        return None if value is None else [value]

    def _value(self, text: str) -> Any:
        """Return a value as the file writes it; None if it cannot be read."""
        try:
            if self.axis.type == "number":
                return float(text)
            if self.axis.type in cells.MOMENTS:
                unit = cells.MOMENTS[self.axis.type]
                moment = np.datetime64(text.replace(" ", "T"), unit)
                return cells.moment_texts(np.array([moment]), unit)[0]
        except ValueError:
            return None
        return text
