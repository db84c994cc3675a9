"""Scenarios and checks of methods that return classes: partitioners and outlier handlers."""

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import Any, ClassVar

import attrs

from anonloom import Classes, Guard, Release, Table
from anonloom_runner.check import judge_models
from anonloom_testing import oracle, tables
from anonloom_testing.auditor import publish_classes
from anonloom_testing.canaries import CANARIES, CANARY_TABLES, crowded_canaries
from anonloom_testing.cell_leaks import LEAK_CHECKS
from anonloom_testing.conformance import Check, refuse_problems
from anonloom_testing.declaration import DECLARATION_CHECKS
from anonloom_testing.privacy_cases import Demand, FailingModel
from anonloom_testing.purity import PURITY_CHECKS, MethodConformance, Scenario, ScenarioResult
from anonloom_testing.results import NotApplicable
from anonloom_testing.tables import ORDINARY_TABLES, Sample, as_rows


@attrs.frozen(eq=False)
class ClassFacts:
    """What the oracle knows of a scenario: plain rows, plain classes, and the demand."""

    sample: Sample
    classes: list[list[int]]
    suppressed: list[int]
    demand: Demand

    @property
    def rows(self) -> list[int]:
        """All rows that the method was given."""
        return [row for members in self.classes for row in members] + self.suppressed


class ClassesConformance(MethodConformance):
    """A conformance class whose method returns `Classes`.

    Attributes
    ----------
    tables
        The tables to try; all of the kit's by default.
    """

    tables: ClassVar[tuple[Callable[[], Sample], ...]] = ORDINARY_TABLES

    def seen_by_method(self, table: Table) -> Table:
        """Return the table as the runner would pass it, narrowed to what the method reads."""
        entry = self.entry()
        return table if entry is None else table.restricted_to(entry.method.reads)

    def class_results(self, special: str = "") -> list[ScenarioResult]:
        """Return the results of the scenarios in which the method returned classes."""
        results = [
            item for item in self.successes(special) if isinstance(item.seen.result, Classes)
        ]
        if not results:
            raise NotApplicable("the method returned no classes in any scenario")
        return results

    def scenario(
        self,
        name: str,
        sample: Sample,
        classes: list[list[int]],
        suppressed: list[int],
        demand: Demand,
        special: str = "",
        fails: bool = False,
    ) -> Scenario:
        """Return a scenario that starts from these classes."""

        def make_inputs() -> Mapping[str, Any]:
            return {
                "table": self.seen_by_method(sample.table()),
                "classes": plain_classes(classes, suppressed),
                "guard": Guard((FailingModel(),)) if fails else demand.guard(),
            }

        facts = ClassFacts(sample, classes, suppressed, demand)
        # A table that the method says not to suit it may make it raise.
        may_raise = fails or self.build_method().problem(sample.schema) is not None
        leak_sample = sample if special == CANARIES else None
        return Scenario(
            f"{name} ({demand.words})", make_inputs, facts, special, may_raise, leak_sample
        )

    def leak_scenarios(
        self, classes: Callable[[Sample, Demand], list[list[int]]]
    ) -> Iterator[Scenario]:
        """Yield the scenarios that show whether what the method says leaks a cell.

        Parameters
        ----------
        classes
            Makes the classes that the method is given, of the rows that are not withheld.
        """
        demand = Demand(k=3)
        for make in (*CANARY_TABLES, crowded_canaries):
            sample = make()
            result = classes(sample, demand)
            left = sorted(set(range(len(sample))) - {row for item in result for row in item})
            yield self.scenario(make.__name__, sample, result, left, demand, CANARIES)
        yield self.scenario(
            "a guard that fails", sample, result, left, demand, CANARIES, fails=True
        )

    def release_of(self, outcome: ScenarioResult) -> Release | None:
        """Return the classes as they would be published, without suppressed rows."""
        if not isinstance(outcome.seen.result, Classes):
            return None
        classes = attrs.evolve(outcome.seen.result, suppressed=as_rows([]))
        return publish_classes(outcome.scenario.facts.sample.table(), classes)


def plain_classes(classes: list[list[int]], suppressed: list[int]) -> Classes:
    """Return lists of row numbers as `Classes`."""
    bounds = [0]
    for members in classes:
        bounds.append(bounds[-1] + len(members))
    rows = [row for members in classes for row in members]
    return Classes(as_rows(rows), as_rows(bounds), as_rows(suppressed))


def complete(sample: Sample) -> tuple[list[int], list[int]]:
    """Return the rows to work on, and those that a column with `missing: suppress` suppresses."""
    strict = [column.name for column in sample.schema if column.missing == "suppress"]
    lacking = [
        index for index, row in enumerate(sample.rows) if any(row[name] is None for name in strict)
    ]
    return [index for index in range(len(sample)) if index not in lacking], lacking


def found_classes(outcome: ScenarioResult) -> list[list[int]]:
    """Return the classes of a result as lists."""
    rows, bounds = outcome.seen.result.rows.tolist(), outcome.seen.result.bounds.tolist()
    return [rows[a:b] for a, b in pairwise(bounds)]


def found_rows(outcome: ScenarioResult) -> list[int]:
    """Return every row of a result, the suppressed ones included."""
    return [*outcome.seen.result.rows.tolist(), *outcome.seen.result.suppressed.tolist()]


def _row_problems(
    subject: ClassesConformance, find: Callable[[ScenarioResult], list[int]], promise: str
) -> None:
    refuse_problems(
        (
            f"{item.scenario.name}: {len(find(item))} rows, first row {find(item)[0]}"
            for item in subject.class_results()
            if find(item)
        ),
        promise,
    )


def check_returns_classes(subject: ClassesConformance) -> None:
    """The method returns `Classes`."""
    refuse_problems(
        (
            f"{item.scenario.name}: a {type(item.seen.result).__name__}"
            for item in subject.successes()
            if not isinstance(item.seen.result, Classes)
        ),
        "the method returned something else",
    )


def check_no_row_is_lost(subject: ClassesConformance) -> None:
    """Every row that was given ends in a class or in `suppressed`."""
    _row_problems(
        subject,
        lambda outcome: oracle.lost_rows(outcome.scenario.facts.rows, found_rows(outcome)),
        "rows are lost",
    )


def check_no_row_is_doubled(subject: ClassesConformance) -> None:
    """No row ends in two places."""
    _row_problems(
        subject, lambda outcome: oracle.doubled_rows(found_rows(outcome)), "rows are doubled"
    )


def check_no_row_is_invented(subject: ClassesConformance) -> None:
    """No row appears that was not given: the method works on a subset of the table."""
    _row_problems(
        subject,
        lambda outcome: oracle.invented_rows(outcome.scenario.facts.rows, found_rows(outcome)),
        "rows appear that were not given",
    )


def refused_classes(subject: ClassesConformance, outcome: ScenarioResult) -> list[int]:
    """Return the sizes of the classes that the oracle refuses."""
    facts: ClassFacts = outcome.scenario.facts
    sizes_only = subject.build_method().guard_use == "size"
    satisfied = facts.demand.large_enough if sizes_only else facts.demand.holds
    return [
        len(members)
        for members in found_classes(outcome)
        if not satisfied([facts.sample.rows[row] for row in set(members)], facts.sample)
    ]


def check_every_class_is_admitted(subject: ClassesConformance) -> None:
    """The oracle, which recounts in plain Python, admits every class (k, l, t, sampling)."""
    _demand_soundness(subject, True)
    _judge_classes(subject, "")


def check_row_order_does_not_matter(subject: ClassesConformance) -> None:
    """The guarantee holds whatever the order of the rows."""
    _demand_soundness(subject, True)
    if any(refused_classes(subject, item) for item in subject.class_results()):
        raise NotApplicable("classes are refused in the plain order already")
    _judge_classes(subject, "order")


def _judge_classes(subject: ClassesConformance, special: str) -> None:
    refuse_problems(
        (
            f"{item.scenario.name}: {len(sizes)} of {len(item.seen.result)} classes, "
            f"sizes {sizes[:5]}"
            for item in subject.class_results(special)
            if (sizes := refused_classes(subject, item))
        ),
        "classes are refused",
    )


def _demand_soundness(subject: ClassesConformance, wanted: bool) -> None:
    if subject.build_method().sound is not wanted:
        message = "sound = False: the final check refuses what is inadmissible"
        raise NotApplicable(message if wanted else "the method is sound: nothing has to be refused")


def check_unsound_classes_are_refused(subject: ClassesConformance) -> None:
    """What a method with `sound = False` does wrong is seen by the runner's final check."""
    _demand_soundness(subject, False)
    refuse_problems(
        (
            f"{item.scenario.name}: {len(refused_classes(subject, item))} classes are inadmissible"
            for item in subject.class_results()
            if refused_classes(subject, item) and not _final_check_refuses(item)
        ),
        "the final check published what the oracle refuses",
    )


def _final_check_refuses(outcome: ScenarioResult) -> bool:
    """Publish every class under a cell of its own and let the runner's check judge that."""
    facts: ClassFacts = outcome.scenario.facts
    table, classes = facts.sample.table(), outcome.seen.result
    labels = as_rows(list(range(len(classes)))).astype(str).astype(object)
    release = Release.from_cells(table, classes, [labels for _ in table.axes], truthful=False)
    persons = table.persons
    order = sorted(found_rows(outcome))
    models = tuple((type(model).__name__, model) for model in facts.demand.guard().models)
    verdicts = judge_models(release, models, None if persons is None else persons[order])
    # A sampler's share is not part of the frame; the guard alone can refuse for it.
    return facts.demand.halved or not all(verdict.holds for verdict in verdicts)


def check_has_no_problem_with_its_table(subject: ClassesConformance) -> None:
    """`problem` accepts the tables on which the method works."""
    refuse_problems(
        (item.scenario.name for item in subject.successes() if item.scenario.may_raise),
        "the method works and complains",
    )


#: Checks of everything that returns classes.
CLASS_CHECKS: tuple[Check, ...] = (
    *DECLARATION_CHECKS,
    *PURITY_CHECKS,
    *LEAK_CHECKS,
    check_returns_classes,
    check_no_row_is_lost,
    check_no_row_is_doubled,
    check_no_row_is_invented,
    check_every_class_is_admitted,
    check_row_order_does_not_matter,
    check_unsound_classes_are_refused,
    check_has_no_problem_with_its_table,
)


def reordered_clinics() -> Iterator[tuple[str, Sample]]:
    """Yield the ordinary table with its rows in other orders."""
    ordinary = tables.clinic()
    by_age = sorted(range(len(ordinary)), key=lambda at: str(ordinary.rows[at]["age"]))
    yield "rows by age", ordinary.take(by_age)
    yield "rows by falling age", ordinary.take(by_age[::-1])
    yield "rows shuffled", ordinary.take(tables.shuffled_order(len(ordinary), 3))
