"""A column of several tables in one representation: its distinct cells, and what each one covers.

The original holds single values. A release holds single values, intervals, nodes of a hierarchy,
sets or `*`; a control table holds single values that the original may lack. Whatever compares two
tables must read all of them as statements about the same values, or a generalized cell becomes a
category of its own that agrees with nobody.
"""

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from anonloom.data.axis import Axis, Cover
from anonloom.data.cells import cell_text
from anonloom.data.release import Release
from anonloom.data.schema import Type
from anonloom.data.table import Table

Floats = NDArray[np.float64]
Cells = NDArray[np.int32]


@attrs.frozen(eq=False)
class PairedColumn:
    """The distinct cells of one column, and the cell of every row of every table.

    A leaf is a single value of a category: those of the original in the order of its axis, its
    missing value, then values that only a control table has.

    Attributes
    ----------
    sides
        For every table the cell of every row; the original is the first.
    lo, hi
        Of an ordered column, the places that each cell covers; NaN for missing. Of a category,
        first and last leaf.
    covers
        Of a category, (cells x leaves): 1 where the cell may stand for the leaf.
    open
        Cells that say nothing: `*`, a suppressed blank, or something that cannot be read.
    missing
        Cells that say that there is no value.
    unread
        For every table, rows whose cell is in no form that can be read.
    """

    axis: Axis
    sides: tuple[Cells, ...] = attrs.field(repr=False)
    lo: Floats = attrs.field(repr=False)
    hi: Floats = attrs.field(repr=False)
    covers: Any = attrs.field(repr=False)
    open: NDArray[np.bool_] = attrs.field(repr=False)
    missing: NDArray[np.bool_] = attrs.field(repr=False)
    unread: tuple[int, ...]

    @property
    def name(self) -> str:
        """Name of the column."""
        return self.axis.name

    @property
    def type(self) -> Type:
        """What its values are."""
        return self.axis.type

    @property
    def ordered(self) -> bool:
        """Whether its values have places on a line."""
        return self.axis.type != "category"

    def __len__(self) -> int:
        return len(self.open)

    def counts(self, *sides: int) -> NDArray[np.int64]:
        """Count the rows of these tables that hold each cell."""
        found = np.zeros(len(self), np.int64)
        for side in sides:
            found += np.bincount(self.sides[side], minlength=len(self))
        return found


def pair_columns(
    original: Table, others: Sequence[Release | Table], names: Sequence[str]
) -> tuple[PairedColumn, ...]:
    """Bring columns of the original and of other tables into one representation.

    Parameters
    ----------
    others
        Releases, whose cells may be generalized, or raw tables.
    names
        Columns that all of them have.
    """
    return tuple(_pair(original, others, name) for name in names)


def shared_columns(
    original: Table, others: Sequence[Release | Table], roles: frozenset[str]
) -> tuple[str, ...]:
    """Names of the columns with these roles that every table shows."""
    return tuple(
        column.name
        for column in original.schema
        if column.role in roles and all(column.name in _frame(other) for other in others)
    )


def _frame(table: Release | Table) -> Any:
    return table.frame


def _pair(original: Table, others: Sequence[Release | Table], name: str) -> PairedColumn:
    coded = original.coded(name)
    book = _Book(coded.axis)
    sides = [coded.codes]
    unread = [0]
    for other in others:
        raw = isinstance(other, Table)
        distinct, entries = _distinct(_frame(other)[name])
        cells, strange = book.enter(distinct, raw)
        # The entry of a missing cell, -1, finds the last.
        cells = np.append(cells, book.blank(raw) if (entries < 0).any() else -1)
        sides.append(cells[entries].astype(np.int32))
        unread.append(int(np.append(strange, False)[entries].sum()))
    return book.closed(tuple(sides), tuple(unread))


def _distinct(column: Any) -> tuple[Any, NDArray[np.integer]]:
    """Distinct cells of a column and every row's place among them, -1 for missing."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        entries = column.cat.codes.to_numpy()
        return column.cat.categories.to_numpy(dtype=object), entries
    entries, distinct = pd.factorize(column)
    return np.asarray(distinct), entries


class _Book:
    """Enters the cells of one column; the single values of the original are the first."""

    def __init__(self, axis: Axis) -> None:
        self.axis = axis
        self.first = list(range(axis.size))
        self.last = list(range(axis.size))
        self.ends: dict[int, tuple[float, float]] = {}
        self.members: dict[int, NDArray[np.int64]] = {}
        self.missing = {axis.missing} if axis.missing >= 0 else set()
        self.leaves = axis.size
        self.known: dict[Any, int] = {}
        self.star = -1

    def enter(self, distinct: Any, raw: bool) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return the cell of every distinct value, and which of them could not be read."""
        cells = self._singles(distinct)
        strange = np.zeros(len(distinct), bool)
        for at in np.flatnonzero(cells < 0):
            cell = distinct[at]
            key = cell if isinstance(cell, float) else cell_text(cell)
            if key not in self.known:
                self.known[key] = self._new(cell, raw)
            cells[at] = self.known[key]
            strange[at] = cells[at] < 0
        if strange.any():
            cells[strange] = self.open_cell()
        return cells, strange

    def blank(self, raw: bool) -> int:
        """Cell of a row without a value.

        In a raw table it is missing. In the release of another tool, where the original has every
        value, a blank is a value that was taken away.
        """
        if self.axis.missing >= 0:
            return self.axis.missing
        if not raw:
            return self.open_cell()
        if "missing" not in self.known:
            self.known["missing"] = self._leaf()
            self.missing.add(self.known["missing"])
        return self.known["missing"]

    def open_cell(self) -> int:
        """Cell that says nothing."""
        if self.star < 0:
            self.star = self._add(0, self.axis.size - 1)
        return self.star

    def _singles(self, distinct: Any) -> NDArray[np.int64]:
        """Cells of the single values of the original, all at once; -1 for everything else."""
        axis = self.axis
        if axis.type == "category":
            own = pd.Index([str(value) for value in axis.values], dtype=object)
            texts = [cell_text(cell) for cell in distinct]
            return own.get_indexer(pd.Index(texts, dtype=object)).astype(np.int64)
        places = _places(distinct, axis.type)
        own_places = axis.places[: axis.occurring]
        if not len(own_places):
            return np.full(len(distinct), -1)
        near = np.searchsorted(own_places, places).clip(0, len(own_places) - 1)
        return np.where(own_places[near] == places, near, -1)

    def _new(self, cell: Any, raw: bool) -> int:
        """Enter a cell that is no value of the original; -1 if it cannot be read."""
        place = _places(np.array([cell], object), self.axis.type)[0]
        if self.axis.type != "category" and not np.isnan(place):
            return self._add(0, -1, ends=(float(place), float(place)))
        if raw:
            return self._leaf()
        cover = self.axis.read(cell_text(cell))
        if cover is None:
            return -1
        return self.open_cell() if cover.star else self._cover(cover)

    def _cover(self, cover: Cover) -> int:
        return self._add(cover.first, cover.last, cover.ends, cover.members)

    def _leaf(self) -> int:
        leaf = self.leaves
        self.leaves += 1
        return self._add(leaf, leaf)

    def _add(
        self,
        first: int,
        last: int,
        ends: tuple[float, float] | None = None,
        members: NDArray[np.int64] | None = None,
    ) -> int:
        cell = len(self.first)
        self.first.append(first)
        self.last.append(last)
        if ends is not None:
            self.ends[cell] = ends
        if members is not None:
            self.members[cell] = members
        return cell

    def closed(self, sides: tuple[Cells, ...], unread: tuple[int, ...]) -> PairedColumn:
        """Return the column, all cells entered."""
        first, last = np.array(self.first, np.int64), np.array(self.last, np.int64)
        open_ = np.zeros(len(first), bool)
        if self.star >= 0:
            open_[self.star] = True
        missing = np.zeros(len(first), bool)
        missing[list(self.missing)] = True
        if self.axis.type == "category":
            lo, hi, covers = first.astype(float), last.astype(float), self._covers(first, last)
        else:
            lo, hi = self._ends(first, last)
            covers = None
            lo[missing] = hi[missing] = np.nan
        return PairedColumn(
            axis=self.axis,
            sides=sides,
            lo=lo,
            hi=hi,
            covers=covers,
            open=open_,
            missing=missing,
            unread=unread,
        )

    def _ends(self, first: NDArray[np.int64], last: NDArray[np.int64]) -> tuple[Floats, Floats]:
        own = self.axis.places[: self.axis.occurring]
        if not len(own):
            own = np.zeros(1)
        inside = np.minimum(last, len(own) - 1)
        lo, hi = own[np.minimum(first, inside).clip(0)], own[inside.clip(0)]
        for cell, ends in self.ends.items():
            lo[cell], hi[cell] = ends
        return lo, hi

    def _covers(self, first: NDArray[np.int64], last: NDArray[np.int64]) -> Any:
        sizes = np.maximum(last - first + 1, 0)
        for cell, members in self.members.items():
            sizes[cell] = len(members)
        starts = np.r_[0, np.cumsum(sizes)]
        leaves = np.arange(starts[-1]) - np.repeat(starts[:-1] - first, sizes)
        for cell, members in self.members.items():
            leaves[starts[cell] : starts[cell + 1]] = members
        ones = np.ones(len(leaves))
        return sparse.csr_array((ones, leaves, starts), shape=(len(first), self.leaves))


def _places(distinct: Any, type_: Type) -> Floats:
    """Places of cells that are single values of an ordered column; NaN for everything else."""
    if type_ == "category":
        return np.full(len(distinct), np.nan)
    values = pd.Series(distinct)
    if type_ == "number":
        return pd.to_numeric(values, errors="coerce").to_numpy(dtype=float, na_value=np.nan)
    unit = "D" if type_ == "date" else "s"
    if not pd.api.types.is_datetime64_any_dtype(values.dtype):
        values = pd.to_datetime(values, format="ISO8601", errors="coerce")
    moments = values.to_numpy().astype(f"datetime64[{unit}]")
    return np.where(np.isnat(moments), np.nan, moments.astype(np.int64).astype(float))
