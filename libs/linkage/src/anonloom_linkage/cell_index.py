"""The index of a column's distinct cells: read table by table, each with what it covers."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anonloom import Column
from anonloom.cells import MOMENTS, cell_text, read_set
from anonloom.data import ISO, Axis, Cover, EncodedColumn, Type, encode
from anonloom.lazy import lazy_module, pd
from anonloom.typing import BoolArray, FloatArray, IntArray

sparse = lazy_module("scipy.sparse")

Cells = NDArray[np.int32]

# A month or a year is a group of days, and a day a group of times, though pandas would read the
# first moment of each.
_CLOCK = r"[ T]\d\d:\d\d(?::\d\d(?:\.\d+)?)?"
_SINGLE = {"date": rf"\d{{4}}-\d\d-\d\d(?:{_CLOCK})?", "time": rf"\d{{4}}-\d\d-\d\d{_CLOCK}"}
_OFFSET = r"(:\d\d(?:\.\d+)?) ?(?:[Zz]|[+-]\d\d(?::?\d\d)?)$"

#: In place of a cell's number while it is looked for: not found yet, and nothing there.
_UNKNOWN, _BLANK = -1, -2


def _distinct(column: Any) -> tuple[Any, NDArray[np.integer]]:
    """Distinct cells of a column and every row's place among them, -1 for missing."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        distinct = column.cat.categories.to_numpy(dtype=object)
        return _drop_unused(distinct, column.cat.codes.to_numpy())
    if isinstance(column.dtype, pd.DatetimeTZDtype):
        # The hour is that of the place where the event was, as in the original.
        column = column.dt.tz_localize(None)
    entries, result = pd.factorize(column)
    return np.asarray(result), entries


def _drop_unused(distinct: Any, entries: NDArray[np.integer]) -> tuple[Any, NDArray[np.integer]]:
    """Leave out values that no row has."""
    number = np.full(len(distinct) + 1, -1, np.int64)
    number[entries] = 0
    number[-1] = -1
    kept = np.flatnonzero(number == 0)
    if len(kept) == len(distinct):
        return distinct, entries
    number[kept] = np.arange(len(kept))
    return distinct[kept], number[entries]


class CellIndex(ABC):
    """Numbers the distinct cells of one column; the single values of the original come first."""

    def __init__(self, axis: Axis, column: Column) -> None:
        self.axis, self.column = axis, column
        self.missing = axis.missing
        self.star = -1
        self.known: dict[str, int] = {}

    def raw_cells(self, coded: EncodedColumn) -> Cells:
        """Return the cell of every row of a raw table; values that the original lacks are new."""
        if coded.axis is self.axis:
            return coded.codes
        present = np.zeros(coded.axis.size, bool)
        present[coded.codes] = True
        cells = np.full(coded.axis.size, -1, np.int64)
        kept = np.flatnonzero(present[: coded.axis.value_count])
        cells[kept] = self._values(coded.axis, kept)
        if coded.axis.missing >= 0 and present[coded.axis.missing]:
            if self.missing < 0:
                self.missing = self._no_value()
            cells[coded.axis.missing] = self.missing
        return cells[coded.codes].astype(np.int32)

    def release_cells(self, column: Any, lost: BoolArray | None = None) -> tuple[Cells, int]:
        """Return the cell of every row of a release, and how many of them cannot be read.

        Parameters
        ----------
        lost
            Rows whose values were taken away: nothing there says nothing, whatever else a missing
            value means in this column.
        """
        distinct, entries = _distinct(column)
        cells, texts = self._singles(distinct)
        for index in np.flatnonzero(cells == _UNKNOWN).tolist():
            text = cell_text(texts[index])
            if text not in self.known:
                self.known[text] = self._read(text)
            cells[index] = self.known[text]
        # The entry of a missing cell, -1, finds the last.
        cells = np.append(cells, _BLANK)
        strange = cells == _UNKNOWN
        if strange.any():
            cells[strange] = self._says_nothing()
        of_rows = cells[entries]
        taken = (of_rows == _BLANK) & (False if lost is None else lost)
        if taken.any():
            of_rows[taken] = self._says_nothing()
        if (of_rows == _BLANK).any():
            # Where the original has every value, a blank is a value that was taken away.
            missing = self.axis.missing
            of_rows[of_rows == _BLANK] = missing if missing >= 0 else self._says_nothing()
        return of_rows.astype(np.int32), int(strange[entries].sum())

    def _read(self, text: str) -> int:
        """Enter a cell that is no single value; `_UNKNOWN` if it cannot be read."""
        cover = self.axis.read(text)
        if cover is None:
            return _UNKNOWN
        if cover.star:
            return self._says_nothing()
        # Another tool's word for a missing value.
        blank = 0 <= self.axis.missing == cover.first == cover.last
        return _BLANK if blank else self._add_cover(text, cover)

    def _says_nothing(self) -> int:
        if self.star < 0:
            self.star = self._everything()
        return self.star

    @abstractmethod
    def _values(self, axis: Axis, codes: IntArray) -> IntArray:
        """Cells of these values of another axis."""

    @abstractmethod
    def _singles(self, distinct: Any) -> tuple[IntArray, Sequence[Any]]:
        """Cells of published single values, `_UNKNOWN` for everything else; and what to read."""

    @abstractmethod
    def _add_cover(self, text: str, cover: Cover) -> int:
        """Enter what a generalized cell covers; `_UNKNOWN` if that is nothing."""

    @abstractmethod
    def _everything(self) -> int:
        """Enter a cell that covers all."""

    @abstractmethod
    def _no_value(self) -> int:
        """Enter a missing value that the original does not have."""

    @abstractmethod
    def extents(self) -> tuple[FloatArray, FloatArray, Any]:
        """`lo`, `hi` and `covers` of all cells."""


class CategoryIndex(CellIndex):
    """Cells that cover leaves."""

    def __init__(self, axis: Axis, column: Column) -> None:
        super().__init__(axis, column)
        self.own = pd.Index([str(value) for value in axis.values], dtype=object)
        self.first = list(range(axis.size))
        self.last = list(range(axis.size))
        self.members: dict[int, IntArray] = {}
        self.leaves = axis.size
        self.leaf_of: dict[str, int] = {}

    def _values(self, axis: Axis, codes: IntArray) -> IntArray:
        texts = [str(value) for value in axis.values[codes]]
        cells = self._own(texts)
        for index in np.flatnonzero(cells == _UNKNOWN).tolist():
            cells[index] = self.leaf_of[texts[index]] = self._no_value()
        return cells

    def _singles(self, distinct: Any) -> tuple[IntArray, Sequence[Any]]:
        if self.column.role == "quasi" or self.column.generalization is not None:
            texts = [cell_text(cell) for cell in distinct]
            return self._own(texts), texts
        # Whatever made one value of several spellings in the original does so here.
        coded = encode(pd.Series(distinct, dtype=object), self.column)
        labels = [*(str(value) for value in coded.axis.values), ""]
        texts = [labels[index] for index in coded.codes]
        return np.where(coded.codes == coded.axis.missing, _BLANK, self._own(texts)), texts

    def _own(self, texts: Sequence[str]) -> IntArray:
        result = self.own.get_indexer(pd.Index(texts, dtype=object))
        cells = np.where(result < 0, _UNKNOWN, result).astype(np.int64)
        for index in np.flatnonzero(cells == _UNKNOWN).tolist() if self.leaf_of else ():
            cells[index] = self.leaf_of.get(texts[index], _UNKNOWN)
        return cells

    def _add_cover(self, text: str, cover: Cover) -> int:
        if not len(cover):
            return _UNKNOWN
        if cover.members is not None:
            self.members[len(self.first)] = cover.members
        return self._add(cover.first, cover.last)

    def _everything(self) -> int:
        return self._add(0, self.axis.size - 1)

    def _no_value(self) -> int:
        self.leaves += 1
        return self._add(self.leaves - 1, self.leaves - 1)

    def _add(self, first: int, last: int) -> int:
        self.first.append(first)
        self.last.append(last)
        return len(self.first) - 1

    def extents(self) -> tuple[FloatArray, FloatArray, Any]:
        """First and last leaf of all cells, and which leaves each covers."""
        first, last = np.array(self.first, np.int64), np.array(self.last, np.int64)
        sizes = last - first + 1
        for cell, members in self.members.items():
            sizes[cell] = len(members)
        starts = np.r_[0, np.cumsum(sizes)]
        leaves = np.arange(starts[-1]) - np.repeat(starts[:-1] - first, sizes)
        for cell, members in self.members.items():
            leaves[starts[cell] : starts[cell + 1]] = members
        shape = (len(first), self.leaves)
        covers = sparse.csr_array((np.ones(len(leaves)), leaves, starts), shape=shape)
        return first.astype(float), last.astype(float), covers


class PlaceIndex(CellIndex):
    """Cells that cover a stretch of a line."""

    def __init__(self, axis: Axis, column: Column) -> None:
        super().__init__(axis, column)
        own = axis.places[: axis.value_count]
        # Single values in ascending order, and the cell of each.
        self.singles, self.cells = own, np.arange(len(own))
        self.size = 0
        self.lo: list[FloatArray] = []
        self.hi: list[FloatArray] = []
        self._add(own, own)
        if axis.missing >= 0:
            self._no_value()

    def _values(self, axis: Axis, codes: IntArray) -> IntArray:
        return self._cells_of_places(axis.places[codes])

    def _singles(self, distinct: Any) -> tuple[IntArray, Sequence[Any]]:
        places, texts = _places(distinct, self.axis.type)
        cells = np.full(len(distinct), _UNKNOWN, np.int64)
        known = ~np.isnan(places)
        cells[known] = self._cells_of_places(places[known])
        return cells, texts

    def _cells_of_places(self, places: FloatArray) -> IntArray:
        """Cells of single values; new ones are entered."""
        # In ascending order, so that neighbours are looked for near each other.
        distinct, entries = np.unique(places, return_inverse=True)
        index = np.searchsorted(self.singles, distinct)
        known = np.append(self.singles, np.nan)[index] == distinct
        cells = np.append(self.cells, -1)[index]
        new = distinct[~known]
        cells[~known] = self._add(new, new)
        self.singles = np.insert(self.singles, index[~known], new)
        self.cells = np.insert(self.cells, index[~known], cells[~known])
        return cells[entries]

    def _read(self, text: str) -> int:
        hierarchy = self.axis.hierarchy
        if hierarchy is None or hierarchy.find(text) is None:
            single = self._read_as_original(text)
            if single is not None:
                return single
        return super()._read(text)

    def _read_as_original(self, text: str) -> int | None:
        """Read a moment as the original was written, before anything else that it could be."""
        layout = self.column.layout
        if self.axis.type == "number" or "%" not in layout:
            return None
        moment = pd.to_datetime(text, format=layout, errors="coerce")
        if moment is pd.NaT:
            return None
        place = _since_epoch(np.array([moment.tz_localize(None)], "datetime64[s]"), self.axis.type)
        return int(self._cells_of_places(place)[0])

    def _add_cover(self, text: str, cover: Cover) -> int:
        ends = cover.ends
        members = read_set(text) if cover.form == "set" else None
        if members is not None and len(members) > len(cover):
            ends = self._hull(members)
            if ends is None:
                return _UNKNOWN
        if ends is None:
            own = self.axis.places
            ends = float(own[cover.first]), float(own[cover.last])
        return int(self._add(np.array([ends[0]]), np.array([ends[1]]))[0])

    def _hull(self, members: Sequence[str]) -> tuple[float, float] | None:
        """Ends of a set of which the original lacks some members, or spells them otherwise."""
        results = [self.axis.read(member) for member in members]
        places = [
            end
            for cover in results
            if cover is not None and not cover.star
            for end in cover.ends or self.axis.places[[cover.first, cover.last]]
        ]
        return (float(min(places)), float(max(places))) if places else None

    def _everything(self) -> int:
        own = self.axis.places[: self.axis.value_count]
        ends = own[[0, -1]] if len(own) else np.zeros(2)
        return int(self._add(ends[:1], ends[1:])[0])

    def _no_value(self) -> int:
        return int(self._add(np.array([np.nan]), np.array([np.nan]))[0])

    def _add(self, lo: FloatArray, hi: FloatArray) -> IntArray:
        self.lo.append(lo)
        self.hi.append(hi)
        self.size += len(lo)
        return np.arange(self.size - len(lo), self.size)

    def extents(self) -> tuple[FloatArray, FloatArray, Any]:
        """Ends of all cells."""
        return np.concatenate(self.lo), np.concatenate(self.hi), None


def _places(distinct: Any, type_: Type) -> tuple[FloatArray, Sequence[Any]]:
    """Places of cells that are single values, NaN for everything else; and the cells, to read."""
    if distinct.dtype.kind in "iuf":
        places = distinct.astype(float)
        return np.where(np.isfinite(places), places, np.nan), distinct
    if distinct.dtype.kind == "M":
        return _since_epoch(distinct.astype("datetime64[s]"), type_), distinct
    texts = [cell_text(cell) for cell in distinct]
    if type_ == "number":
        numbers = pd.to_numeric(pd.Series(texts, dtype=object), errors="coerce")
        places = numbers.to_numpy(dtype=float)
        return np.where(np.isfinite(places), places, np.nan), texts
    written = pd.Series(texts, dtype="str")
    written = written.str.replace(_OFFSET, r"\1", regex=True)
    written = written.where(written.str.fullmatch(_SINGLE[type_]))
    moments = pd.to_datetime(written, format=ISO, errors="coerce")
    return _since_epoch(moments.to_numpy().astype("datetime64[s]"), type_), texts


def _since_epoch(moments: NDArray[np.datetime64], type_: Type) -> FloatArray:
    """Moments as days or seconds since the beginning of 1970; NaN for none."""
    units = moments.astype(f"datetime64[{MOMENTS[type_]}]").astype(np.int64).astype(float)
    return np.where(np.isnat(moments), np.nan, units)


def make_cell_index(axis: Axis, column: Column) -> CellIndex:
    """Return an index that holds the single values of the original."""
    return (CategoryIndex if axis.type == "category" else PlaceIndex)(axis, column)
