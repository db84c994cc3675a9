"""How the cells of one column become bytes of one size, and back.

A value has one encoding, and the same rule says which values a field takes, whoever wrote them: a
donor's cells are held to it before they are sent, and bytes that arrive are held to it before they
are believed. Nothing here depends on the values that occur.
"""

from abc import ABC, abstractmethod
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom import Column, cells
from anonloom.data import LARGEST
from anonloom.errors import DataError
from anonloom.hierarchies import (
    Breaks,
    Calendar,
    HierarchySource,
    LeafTable,
    Quantiles,
    UncoveredValues,
    text_of,
)
from anonloom.typing import BoolArray, ByteArray

#: Why a field of a record that arrived is refused, and which records have that fault.
Faults = list[tuple[str, BoolArray]]

#: Hierarchies that have a place for every value.
_TAKE_ALL = (Breaks, Quantiles, Calendar)

#: What may be wrong with a value of any type.
MISSING = "a missing value"
UNFIT = "a value that the column's declaration refuses"


@attrs.frozen(kw_only=True)
class Field(ABC):
    """One column's part of a record.

    Attributes
    ----------
    source
        The column's hierarchy, read once.
    """

    column: Column
    source: HierarchySource | None = attrs.field(default=None, repr=False)

    @property
    @abstractmethod
    def size(self) -> int:
        """Bytes of the field in every record."""

    @abstractmethod
    def description(self) -> list[Any]:
        """Return what, beside the column's declaration, decides the meaning of the bytes."""

    @abstractmethod
    def write(self, series: Any) -> ByteArray:
        """Return (rows x size) bytes.

        Raises
        ------
        DataError
            When a cell does not fit: column, count, limit and what to do, never the cell.
        """

    @abstractmethod
    def read(self, block: ByteArray) -> tuple[Any, Faults]:
        """Return one value per record, of no meaning where a fault is found, and the faults."""

    def unfit(self, values: NDArray[Any]) -> BoolArray:
        """Which of these values, distinct and ascending, a table with this column would refuse."""
        bad = np.zeros(len(values), bool)
        if self.column.role == "quasi" and self.column.type == "category":
            bad[:] = [cells.reads_like_a_form(value) for value in values]
        if self.source is not None and not isinstance(self.source, _TAKE_ALL):
            fit = ~bad
            listed = values[:0]
            if isinstance(self.source, LeafTable) and self.column.unknown == "own-leaf":
                listed = _listed_values(self.source, values)
            bad[fit] = self._find_uncovered(self.source, values[fit], listed)
        return bad

    def _find_uncovered(
        self, source: HierarchySource, values: NDArray[Any], listed: NDArray[Any]
    ) -> BoolArray:
        """Which values a hierarchy refuses, found by halving where it does not say itself.

        Parameters
        ----------
        listed
            Values that are always there: whether a record is refused must not depend on others.
        """
        bad = np.zeros(len(values), bool)
        if not len(values):
            return bad
        together = np.union1d(values, listed) if len(listed) else values
        try:
            source.over(together, self.column.unknown == "own-leaf")
        except UncoveredValues as error:
            # Only where unknown values are refused, and then nothing else is listed.
            bad |= error.missing
            bad[~bad] = self._find_uncovered(source, values[~bad], listed)
        except DataError:
            if len(values) == 1:
                return ~bad
            half = len(values) // 2
            bad[:half] = self._find_uncovered(source, values[:half], listed)
            bad[half:] = self._find_uncovered(source, values[half:], listed)
        return bad

    def refuse(self, bad: BoolArray, what: str, remedy: str) -> None:
        """Refuse cells that do not fit, if there are any."""
        count = int(bad.sum())
        if count:
            hold = "holds" if count == 1 else "hold"
            raise DataError(
                f"column '{self.column.name}': {count} of {len(bad)} rows {hold} {what}; {remedy}"
            )

    def refuse_missing(self, missing: BoolArray) -> None:
        """Refuse missing cells where the column says so."""
        if self.column.missing == "refuse":
            self.refuse(
                missing,
                MISSING,
                "complete them, or choose 'missing: own' or 'missing: suppress'",
            )

    def refuse_unfit(self, bad: BoolArray) -> None:
        """Refuse cells that the table which is built of the records would refuse."""
        self.refuse(bad, UNFIT, "rename these values, or change the column's 'hierarchy'")

    def unfit_cells(self, values: NDArray[Any], present: BoolArray) -> BoolArray:
        """Which cells of an array of numbers or moments are `unfit`."""
        bad = np.zeros(len(values), bool)
        if self.source is not None and not isinstance(self.source, _TAKE_ALL):
            distinct, which = np.unique(values[present], return_inverse=True)
            bad[present] = self.unfit(distinct)[which]
        return bad

    def faults(self, missing: BoolArray, *others: tuple[str, BoolArray]) -> Faults:
        """Return what is wrong, missing cells too where the column refuses them."""
        refused = self.column.missing == "refuse"
        result = [(MISSING, missing), *others] if refused else others
        return [(what, mask) for what, mask in result if mask.any()]


def _listed_values(source: LeafTable, values: NDArray[Any]) -> NDArray[Any]:
    """Return the numbers or moments that a written hierarchy has; none of a category.

    A value that it lacks may lie inside one of its groups, which is then no range any more. That
    shows only beside the group's own values.
    """
    if values.dtype.kind not in "fM":
        return values[:0]
    results = []
    for row in source.rows:
        try:
            value = np.array([row[0]]).astype(values.dtype)
        except ValueError:
            # Not every leaf need be a value of the column's type.
            continue
        if np.isfinite(value[0]) and (values.dtype.kind == "f" or text_of(value) == [row[0]]):
            results.append(value[0])
    return np.unique(np.array(results, values.dtype))


def _bits(number: float) -> np.uint64:
    return np.float64(number).view(np.uint64)


_NOT_A_NUMBER, _SIGN, _LARGEST = _bits(np.nan), _bits(-0.0), _bits(LARGEST)


@attrs.frozen(kw_only=True)
class NumberField(Field):
    """A number as the eight bytes of its float64, which is what a table holds.

    Zero has no sign, and missing is one of the many not-a-numbers; the others are refused.
    """

    size = 8

    def description(self) -> list[Any]:
        """See `Field.description`."""
        return ["float64"]

    def write(self, series: Any) -> ByteArray:
        """See `Field.write`."""
        # Adding 0 takes the sign off zero.
        numbers = series.to_numpy(np.float64) + 0.0
        missing = np.isnan(numbers)
        self.refuse_missing(missing)
        self.refuse(
            np.abs(numbers) > LARGEST,
            "a number that is infinite or too large",
            "correct the data, or declare the column as 'type: category'",
        )
        self.refuse_unfit(self.unfit_cells(numbers, ~missing))
        numbers[missing] = np.nan
        return big_endian(numbers.view(np.uint64), 8)

    def read(self, block: ByteArray) -> tuple[Any, Faults]:
        """See `Field.read`."""
        bits = whole_number(block)
        missing = bits == _NOT_A_NUMBER
        # Without the sign, floats are in the order of their bits, not-a-numbers last. Bits do not
        # warn: some not-a-numbers do as soon as anybody compares them.
        foreign = ~missing & ((bits & ~_SIGN > _LARGEST) | (bits == _SIGN))
        numbers = np.where(foreign, _NOT_A_NUMBER, bits).view(np.float64)
        unfit = self.unfit_cells(numbers, ~missing & ~foreign)
        return numbers, self.faults(missing, ("no number", foreign), (UNFIT, unfit))


#: Moments of these years can be written and read everywhere.
_BEGIN, _END = "0001-01-01", "10000-01-01"


@attrs.frozen(kw_only=True)
class MomentField(Field):
    """A date or a time as its number since the year 1, counted from 1; 0 is missing."""

    @property
    def _unit(self) -> str:
        return f"datetime64[{cells.MOMENTS[self.column.type]}]"

    @property
    def _begin(self) -> int:
        return int(np.datetime64(_BEGIN).astype(self._unit).astype(np.int64))

    @property
    def count(self) -> int:
        """How many moments there are."""
        return int(np.datetime64(_END).astype(self._unit).astype(np.int64)) - self._begin

    @property
    def size(self) -> int:
        """See `Field.size`."""
        return bytes_for(self.count)

    def description(self) -> list[Any]:
        """See `Field.description`."""
        return ["moment", _BEGIN, _END]

    def write(self, series: Any) -> ByteArray:
        """See `Field.write`."""
        moments = series.to_numpy().astype(self._unit)
        missing = np.isnat(moments)
        self.refuse_missing(missing)
        index = np.where(missing, 0, moments.astype(np.int64) - self._begin)
        self.refuse(
            (index < 0) | (index >= self.count),
            f"a {self.column.type} outside the years 1 to 9999",
            "correct the data, or declare the column as 'type: category'",
        )
        self.refuse_unfit(self.unfit_cells(moments, ~missing))
        return big_endian(np.where(missing, 0, index + 1).astype(np.uint64), self.size)

    def read(self, block: ByteArray) -> tuple[Any, Faults]:
        """See `Field.read`."""
        number = whole_number(block)
        missing, foreign = number == 0, number > self.count
        inside = np.where(missing | foreign, 1, number).astype(np.int64)
        moments = (inside - 1 + self._begin).astype(self._unit)
        moments[missing] = np.datetime64("NaT")
        unfit = self.unfit_cells(moments, ~missing & ~foreign)
        result = self.faults(missing, (f"no {self.column.type}", foreign), (UNFIT, unfit))
        return moments.astype("datetime64[s]"), result


def bytes_for(count: int) -> int:
    """Bytes of a number from 0 to `count`."""
    return max(1, -(-count.bit_length() // 8))


def big_endian(numbers: NDArray[np.uint64], size: int) -> ByteArray:
    """Write numbers in `size` bytes each, the greatest first."""
    return numbers.astype(">u8").view(np.uint8).reshape(len(numbers), 8)[:, 8 - size :]


def whole_number(block: ByteArray) -> NDArray[np.uint64]:
    """Read what `big_endian` wrote."""
    padded = np.zeros((len(block), 8), np.uint8)
    padded[:, 8 - block.shape[1] :] = block
    return padded.view(">u8").reshape(len(block)).astype(np.uint64)
