"""Conformance of collectors: the release is the one that a trusted curator would publish."""

from collections.abc import Callable, Iterator, Mapping
from copy import copy
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from anonloom import Classes, Collection, Guard, Release, StageContext, Table
from anonloom.errors import DataError
from anonloom.kinds import Guarantees, SamplingRecord
from anonloom_testing import tables
from anonloom_testing.auditor import publish_classes
from anonloom_testing.canaries import CANARIES, CANARY_TABLES
from anonloom_testing.cell_leaks import LEAK_CHECKS
from anonloom_testing.conformance import Check, refuse_problems
from anonloom_testing.declaration import DECLARATION_CHECKS
from anonloom_testing.privacy_cases import Demand
from anonloom_testing.purity import (
    PURITY_CHECKS,
    MethodConformance,
    Scenario,
    ScenarioResult,
    check_same_seed_same_result,
)
from anonloom_testing.tables import Sample

#: Rows of the tables of canaries; sending one may be costly.
_LEAK_ROWS = 30


class PlainStages:
    """Stages whose classes depend on the rows alone, not on their order: sorted, then cut."""

    size = 5

    def fingerprint(self) -> str:
        """Return what decides the classes."""
        return f"sorted, then cut into classes of {self.size}"

    def with_seed(self, seed: int) -> "PlainStages":
        """Return the same stages: nothing here is random."""
        return self

    def for_server(self, seed: int) -> "PlainStages":
        """Return a copy: these stages tell nobody of their work anyway."""
        return copy(self)

    def run(self, table: Table, guard: Guard) -> Collection:
        """Partition, then publish each class's extent."""
        prepared = self.prepare(table)
        return Collection(self.generalize(prepared, self.partition(prepared, guard)))

    def prepare(self, table: Table) -> Table:
        """Return the table as it is."""
        return table

    def partition(self, table: Table, guard: Guard) -> Classes | None:
        """Cut the sorted rows into classes of five, the rest joining the last one."""
        whole = table.whole()
        keys = [tuple(codes) for codes in table.codes[:, whole.rows].T.tolist()]
        order = sorted(range(len(keys)), key=keys.__getitem__)
        labels = np.empty(len(order), np.int64)
        last = max(len(order) // self.size - 1, 0)
        for position, index in enumerate(order):
            labels[index] = min(position // self.size, last)
        return Classes.from_labels(labels, rows=whole.rows, suppressed=whole.suppressed)

    def generalize(self, table: Table, classes: Classes | None) -> Release:
        """Publish each class's extent."""
        return Release.as_it_is(table) if classes is None else publish_classes(table, classes)

    def sample_mask(self, labels: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Keep every row."""
        return np.ones(len(labels), bool)

    def record_sampling(
        self, before: Release, among: NDArray[np.int64] | None = None
    ) -> SamplingRecord:
        """Return that nothing was drawn."""
        return SamplingRecord()


class FailingStages(PlainStages):
    """Stages that fail when everything has arrived."""

    def partition(self, table: Table, guard: Guard) -> Classes | None:
        """Fail."""
        raise DataError("the stages do not work on this table")


def _distinct_rows() -> Sample:
    """Return the ordinary table without rows that tie, so that sorting decides everything."""
    sample = tables.clinic(60)
    seen: dict[object, int] = {}
    for index, row in enumerate(sample.rows):
        seen.setdefault((row["age"], row["region"], row["sex"]), index)
    return sample.take(sorted(seen.values()))


class CollectorConformance(MethodConformance):
    """Checks of a collector.

    Attributes
    ----------
    tables
        The tables to collect; rows that tie are left out of them, because a collector may deliver
        rows in another order.

    Examples
    --------
    In ``tests/test_conformance.py``::

        class TestDonation(CollectorConformance):
            method = Donation
            params = {"transport": "direct", "min_batch": 10}
    """

    kind = "collector"
    tables: ClassVar[tuple[Callable[[], Sample], ...]] = (_distinct_rows,)

    def call_method(self, method: Any, inputs: Mapping[str, Any], context: StageContext) -> Any:
        """Collect."""
        return method.collect(inputs["table"], inputs["stages"], inputs["guard"], context)

    def scenarios(self) -> Iterator[Scenario]:
        """Yield every table, in two orders."""
        for make in self.tables:
            sample, name = make(), make.__name__.strip("_").replace("_", " ")
            yield _scenario(name, sample)
            yield _scenario(f"{name}, shuffled", sample.take(tables.shuffled_order(len(sample), 3)))
        for make in CANARY_TABLES:
            sample = make()
            yield _scenario(make.__name__, sample.take(range(_LEAK_ROWS)), CANARIES)
        yield _scenario("a collection that fails", sample.take(range(_LEAK_ROWS)), CANARIES, True)

    def release_of(self, outcome: ScenarioResult) -> Release | None:
        """Return the release."""
        return _release(outcome.seen.result)


def _scenario(name: str, sample: Sample, special: str = "", fails: bool = False) -> Scenario:
    def inputs() -> Mapping[str, Any]:
        stages = FailingStages() if fails else PlainStages()
        return {"table": sample.table(), "stages": stages, "guard": Demand(k=3).guard()}

    leak_sample = sample if special == CANARIES else None
    return Scenario(name, inputs, sample, special, may_raise=fails, leak_sample=leak_sample)


def _release(result: object) -> Release | None:
    """Return the release that a collection holds; None where it is no collection."""
    release = result.release if isinstance(result, Collection) else None
    return release if isinstance(release, Release) else None


def _published_rows(release: Release) -> list[str]:
    """Return the rows of a release in an order that does not depend on theirs."""
    return sorted(
        repr(sorted(row.items(), key=str)) for row in tables.plain(release.frame, release.schema)
    )


def _curators(sample: Sample) -> Release:
    return PlainStages().run(sample.table(), Demand(k=3).guard()).release


def check_release_equals_the_curators(subject: CollectorConformance) -> None:
    """The published rows, taken together, are those of a trusted curator."""
    refuse_problems(
        (
            item.scenario.name
            for item in subject.successes()
            if (release := _release(item.seen.result)) is None
            or _published_rows(release) != _published_rows(_curators(item.scenario.facts))
        ),
        "the release is not the curator's",
    )


def check_same_rows_again(subject: CollectorConformance) -> None:
    """A second collection publishes the same rows; keys and coins may differ."""
    refuse_problems(
        (
            item.scenario.name
            for item in subject.successes()
            if (again := _release(subject.run_scenario(item.scenario).result)) is not None
            and (release := _release(item.seen.result)) is not None
            and _published_rows(again) != _published_rows(release)
        ),
        "two collections of one table differ",
    )


def check_says_what_it_guarantees(subject: CollectorConformance) -> None:
    """`guarantees` is None or complete, `simulated` is a bool, `plan` gives sentences."""
    collector = subject.build_method()
    assert collector.guarantees is None or isinstance(collector.guarantees, Guarantees)
    assert isinstance(collector.simulated, bool)
    schema = subject.tables[0]().schema
    for rows in (None, 1000):
        sentences = collector.plan(rows, schema)
        assert isinstance(sentences, tuple), "plan() must return a tuple"
        assert all(isinstance(sentence, str) and sentence.strip() for sentence in sentences), (
            "empty sentences"
        )


_PURITY_WITHOUT_SEED = tuple(
    check for check in PURITY_CHECKS if check is not check_same_seed_same_result
)
_CHECKS: tuple[Check, ...] = (
    check_release_equals_the_curators,
    check_same_rows_again,
    check_says_what_it_guarantees,
)
CollectorConformance.checks = (*DECLARATION_CHECKS, *_PURITY_WITHOUT_SEED, *LEAK_CHECKS, *_CHECKS)
