"""Conformance of partitioners: they refine what they are given, and the guard admits the rest."""

from collections.abc import Iterator, Mapping
from typing import Any

from anonloom import StageContext
from anonloom_testing import oracle, tables
from anonloom_testing.class_checks import (
    CLASS_CHECKS,
    ClassesConformance,
    complete,
    found_classes,
    reordered_clinics,
)
from anonloom_testing.conformance import refuse_problems
from anonloom_testing.privacy_cases import DEMANDS, Demand
from anonloom_testing.purity import Scenario


class PartitionerConformance(ClassesConformance):
    """Checks of a partitioner.

    Examples
    --------
    In ``tests/test_conformance.py``::

        class TestMedianCut(PartitionerConformance):
            method = MedianCut
            params = {"first": "widest"}
    """

    kind = "partitioner"

    def call_method(self, method: Any, inputs: Mapping[str, Any], context: StageContext) -> Any:
        """Partition."""
        return method.partition(inputs["table"], inputs["classes"], inputs["guard"], context)

    def scenarios(self) -> Iterator[Scenario]:
        """Yield every table with every demand, then subsets and several given classes."""
        for make in self.tables:
            sample = make()
            rows, lacking = complete(sample)
            for demand in DEMANDS:
                yield self.scenario(make.__name__, sample, [rows], lacking, demand)
        yield from self._starts()
        for name, sample in reordered_clinics():
            for demand in DEMANDS:
                whole = list(range(len(sample)))
                yield self.scenario(name, sample, [whole], [], demand, special="order")
        yield from self.leak_scenarios(lambda sample, _: [complete(sample)[0]])

    def _starts(self) -> Iterator[Scenario]:
        sample = tables.clinic()
        order = tables.shuffled_order(len(sample), 2)
        parts = [order[:30], order[30:37], order[37:70]]
        for demand in DEMANDS:
            yield self.scenario("a subset of the rows", sample, [order[:40]], [], demand)
            yield self.scenario("several given classes", sample, parts, order[70:], demand)
        small = [order[:2], order[2:30]]
        yield self.scenario(
            "a given class that is too small", sample, small, order[30:33], Demand(k=3)
        )
        yield self.scenario("nothing but suppressed rows", sample, [], order[:5], Demand(k=3))


def check_given_classes_are_refined(subject: PartitionerConformance) -> None:
    """No class has rows of two given classes."""
    refuse_problems(
        (
            f"{item.scenario.name}: {len(torn)} classes"
            for item in subject.class_results()
            if (torn := oracle.straddling_classes(item.scenario.facts.classes, found_classes(item)))
        ),
        "classes straddle the given ones",
    )


def check_suppressed_rows_stay_suppressed(subject: PartitionerConformance) -> None:
    """A row that was suppressed before is in no class afterwards."""
    refuse_problems(
        (
            f"{item.scenario.name}: {len(back)} rows"
            for item in subject.class_results()
            if (back := set(item.scenario.facts.suppressed) & set(item.seen.result.rows.tolist()))
        ),
        "suppressed rows are in a class again",
    )


PartitionerConformance.checks = (
    *CLASS_CHECKS,
    check_given_classes_are_refined,
    check_suppressed_rows_stay_suppressed,
)
