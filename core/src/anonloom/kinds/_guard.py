"""The guard: all declared privacy models as one question that every method can ask."""

from collections.abc import Callable, Iterable
from functools import cached_property

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom._representation import short_repr
from anonloom.data._classes import Classes
from anonloom.data._schema import Schema
from anonloom.data._table import Table
from anonloom.kinds._privacy import Offsets, PrivacyModel
from anonloom.typing import BoolArray

#: Sizes beyond this are not looked at: no table on one machine has such a class.
_LARGEST_CLASS = 2**28
_BLOCK = 2**20


def _in_order(models: Iterable[PrivacyModel]) -> tuple[PrivacyModel, ...]:
    return tuple(models)


def _keep_all(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    return sizes


@short_repr
@attrs.frozen(eq=False)
class Guard:
    """What every class must satisfy.

    Attributes
    ----------
    models
        The declared privacy models.
    least_kept
        How many rows of a class a later sampler keeps at least. A class is large enough when that
        many still are.
    """

    models: tuple[PrivacyModel, ...] = attrs.field(default=(), converter=_in_order)
    least_kept: Callable[[NDArray[np.int64]], NDArray[np.int64]] = _keep_all

    @property
    def demanded(self) -> int:
        """Least number of published rows per class."""
        return max((model.min_size for model in self.models), default=1)

    @cached_property
    def min_size(self) -> int:
        """Least number of rows that a class needs, a later sampler taken into account.

        Raises
        ------
        ValueError
            When no class of any size keeps enough rows.
        """
        start, demanded = self.demanded, self.demanded
        while start < _LARGEST_CLASS:
            # Every size is tried, in growing blocks: least_kept may rise and fall.
            sizes = np.arange(start, start + min(start, _BLOCK), dtype=np.int64)
            enough = np.flatnonzero(np.asarray(self.least_kept(sizes)) >= demanded)
            if len(enough):
                return int(sizes[enough[0]])
            start += len(sizes)
        raise ValueError("the sampler keeps too few rows of any class")

    @property
    def size_only(self) -> bool:
        """Whether sizes decide everything, with one row per person."""
        return all(model.size_only for model in self.models)

    @property
    def monotone(self) -> bool:
        """Whether merging admitted classes always gives an admitted class."""
        return all(model.monotone for model in self.models)

    def columns(self, schema: Schema) -> tuple[str, ...]:
        """Quasi-identifiers that some model speaks of."""
        named = {
            name
            for model in self.models
            for combination in model.combinations(schema)
            for name in combination
        }
        return tuple(name for name in schema.quasi if name in named)

    def admits(self, table: Table, rows: Offsets, starts: Offsets, stops: Offsets) -> BoolArray:
        """Judge ranges of a row order; they may overlap. See `PrivacyModel.admits`."""
        table = table.with_all_columns()
        starts, stops = np.asarray(starts, np.int64), np.asarray(stops, np.int64)
        verdict = np.array(self.least_kept(stops - starts) >= self.demanded, bool)
        if self.size_only and table.persons is None:
            return verdict
        for model in self.models:
            if not verdict.any():
                break
            # Judging is the expensive part: ask only for what is still standing.
            standing = np.flatnonzero(verdict)
            verdict[standing] = model.admits(table, rows, starts[standing], stops[standing])
        return verdict

    def admits_classes(self, table: Table, classes: Classes) -> BoolArray:
        """Judge the classes of a partition."""
        return self.admits(table, classes.rows, classes.starts, classes.stops)
