"""The guard: all declared privacy models as one question that every method can ask."""

from collections.abc import Callable, Iterable

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom.data.classes import Classes
from anonloom.data.schema import Schema
from anonloom.data.table import Table
from anonloom.kinds.privacy import Offsets, PrivacyModel, Verdict


def _in_order(models: Iterable[PrivacyModel]) -> tuple[PrivacyModel, ...]:
    return tuple(models)


def _keep_all(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    return sizes


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

    @property
    def min_size(self) -> int:
        """Least number of rows that a class needs, a later sampler taken into account."""
        demanded, size = self.demanded, self.demanded
        while int(self.least_kept(np.array([size]))[0]) < demanded:
            # Grow geometrically, then step back: least_kept need not be smooth.
            size *= 2
            if size > 2**40:
                raise ValueError("the sampler keeps too few rows of any class")
        sizes = np.arange(max(demanded, size // 2), size + 1)
        return int(sizes[self.least_kept(sizes) >= demanded][0])

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

    def admits(self, table: Table, rows: Offsets, starts: Offsets, stops: Offsets) -> Verdict:
        """Judge ranges of a row order; they may overlap. See `PrivacyModel.admits`."""
        table = table.revealed()
        sizes = np.asarray(stops, np.int64) - np.asarray(starts, np.int64)
        verdict = np.asarray(self.least_kept(sizes) >= self.demanded, bool)
        if self.size_only and table.persons is None:
            return verdict
        for model in self.models:
            if not verdict.any():
                break
            # Judging is the expensive part: ask only for what is still standing.
            standing = np.flatnonzero(verdict)
            verdict[standing] = model.admits(table, rows, starts[standing], stops[standing])
        return verdict

    def admits_classes(self, table: Table, classes: Classes) -> Verdict:
        """Judge the classes of a partition."""
        return self.admits(table, classes.rows, classes.starts, classes.stops)
