"""Conformance of outlier handlers: rows may move, none is lost, and the guard still holds."""

from collections.abc import Iterator, Mapping
from typing import Any

from anonloom import StageContext
from anonloom_testing import tables
from anonloom_testing.class_checks import (
    CLASS_CHECKS,
    ClassesConformance,
    complete,
    reordered_clinics,
)
from anonloom_testing.conformance import refuse_problems
from anonloom_testing.privacy_cases import DEMANDS, admitted_classes
from anonloom_testing.purity import Scenario


class OutlierHandlerConformance(ClassesConformance):
    """Checks of an outlier handler.

    Examples
    --------
    In ``tests/test_conformance.py``::

        class TestSuppress(OutlierHandlerConformance):
            method = Suppress
            params = {"alpha": 2.0}
    """

    kind = "outliers"

    def call_method(self, method: Any, inputs: Mapping[str, Any], context: StageContext) -> Any:
        """Handle."""
        return method.handle(inputs["table"], inputs["classes"], inputs["guard"], context)

    def scenarios(self) -> Iterator[Scenario]:
        """Yield every table in classes that the demand admits, made by the oracle."""
        for make in self.tables:
            sample = make()
            rows, lacking = complete(sample)
            for demand in DEMANDS:
                classes = admitted_classes(sample, demand, rows)
                left = [] if classes else rows
                yield self.scenario(make.__name__, sample, classes, [*lacking, *left], demand)
        sample = tables.clinic()
        by_age = sorted(range(len(sample)), key=lambda at: str(sample.rows[at]["age"]))
        for demand in DEMANDS:
            # One row far from its class: the sort of row that handlers are for.
            classes = admitted_classes(sample, demand, [*by_age[-1:], *by_age[:40]])
            yield self.scenario("an outlier", sample, classes, by_age[40:44], demand)
        for name, other in reordered_clinics():
            for demand in DEMANDS:
                classes = admitted_classes(other, demand, list(range(len(other))))
                yield self.scenario(name, other, classes, [], demand, special="order")
        yield from self.leak_scenarios(
            lambda sample, demand: admitted_classes(sample, demand, complete(sample)[0])
        )


def check_incomplete_rows_stay_suppressed(subject: OutlierHandlerConformance) -> None:
    """A row that a column with `missing: suppress` suppressed is in no class afterwards."""
    refuse_problems(
        (
            f"{item.scenario.name}: {len(back)} rows"
            for item in subject.class_results()
            if (
                back := set(complete(item.scenario.facts.sample)[1])
                & set(item.seen.result.rows.tolist())
            )
        ),
        "incomplete rows are in a class again",
    )


OutlierHandlerConformance.checks = (*CLASS_CHECKS, check_incomplete_rows_stay_suppressed)
