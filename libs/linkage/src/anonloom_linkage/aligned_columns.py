"""A column of several tables in one representation: its distinct cells, and what each one covers.

The original holds single values. A release holds single values, intervals, nodes of a hierarchy,
sets or `*`; a control table holds single values that the original may lack. Whatever compares two
tables must read all of them as statements about the same values, or a generalized cell becomes a
category of its own that agrees with nobody.
"""

from collections.abc import Callable, Sequence
from typing import Any

import attrs
import numpy as np

from anonloom import Column, Release, Table
from anonloom.cells import MOMENTS
from anonloom.data import Axis, EncodedColumn, Type, encode
from anonloom.lazy import pd
from anonloom.typing import BoolArray, FloatArray, IntArray
from anonloom_linkage.cell_index import Cells, make_cell_index

__all__ = ["AlignedColumn", "Cells", "align_columns", "shared_columns"]


@attrs.frozen(eq=False)
class AlignedColumn:
    """The distinct cells of one column, and the cell of every row of every table.

    A leaf is a single value of a category: those of the original in the order of its axis, its
    missing value, then values that only a control table has. The first cells are the single values
    of the original: the code of a value is the number of its cell.

    Attributes
    ----------
    sides
        For every table the cell of every row; the original is the first.
    lo, hi
        Of an ordered column, the places that each cell covers; NaN for missing. A set covers what
        lies between its ends. Of a category, first and last leaf.
    covers
        Of a category, (cells x leaves): 1 where the cell may stand for the leaf; else None.
    open
        Cells that say nothing: `*`, a suppressed blank, or something that cannot be read.
    missing
        Cells that say that there is no value.
    unread
        For every table, rows whose cell is in no form that can be read.
    """

    axis: Axis
    sides: tuple[Cells, ...] = attrs.field(repr=False)
    lo: FloatArray = attrs.field(repr=False)
    hi: FloatArray = attrs.field(repr=False)
    covers: Any = attrs.field(repr=False)
    open: BoolArray = attrs.field(repr=False)
    missing: BoolArray = attrs.field(repr=False)
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
    def is_ordered(self) -> bool:
        """Whether its values have places on a line."""
        return self.axis.type != "category"

    def __len__(self) -> int:
        return len(self.open)

    def counts(self, *sides: int) -> IntArray:
        """Count the rows of these tables that hold each cell."""
        result = np.zeros(len(self), np.int64)
        for side in sides:
            result += np.bincount(self.sides[side], minlength=len(self))
        return result


def align_columns(
    original: Table, others: Sequence[Release | Table], names: Sequence[str]
) -> tuple[AlignedColumn, ...]:
    """Bring columns of the original and of other tables into one representation.

    Parameters
    ----------
    others
        Releases, whose cells may be generalized, or raw tables.
    names
        Columns that all of them have.
    """
    return tuple(_align_column(original, others, name) for name in names)


def shared_columns(
    original: Table, others: Sequence[Release | Table], roles: frozenset[str]
) -> tuple[str, ...]:
    """Names of the columns with these roles that every table shows."""
    return tuple(
        column.name
        for column in original.schema
        if column.role in roles and all(_shows(other, column.name) for other in others)
    )


def _shows(table: Release | Table, name: str) -> bool:
    if isinstance(table, Release):
        return name in table.frame
    try:
        table.column(name)
    except KeyError:
        return False
    return True


def _align_column(original: Table, others: Sequence[Release | Table], name: str) -> AlignedColumn:
    column = original.schema[name]
    if column.role != "quasi" and column.type in MOMENTS and column.hierarchy is None:
        # Its single values are published. The calendar above a million moments is much work, and
        # is wanted only where another tool generalized them.
        aligned = _align_by(column, others, _without_calendar, original)
        if not any(aligned.unread):
            return aligned
    return _align_by(column, others, Table.encode_column, original)


def _align_by(
    column: Column,
    others: Sequence[Release | Table],
    coded: Callable[[Table, str], EncodedColumn],
    original: Table,
) -> AlignedColumn:
    own = coded(original, column.name)
    index = make_cell_index(own.axis, column)
    sides, unread = [own.codes] * (1 + len(others)), [0] * (1 + len(others))
    # Raw tables first: a value that the original lacks is one that a release may show, too.
    for side, other in sorted(enumerate(others, start=1), key=_is_release):
        if isinstance(other, Table):
            sides[side] = index.raw_cells(coded(other, column.name))
        else:
            lost = other.suppressed_rows if column.name not in other.schema.quasi else None
            cells, strange = index.release_cells(other.frame[column.name], lost)
            sides[side], unread[side] = cells, strange
    lo, hi, covers = index.extents()
    numbers = np.arange(len(lo))
    return AlignedColumn(
        axis=own.axis,
        sides=tuple(sides),
        lo=lo,
        hi=hi,
        covers=covers,
        open=(numbers == index.star) & (index.star >= 0),
        missing=(numbers == index.missing) & (index.missing >= 0),
        unread=tuple(unread),
    )


def _is_release(numbered: tuple[int, Release | Table]) -> bool:
    return isinstance(numbered[1], Release)


def _without_calendar(table: Table, name: str) -> EncodedColumn:
    """Code moments by their order alone."""
    column = table.schema[name]
    moments = table.column(name).to_numpy().astype(f"datetime64[{MOMENTS[column.type]}]")
    counted = np.where(np.isnat(moments), np.nan, moments.astype(np.int64).astype(float))
    coded = encode(pd.Series(counted), Column(name=name, role="other", type="number"))
    axis = Axis(
        name=name,
        type=column.type,
        form="interval",
        weight=column.weight,
        values=coded.axis.values.astype(np.int64).astype(moments.dtype),
        missing=coded.axis.missing,
        hierarchy=None,
        reader=table.reader,
    )
    return EncodedColumn(axis, coded.codes)
