"""Conformance of privacy models: `admits` agrees with a slow reference and keeps its claims."""

import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

import attrs
import numpy as np

from anonloom import StageContext
from anonloom_testing import tables
from anonloom_testing.canaries import CANARIES, CANARY_TABLES
from anonloom_testing.cell_leaks import LEAK_CHECKS
from anonloom_testing.conformance import Check, refuse_problems
from anonloom_testing.declaration import DECLARATION_CHECKS
from anonloom_testing.observation import watch
from anonloom_testing.oracle import Row
from anonloom_testing.purity import PURITY_CHECKS, MethodConformance, Scenario, ScenarioResult
from anonloom_testing.results import MissingEvidence, NotApplicable
from anonloom_testing.tables import ORDINARY_TABLES, Sample, as_rows


@attrs.frozen(eq=False)
class RangeFacts:
    """What the oracle knows: the plain rows, their order, and the ranges that are asked about."""

    sample: Sample
    order: list[int]
    ranges: list[tuple[int, int]]

    def members(self, start: int, stop: int) -> list[Row]:
        """Return the rows of one range."""
        return [self.sample.rows[row] for row in self.order[start:stop]]


class PrivacyModelConformance(MethodConformance):
    """Checks of a privacy model.

    A subclass gives `reference`: the model's definition as a slow and obvious function of plain
    rows. Rows are dictionaries by column name, with None for missing; `illness` is sensitive. Where
    the kit's table has a column `person`, several rows may belong to one person.

    Attributes
    ----------
    tables
        The tables to try; all of the kit's by default.

    Examples
    --------
    In ``tests/test_conformance.py``::

        class TestLDiversity(PrivacyModelConformance):
            method = LDiversity
            params = {"l": 2, "of": "illness"}

            def reference(self, rows, everybody):
                return len({row["illness"] for row in rows} - {None}) >= 2
    """

    kind = "privacy"
    tables: ClassVar[tuple[Callable[[], Sample], ...]] = ORDINARY_TABLES

    def reference(self, rows: list[Row], everybody: list[Row]) -> bool:
        """Say whether these rows may be published as one class of a table of everybody's rows.

        Rows that a column with `missing: suppress` suppresses are not among everybody's.
        """
        raise MissingEvidence("no reference: the subclass in the plugin's tests gives one")

    def call_method(self, method: Any, inputs: Mapping[str, Any], context: StageContext) -> Any:
        """Judge the ranges."""
        return method.admits(inputs["table"], inputs["rows"], inputs["starts"], inputs["stops"])

    def scenarios(self) -> Iterator[Scenario]:
        """Yield every table with random overlapping ranges of a random order of its rows."""
        for make in self.tables:
            sample = make()
            order = tables.shuffled_order(len(sample), 1)
            yield _scenario(make.__name__, sample, order, overlapping_ranges(len(order)))
            by_value = sorted(order, key=lambda at: str(sample.rows[at]))  # used at once
            yield _scenario(
                f"{make.__name__}, sorted", sample, by_value, overlapping_ranges(len(order))
            )
        sample = tables.clinic()
        some = tables.shuffled_order(len(sample), 2)[:30]
        yield _scenario("a subset of the rows", sample, some, overlapping_ranges(len(some)))
        yield _scenario("no ranges", sample, some, [])
        for make in CANARY_TABLES:
            sample = make()
            rows = list(range(len(sample)))
            yield _scenario(make.__name__, sample, rows, overlapping_ranges(len(rows)), CANARIES)
        yield _scenario("no column that it may see", sample, rows, [(0, 9)], CANARIES, blind=True)

    def extra_outputs(self, outcome: ScenarioResult) -> Iterator[tuple[str, str | bytes]]:
        """Yield what would pass, and what is wrong with the table."""
        inputs, model = outcome.scenario.make_inputs(), self.build_method()
        yield "problem", str(model.problem(outcome.scenario.facts.sample.schema))
        asked = watch(lambda: model.would_pass(*inputs.values()), {})
        yield "would_pass", f"{asked.result} {asked.error} {asked.printed} {asked.logged}"


def overlapping_ranges(count: int) -> list[tuple[int, int]]:
    """Return ranges of up to `count` positions: the whole, all short ones, and random ones."""
    rng = random.Random(count)
    results = [(0, count)]
    results += [
        (index, index + size) for size in (1, 2, 3, 5) for index in range(0, count - size + 1, 4)
    ]
    for _ in range(60):
        start = rng.randrange(count)
        results.append((start, rng.randint(start + 1, count)))
    return results


def _scenario(
    name: str,
    sample: Sample,
    order: list[int],
    ranges: list[tuple[int, int]],
    special: str = "",
    blind: bool = False,
) -> Scenario:
    def make_inputs() -> Mapping[str, Any]:
        return {
            "table": sample.table().restricted_to(frozenset()) if blind else sample.table(),
            "rows": as_rows(order),
            "starts": as_rows([start for start, _ in ranges]),
            "stops": as_rows([stop for _, stop in ranges]),
        }

    return Scenario(
        name,
        make_inputs,
        RangeFacts(sample, order, ranges),
        special,
        may_raise=blind,
        leak_sample=sample if special == CANARIES else None,
    )


def _asker(
    subject: PrivacyModelConformance, outcome: ScenarioResult
) -> Callable[[list[tuple[int, int]]], list[bool]]:
    """Return a way to ask about other ranges of the same rows; one table serves all questions."""
    inputs, model = outcome.scenario.make_inputs(), subject.build_method()

    def ask(ranges: list[tuple[int, int]]) -> list[bool]:
        starts, stops = as_rows([a for a, _ in ranges]), as_rows([b for _, b in ranges])
        verdicts = watch(lambda: model.admits(inputs["table"], inputs["rows"], starts, stops), {})
        return [] if verdicts.result is None else [bool(x) for x in verdicts.result]

    return ask


def _fits(outcome: ScenarioResult) -> bool:
    verdict = np.asarray(outcome.seen.result)
    return verdict.dtype == bool and verdict.shape == (len(outcome.scenario.facts.ranges),)


def _verdicts(subject: PrivacyModelConformance) -> Iterator[tuple[ScenarioResult, list[bool]]]:
    for item in subject.successes():
        if _fits(item):
            yield item, [bool(verdict) for verdict in item.seen.result]


def check_verdicts_fit(subject: PrivacyModelConformance) -> None:
    """The result is an array of bools with one element per range, also when there is none."""
    refuse_problems(
        (item.scenario.name for item in subject.successes() if not _fits(item)),
        "the verdicts do not fit",
    )


def check_agrees_with_the_reference(subject: PrivacyModelConformance) -> None:
    """Every verdict is that of the slow reference."""
    problems = []
    for item, verdicts in _verdicts(subject):
        facts: RangeFacts = item.scenario.facts
        needed = [col.name for col in facts.sample.schema if col.missing == "suppress"]
        everybody = [
            row for row in facts.sample.rows if all(row[name] is not None for name in needed)
        ]
        for (start, stop), verdict in zip(facts.ranges, verdicts, strict=True):
            expected = subject.reference(facts.members(start, stop), everybody)
            if expected is not verdict:
                message = "admits" if verdict else "refuses"
                problems.append(f"{item.scenario.name}: the model {message} rows {start}:{stop}")
    refuse_problems(problems, "the model disagrees with the reference")


def check_ranges_are_judged_alone(subject: PrivacyModelConformance) -> None:
    """A verdict does not depend on the other ranges that are asked about."""
    problems = []
    for item, verdicts in _verdicts(subject):
        ask = _asker(subject, item)
        alone = [ask([span]) for span in item.scenario.facts.ranges[::7]]
        if alone != [[verdict] for verdict in verdicts[::7]]:
            problems.append(item.scenario.name)
    refuse_problems(problems, "a range is judged differently in company")


def check_claim_of_monotonicity(subject: PrivacyModelConformance) -> None:
    """If the model says `monotone`, the union of two admitted classes is admitted."""
    if not subject.method.monotone:  # type: ignore[attr-defined]  # every privacy model has it
        raise NotApplicable("the model does not claim to be monotone")
    problems = []
    for item in subject.successes():
        count = len(item.scenario.facts.order)
        triples = [
            (a, a + x, a + x + y)
            for x, y in ((1, 1), (2, 2), (2, 3), (3, 3), (3, 4), (5, 5), (4, 7), (10, 5), (12, 20))
            for a in range(0, count - x - y + 1, 2)
        ]
        ask = _asker(subject, item)
        left = ask([(a, b) for a, b, _ in triples])
        right = ask([(b, c) for _, b, c in triples])
        union = ask([(a, c) for a, _, c in triples])
        broken = sum(x and y and not z for x, y, z in zip(left, right, union, strict=True))
        if broken:
            problems.append(
                f"{item.scenario.name}: {broken} unions of admitted classes are refused"
            )
    refuse_problems(problems, "the model is not monotone")


def check_claim_of_size(subject: PrivacyModelConformance) -> None:
    """No class below `min_size` is admitted; with `size_only`, every other one is."""
    model, problems = subject.build_method(), []
    for item, verdicts in _verdicts(subject):
        person = item.scenario.facts.sample.person
        for (start, stop), verdict in zip(item.scenario.facts.ranges, verdicts, strict=True):
            small = stop - start < model.min_size
            if (small and verdict) or (model.size_only and person is None and verdict is small):
                message = "admitted" if verdict else "refused"
                problems.append(f"{item.scenario.name}: {stop - start} rows are {message}")
    refuse_problems(problems, f"min_size is {model.min_size}, size_only is {model.size_only}")


def check_says_what_would_pass(subject: PrivacyModelConformance) -> None:
    """`would_pass` gives one line of text for classes that are refused."""
    problems = []
    for item, verdicts in _verdicts(subject):
        if all(verdicts):
            continue
        inputs = item.scenario.make_inputs()
        words = subject.build_method().would_pass(*inputs.values())
        if not isinstance(words, str) or not words.strip() or "\n" in words:
            problems.append(f"{item.scenario.name}: {words!r}")
    refuse_problems(problems, "would_pass says nothing usable")


def check_has_no_problem_with_its_table(subject: PrivacyModelConformance) -> None:
    """`problem` accepts the tables on which the model works."""
    model = subject.build_method()
    refuse_problems(
        (
            f"{item.scenario.name}: {message}"
            for item in subject.successes()
            if (message := model.problem(item.scenario.facts.sample.schema)) is not None
        ),
        "the model works and complains",
    )


_CHECKS: tuple[Check, ...] = (
    check_verdicts_fit,
    check_agrees_with_the_reference,
    check_ranges_are_judged_alone,
    check_claim_of_monotonicity,
    check_claim_of_size,
    check_says_what_would_pass,
    check_has_no_problem_with_its_table,
)
PrivacyModelConformance.checks = (*DECLARATION_CHECKS, *PURITY_CHECKS, *LEAK_CHECKS, *_CHECKS)
