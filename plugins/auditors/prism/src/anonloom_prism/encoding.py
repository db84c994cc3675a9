"""Every attribute as a few levels: bins of numbers, frequent categories, missing, the rest."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anonloom import Schema
from anonloom.cells import cell_text
from anonloom.typing import FloatArray, IntArray
from anonloom_prism.cell_midpoints import places

Codes = NDArray[np.uint8]

#: Levels are numbered in a byte, missing among them.
MOST_LEVELS = 250


@attrs.frozen(eq=False)
class EncodedTable:
    """Attributes of two or more levels; the last level of each is its most frequent one.

    Attributes
    ----------
    names
        One per attribute.
    codes
        (attributes x rows): level of every row.
    levels
        How many levels each attribute has.
    values
        Of every attribute the number of every row's value, where a level holds several values.
        None where levels are values, and where hardly any value occurs twice.
    constant
        Names of the attributes with a single level, which tell nothing.
    """

    names: tuple[str, ...]
    codes: Codes = attrs.field(repr=False)
    levels: IntArray
    values: tuple[IntArray | None, ...] = attrs.field(repr=False)
    constant: tuple[str, ...] = ()

    @property
    def rows(self) -> int:
        """How many rows."""
        return int(self.codes.shape[1])

    @property
    def starts(self) -> IntArray:
        """First column of every attribute in `indicators`."""
        return np.cumsum(np.append(0, self.levels[:-1] - 1)).astype(np.int64)

    def cheapest_first(self) -> "EncodedTable":
        """Return the attributes in the order in which all sets of three cost least to count.

        The rows are divided by the last attribute of a set, and the first two are multiplied. So
        the last should have many levels, which then are no columns, and a level that most rows
        have, which is never multiplied.
        """
        frequent = [
            (of == last).mean() for of, last in zip(self.codes, self.levels - 1, strict=True)
        ]
        order = np.argsort((np.array(frequent) - 1) / (self.levels - 1), kind="stable")
        return attrs.evolve(
            self,
            names=tuple(self.names[index] for index in order),
            codes=self.codes[order],
            levels=self.levels[order],
            values=tuple(self.values[index] for index in order),
        )

    def sorted_by(self, order: NDArray[np.integer]) -> "EncodedTable":
        """Return the rows in another order."""
        return attrs.evolve(
            self,
            codes=np.ascontiguousarray(self.codes[:, order]),
            values=tuple(None if of_rows is None else of_rows[order] for of_rows in self.values),
        )

    def indicators(self) -> NDArray[np.float32]:
        """Return a column of 0 and 1 for every level but the last of each attribute.

        The last follows from the others, and being the most frequent it is the dearest to count.
        Single precision: sums of 0 and 1 are exact in it up to 16 million.
        """
        result = np.zeros((self.rows, int((self.levels - 1).sum())), np.float32)
        for start, of_rows, levels in zip(self.starts, self.codes, self.levels, strict=True):
            rows = np.flatnonzero(of_rows < levels - 1)
            result[rows, start + of_rows[rows]] = 1
        return result


def encode(
    columns: Mapping[str, Any], types: Mapping[str, str], bins: int, levels: int
) -> EncodedTable:
    """Encode columns.

    Parameters
    ----------
    columns
        Series by name.
    types
        Declared type of each: number, date, time or category.
    bins
        Equally frequent ranges of a number that takes more than `levels` values.
    levels
        Most levels of an attribute, missing not counted; rarer categories share the last one.
    """
    coded = {
        name: encode_column(series, types[name], bins, levels) for name, series in columns.items()
    }
    varying = {name: column for name, column in coded.items() if column.levels > 1}
    rows = len(next(iter(columns.values()))) if columns else 0
    codes = [column.codes for column in varying.values()]
    return EncodedTable(
        tuple(varying),
        np.stack(codes) if codes else np.empty((0, rows), np.uint8),
        np.array([column.levels for column in varying.values()], np.int64),
        tuple(column.values for column in varying.values()),
        tuple(name for name in coded if name not in varying),
    )


class Column(NamedTuple):
    """One attribute: the level of every row, how many levels there are, and `Encoded.values`."""

    codes: Codes
    levels: int
    values: IntArray | None


def encode_column(series: Any, type_: str, bins: int, levels: int) -> Column:
    """Give every row a level, the most frequent level last."""
    middles = None if type_ == "category" else places(series, type_)
    if middles is None:
        result, values = _of_categories(series, levels)
    else:
        result, values = _of_numbers(middles, bins, levels)
    # Numbered by how frequent they are; equally frequent ones in their own order.
    counts = np.bincount(result, minlength=1)
    order = np.argsort(counts, kind="stable")
    order = order[counts[order] > 0]
    turned = np.zeros(len(counts), np.uint8)
    turned[order] = np.arange(len(order))
    return Column(turned[result], len(order), values)


def _worth_it(values: int, levels: int, rows: int) -> bool:
    """Whether levels hide values, and these repeat: what occurs once tells about nobody else."""
    return levels < values <= rows // 2


def _of_numbers(values: FloatArray, bins: int, levels: int) -> tuple[IntArray, IntArray | None]:
    """Return the level of every row, and the number of its value."""
    missing = np.isnan(values)
    present = values[~missing]
    result = np.full(len(values), MOST_LEVELS, np.int64)
    ascending = np.sort(present)
    distinct = ascending[np.append(True, ascending[1:] > ascending[:-1])[: len(ascending)]]
    few = len(distinct) <= levels
    result[~missing] = _past(distinct[:-1] if few else _edges(ascending, bins), present)
    if not _worth_it(len(distinct), levels, len(values)):
        return result, None
    numbers = np.full(len(values), len(distinct), np.int64)
    numbers[~missing] = np.searchsorted(distinct, present)
    return result, numbers


def ranges(values: FloatArray, bins: int) -> IntArray:
    """Number the range of every value: ranges are about equally frequent, equal values together."""
    return _past(_edges(np.sort(values), bins), values)


def _edges(ascending: FloatArray, bins: int) -> FloatArray:
    """Return the last value of every range but the last one."""
    index = ascending[(len(ascending) - 1) * np.arange(1, bins) // bins]
    # Past the largest value nothing would be left.
    most = ascending[np.searchsorted(ascending, ascending[-1]) - 1]
    return np.unique(np.minimum(index, most))


def _past(edges: FloatArray, values: FloatArray) -> IntArray:
    """Count the edges that every value lies past: for a few, faster than to search for each."""
    result = np.zeros(len(values), np.uint8)
    for edge in edges:
        result += values > edge
    return result.astype(np.int64)


def _of_categories(series: Any, levels: int) -> tuple[IntArray, IntArray | None]:
    """Return the level of every row, and the number of its value."""
    codes, cells = pd.factorize(series)
    # Sorted by label, so that the order of the rows decides nothing.
    ranks, labels = pd.factorize(np.array([cell_text(cell) for cell in cells], object), sort=True)
    result = np.append(ranks, -1)[codes].astype(np.int64)
    counts = np.bincount(result[result >= 0], minlength=len(labels))
    place = np.full(len(labels) + 1, levels - 1, np.int64)
    if len(labels) <= levels:
        place[: len(labels)] = np.arange(len(labels))
    else:
        frequent = np.argsort(-counts, kind="stable")[: levels - 1]
        place[frequent] = np.arange(levels - 1)
    place[-1] = MOST_LEVELS
    of_rows: IntArray = place[result]
    worth_it = _worth_it(len(labels), levels, len(result))
    return of_rows, np.where(result < 0, len(labels), result) if worth_it else None


def types_of(frame: pd.DataFrame, schema: Schema | None) -> dict[str, str]:
    """Return the type of every column: as declared, or as the frame has it."""
    if schema is not None:
        return {str(name): schema[str(name)].type for name in frame}
    return {str(name): _own_type(frame[name].dtype) for name in frame}


def _own_type(dtype: Any) -> str:
    if pd.api.types.is_datetime64_any_dtype(dtype):
        return "time"
    numeric = pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_bool_dtype(dtype)
    return "number" if numeric and dtype.kind != "c" else "category"
