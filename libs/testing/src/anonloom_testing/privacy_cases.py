"""What the kit demands of classes: small privacy models for the method, an oracle for the kit.

Core contains no privacy model, and the kit must not lean on a plugin, so the guards that a method
is tried with are made here. Each demand says the same thing twice: `guard` in the product's terms,
`holds` in plain Python.
"""

from typing import ClassVar

import attrs
import numpy as np

from anonloom import Guard, PrivacyModel, Schema, Table, param
from anonloom.errors import DataError
from anonloom.kinds import Offsets
from anonloom.params import at_least, between
from anonloom.typing import BoolArray
from anonloom_testing import oracle
from anonloom_testing.oracle import Row
from anonloom_testing.tables import Sample


@attrs.frozen(kw_only=True)
class AtLeast(PrivacyModel):
    """Admits classes of at least so many persons."""

    monotone: ClassVar[bool] = True

    k: int = param(help="Least number of persons.", check=at_least(1))

    @property
    def min_size(self) -> int:
        """Least number of rows."""
        return self.k

    @property
    def size_only(self) -> bool:
        """Sizes decide everything."""
        return True

    def admits(self, table: Table, rows: Offsets, starts: Offsets, stops: Offsets) -> BoolArray:
        """Count the persons of every range."""
        return np.array(
            [self._people(table, rows[a:b]) >= self.k for a, b in zip(starts, stops, strict=True)],
            bool,
        )

    def would_pass(self, table: Table, rows: Offsets, starts: Offsets, stops: Offsets) -> str:
        """Return the least number of persons."""
        counts = [self._people(table, rows[a:b]) for a, b in zip(starts, stops, strict=True)]
        return f"k: {min(counts, default=self.k)}"

    @staticmethod
    def _people(table: Table, rows: Offsets) -> int:
        persons = table.persons
        return len(rows) if persons is None else len(set(persons[rows].tolist()))


@attrs.frozen(kw_only=True)
class DistinctValues(PrivacyModel):
    """Admits classes with at least so many distinct values of a column."""

    monotone: ClassVar[bool] = True

    l: int = param(help="Least number of values.", check=at_least(1))  # noqa: E741  # the literature's letter
    of: str = param(help="The column.")

    @property
    def min_size(self) -> int:
        """Every value needs a row."""
        return self.l

    def admits(self, table: Table, rows: Offsets, starts: Offsets, stops: Offsets) -> BoolArray:
        """Count the values of every range."""
        return np.array([n >= self.l for n in self._counts(table, rows, starts, stops)], bool)

    def would_pass(self, table: Table, rows: Offsets, starts: Offsets, stops: Offsets) -> str:
        """Return the least number of values."""
        return f"l: {min(self._counts(table, rows, starts, stops), default=self.l)}"

    def _counts(self, table: Table, rows: Offsets, starts: Offsets, stops: Offsets) -> list[int]:
        coded = table.encode_column(self.of)
        counts = []
        for a, b in zip(starts, stops, strict=True):
            counts.append(len(set(coded.codes[rows[a:b]].tolist()) - {coded.axis.missing}))
        return counts

    def problem(self, schema: Schema) -> str | None:
        """Refuse a table without the column."""
        return None if self.of in schema else f"there is no column '{self.of}'"


@attrs.frozen(kw_only=True)
class WithinDistance(PrivacyModel):
    """Admits classes whose shares of a column's values are near those of the whole table."""

    # Two admitted classes may deviate in one direction only partly; their mixture never deviates
    # more than the worse of them, so that merging is safe.
    monotone: ClassVar[bool] = True

    t: float = param(help="Greatest distance.", check=between(0, 1))
    of: str = param(help="The column.")

    def admits(self, table: Table, rows: Offsets, starts: Offsets, stops: Offsets) -> BoolArray:
        """Measure the distance of every range."""
        # The tolerance keeps a distance of exactly t on the admitted side of rounding.
        return np.array([d <= self.t + 1e-9 for d in self._far(table, rows, starts, stops)], bool)

    def would_pass(self, table: Table, rows: Offsets, starts: Offsets, stops: Offsets) -> str:
        """Return the greatest distance."""
        return f"t: {max(self._far(table, rows, starts, stops), default=self.t)}"

    def _far(self, table: Table, rows: Offsets, starts: Offsets, stops: Offsets) -> list[float]:
        coded = table.encode_column(self.of)
        overall = np.bincount(coded.codes, minlength=coded.axis.size) / len(table)
        results = []
        for a, b in zip(starts, stops, strict=True):
            inside = np.bincount(coded.codes[rows[a:b]], minlength=coded.axis.size) / max(b - a, 1)
            results.append(float(np.abs(inside - overall).sum()) / 2)
        return results


@attrs.frozen(kw_only=True)
class FailingModel(PrivacyModel):
    """Fails when it is asked: what a method says then must not hold a cell either."""

    def admits(self, table: Table, rows: Offsets, starts: Offsets, stops: Offsets) -> BoolArray:
        """Fail."""
        raise DataError("the model does not work on this table")

    def would_pass(self, table: Table, rows: Offsets, starts: Offsets, stops: Offsets) -> str:
        """Fail."""
        raise DataError("the model does not work on this table")


def half_of(
    sizes: "np.ndarray[tuple[int, ...], np.dtype[np.int64]]",
) -> "np.ndarray[tuple[int, ...], np.dtype[np.int64]]":
    """Return what a sampler keeps that guarantees half of every class."""
    return np.asarray(sizes, np.int64) // 2


@attrs.frozen
class Demand:
    """What classes must satisfy, for the method and for the oracle.

    Attributes
    ----------
    k
        Least number of persons.
    distinct, close
        Least number of distinct illnesses; greatest distance of their shares.
    halved
        Whether a later sampler keeps only half of every class.
    """

    k: int = 3
    distinct: int | None = None
    close: float | None = None
    halved: bool = False

    @property
    def words(self) -> str:
        """The demand in a few words, for messages."""
        messages = [f"k = {self.k}"]
        messages += [f"l = {self.distinct}"] if self.distinct is not None else []
        messages += [f"t = {self.close}"] if self.close is not None else []
        messages += ["half sampled"] if self.halved else []
        return ", ".join(messages)

    def guard(self) -> Guard:
        """Return the demand as methods meet it."""
        models: list[PrivacyModel] = [AtLeast(k=self.k)]
        if self.distinct is not None:
            models.append(DistinctValues(l=self.distinct, of="illness"))
        if self.close is not None:
            models.append(WithinDistance(t=self.close, of="illness"))
        return Guard(tuple(models), half_of) if self.halved else Guard(tuple(models))

    def holds(self, members: list[Row], sample: Sample) -> bool:
        """Whether a class satisfies the demand, in plain Python."""
        return self.large_enough(members, sample) and (
            (self.distinct is None or oracle.distinct_values(members, "illness") >= self.distinct)
            and (
                self.close is None
                or oracle.distance(members, sample.rows, "illness") <= self.close + 1e-9
            )
        )

    def large_enough(self, members: list[Row], sample: Sample) -> bool:
        """Whether a class satisfies what methods with ``guard_use = 'size'`` must keep."""
        least = max(self.k, self.distinct or 1)
        rows = len(members) // 2 if self.halved else len(members)
        return rows >= least and oracle.people(members, sample.person) >= self.k


#: The demands that partitioners and outlier handlers are tried with.
DEMANDS = (
    Demand(k=3),
    Demand(k=3, distinct=2),
    Demand(k=3, close=0.4),
    Demand(k=2, halved=True),
)


def admitted_classes(sample: Sample, demand: Demand, order: list[int]) -> list[list[int]]:
    """Group rows, in the given order, into classes that satisfy a demand; greedily and slowly.

    What is left over joins the last class. If even all rows together do not satisfy the demand,
    there are no classes.
    """
    results: list[list[int]] = []
    current: list[int] = []
    for row in order:
        current.append(row)
        if demand.holds([sample.rows[index] for index in current], sample):
            results.append(current)
            current = []
    if not current:
        return results
    merged = [*results[:-1], [*(results[-1] if results else []), *current]]
    if all(demand.holds([sample.rows[index] for index in members], sample) for members in merged):
        return merged
    everything = [list(order)]
    return everything if demand.holds([sample.rows[index] for index in order], sample) else []
