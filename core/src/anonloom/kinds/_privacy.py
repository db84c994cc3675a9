"""Privacy model: which sets of rows may be published as one class."""

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from anonloom.data._schema import Schema
from anonloom.data._table import Table
from anonloom.typing import BoolArray

Offsets = NDArray[np.integer]


class PrivacyModel(ABC):
    """Judges classes.

    Promise: `admits` agrees with a slow reference, looks at nothing but the rows that it is given
    and the whole table without its incomplete rows, which are never published, and `monotone` is
    true only if the union of two admitted classes is admitted.
    """

    #: Whether merging two admitted classes always gives an admitted class.
    monotone: ClassVar[bool]

    @abstractmethod
    def admits(self, table: Table, rows: Offsets, starts: Offsets, stops: Offsets) -> BoolArray:
        """Judge ranges of a row order.

        Parameters
        ----------
        rows
            Row numbers of the table in some order.
        starts, stops
            Range `i` is `rows[starts[i]:stops[i]]`. Ranges may overlap.
        """

    @abstractmethod
    def would_pass(self, table: Table, rows: Offsets, starts: Offsets, stops: Offsets) -> str:
        """Say which parameter would admit all these ranges, for example `k: 7`."""

    @property
    def min_size(self) -> int:
        """Least number of rows that an admitted class can have."""
        return 1

    @property
    def size_only(self) -> bool:
        """Whether, with one row per person, a class is admitted exactly when it has `min_size`."""
        return False

    def combinations(self, schema: Schema) -> tuple[tuple[str, ...], ...]:
        """Return the sets of quasi-identifiers whose published classes the model judges."""
        return (schema.quasi,)

    @property
    def judged(self) -> tuple[str, ...]:
        """Columns whose values the model judges, besides the quasi-identifiers.

        By default its parameter `of`. A suppressed row loses them: no model looks at it.
        """
        of = getattr(self, "of", None)
        return (of,) if isinstance(of, str) else ()

    def meaning(self, unit: str) -> str:
        """Say in one sentence what the model promises, for whoever has never heard of it.

        Parameters
        ----------
        unit
            What a row stands for, in the plural: 'persons' or 'records'.
        """
        return ""

    def problem(self, schema: Schema) -> str | None:
        """Say what is wrong with using the model on such a table, or None."""
        return None
