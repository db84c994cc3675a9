"""A column on its way from a database: every distinct cell once, and a number per row."""

import datetime
from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom import Column
from anonloom.cells import MOMENTS
from anonloom.errors import DataError
from anonloom.lazy import pd


@attrs.define(eq=False)
class ColumnBuffer:
    """The cells of one column that have arrived."""

    column: Column
    _places: dict[Any, int] = attrs.field(factory=dict, init=False, repr=False)
    _codes: list[NDArray[np.int32]] = attrs.field(factory=list, init=False, repr=False)

    @property
    def name(self) -> str:
        """The column's name."""
        return self.column.name

    def add(self, cells: Sequence[Any]) -> None:
        """Take the next rows.

        Raises
        ------
        DataError
            When cells are bytes.
        """
        values = np.empty(len(cells), object)
        values[:] = cells
        codes, distinct = pd.factorize(values)
        if any(isinstance(value, bytes | bytearray | memoryview) for value in distinct):
            raise DataError(
                f"column '{self.name}': its cells are bytes; a cell must be one text, number, "
                "date or truth value"
            )
        places = [self._places.setdefault(value, len(self._places)) for value in distinct]
        # The last one is found by -1, the code of a missing cell.
        self._codes.append(np.array([*places, -1], np.int32)[codes])

    def series(self) -> Any:
        """Return the whole column."""
        codes = np.concatenate(self._codes) if self._codes else np.empty(0, np.int32)
        distinct = list(self._places)
        if self.column.type in MOMENTS and all(isinstance(v, datetime.date) for v in distinct):
            # The database knows what a date or a time is: there is no format to follow.
            moments = np.array([*map(_local, distinct), None], "datetime64[s]")
            return pd.Series(moments[codes])
        categories = pd.Index(distinct, dtype=object)
        return pd.Series(pd.Categorical.from_codes(codes, categories=categories))


def _local(moment: datetime.date) -> datetime.date:
    """Return a moment as the clock showed it: numpy would move one that has a zone."""
    return moment.replace(tzinfo=None) if isinstance(moment, datetime.datetime) else moment
