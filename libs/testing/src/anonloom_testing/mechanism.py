"""Conformance of mechanisms: the protected table is honest about where its rows came from."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

import attrs

from anonloom import Release, StageContext, Table
from anonloom_testing import oracle, tables
from anonloom_testing.canaries import CANARIES, CANARY_TABLES
from anonloom_testing.cell_leaks import LEAK_CHECKS
from anonloom_testing.conformance import Check, refuse_problems
from anonloom_testing.declaration import DECLARATION_CHECKS
from anonloom_testing.oracle import Row
from anonloom_testing.purity import PURITY_CHECKS, MethodConformance, Scenario, ScenarioResult
from anonloom_testing.results import NotApplicable
from anonloom_testing.tables import ORDINARY_TABLES, Sample, as_rows


@attrs.frozen(eq=False)
class MechanismFacts:
    """What the oracle knows: the rows of the source, and which of them the table holds."""

    sample: Sample
    rows: list[int]


class MechanismConformance(MethodConformance):
    """Checks of a mechanism.

    The kit's column `note` is different in every row. It tells whether the origin of a row is what
    the mechanism says, as long as the mechanism leaves it alone.

    Attributes
    ----------
    tables
        The tables to try; all of the kit's by default.

    Examples
    --------
    In ``tests/test_conformance.py``::

        class TestDropColumns(MechanismConformance):
            method = DropColumns
            params = {"columns": ["outcome"]}
    """

    kind = "mechanism"
    tables: ClassVar[tuple[Callable[[], Sample], ...]] = ORDINARY_TABLES

    def call_method(self, method: Any, inputs: Mapping[str, Any], context: StageContext) -> Any:
        """Protect."""
        return method.protect(inputs["table"], context)

    def scenarios(self) -> Iterator[Scenario]:
        """Yield every table, and a part of one, whose rows are not numbered from 0."""
        for make in self.tables:
            sample = make()
            yield _scenario(make.__name__, sample, list(range(len(sample))))
        clinic = tables.clinic()
        yield _scenario("a part of a table", clinic, tables.shuffled_order(len(clinic), 4)[:40])
        for make in CANARY_TABLES:
            sample = make()
            yield _scenario(make.__name__, sample, list(range(len(sample) - 30)), CANARIES)
        yield _scenario("no column that it may see", sample, [0, 1, 2], CANARIES, blind=True)

    def release_of(self, outcome: ScenarioResult) -> Release | None:
        """Return the protected table as it would be published without further stages."""
        return (
            Release.as_it_is(outcome.seen.result)
            if isinstance(outcome.seen.result, Table)
            else None
        )


def _scenario(
    name: str, sample: Sample, rows: list[int], special: str = "", blind: bool = False
) -> Scenario:
    def make_inputs() -> Mapping[str, Any]:
        table = sample.table().restricted_to(frozenset()) if blind else sample.table()
        return {"table": table if len(rows) == len(sample) else table.take(as_rows(rows))}

    leak_sample = sample if special == CANARIES else None
    facts = MechanismFacts(sample, rows)
    return Scenario(name, make_inputs, facts, special, may_raise=blind, leak_sample=leak_sample)


def check_returns_a_table(subject: MechanismConformance) -> None:
    """The result is a `Table`, whose columns were columns of the input."""
    problems = []
    for item in subject.successes():
        result = item.seen.result
        if not isinstance(result, Table):
            problems.append(f"{item.scenario.name}: a {type(result).__name__}")
        elif not set(result.schema.names) <= set(item.scenario.facts.sample.schema.names):
            problems.append(f"{item.scenario.name}: there are new columns")
    refuse_problems(problems, "not a protected version of the table")


def _tables(subject: MechanismConformance) -> Iterator[ScenarioResult]:
    return (item for item in subject.successes() if isinstance(item.seen.result, Table))


def check_origin_is_honest(subject: MechanismConformance) -> None:
    """`origin` names the source row of every row, or is None and no row is a source row."""
    refuse_problems(
        (
            f"{table.scenario.name}: {message}"
            for table in _tables(subject)
            if (message := _dishonesty(table))
        ),
        "the origin is not true",
    )


def _dishonesty(outcome: ScenarioResult) -> str:
    facts: MechanismFacts = outcome.scenario.facts
    result = outcome.seen.result.with_all_columns()
    results = tables.plain(result.frame, result.schema)
    if result.origin is None:
        copies = (
            sum(row in list(facts.sample.rows) for row in results)
            if _whole(outcome, results)
            else 0
        )
        return f"{copies} rows are rows of the source" if copies > len(results) / 2 else ""
    origin = [int(row) for row in result.origin]
    if len(origin) != len(results):
        return f"{len(origin)} origins for {len(results)} rows"
    strange = sorted(set(origin) - set(facts.rows))
    if strange:
        return f"{len(strange)} origins are not in the input"
    notes = {row["note"] for row in facts.sample.rows}
    wrong = sum(
        row.get("note") in notes and row["note"] != facts.sample.rows[index]["note"]
        for index, row in zip(origin, results, strict=True)
    )
    return f"{wrong} rows come from another row than they say" if wrong else ""


def _whole(outcome: ScenarioResult, found: list[dict[str, object]]) -> bool:
    return bool(found) and set(found[0]) == set(outcome.scenario.facts.sample.schema.names)


def check_claim_of_truth(subject: MechanismConformance) -> None:
    """If the class says `truthful`, every cell that is left is the original one, or covers it.

    Only a column that is declared anew may hold coarser cells: a replay publishes the others as
    their declaration says.
    """
    if not subject.build_method().truthful:
        raise NotApplicable("truthful = False: cells need not be the original ones")
    problems = []
    for table in _tables(subject):
        sample: Sample = table.scenario.facts.sample
        result = table.seen.result.with_all_columns()
        if result.origin is None:
            problems.append(f"{table.scenario.name}: truthful, but without origin")
            continue
        anew = {column.name for column in result.schema if column != sample.schema[column.name]}
        changed = sum(
            not _is_true(row, sample.rows[int(index)], sample, anew)
            for index, row in zip(
                result.origin, tables.plain(result.frame, result.schema), strict=False
            )
        )
        problems += [f"{table.scenario.name}: {changed} rows"] if changed else []
    refuse_problems(problems, "cells are not the original ones")


def _is_true(row: Mapping[str, object], original: Row, sample: Sample, anew: set[str]) -> bool:
    return all(
        cell == original[name]
        or (name in anew and oracle.covers(cell, original[name], sample.above.get(name)))
        for name, cell in row.items()
    )


_CHECKS: tuple[Check, ...] = (check_returns_a_table, check_origin_is_honest, check_claim_of_truth)
MechanismConformance.checks = (*DECLARATION_CHECKS, *PURITY_CHECKS, *LEAK_CHECKS, *_CHECKS)
