"""Conformance of mechanisms: the protected table is honest about where its rows came from."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

import attrs

from anonloom import Release, StageContext, Table
from anonloom_testing import tables
from anonloom_testing.canaries import CANARIES, CANARY_TABLES
from anonloom_testing.cell_leaks import OVERHEARD
from anonloom_testing.conformance import Check, refuse_problems
from anonloom_testing.declaration import DECLARED
from anonloom_testing.oracle import Row
from anonloom_testing.purity import CONDUCT, Acting, Played, Scene
from anonloom_testing.results import NotApplicable
from anonloom_testing.tables import ORDINARY_TABLES, Sample, as_rows


@attrs.frozen(eq=False)
class Known:
    """What the oracle knows: the rows of the source, and which of them the table holds."""

    sample: Sample
    rows: list[int]


class MechanismConformance(Acting):
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

    def act(self, method: Any, inputs: Mapping[str, Any], context: StageContext) -> Any:
        """Protect."""
        return method.protect(inputs["table"], context)

    def scenes(self) -> Iterator[Scene]:
        """Yield every table, and a part of one, whose rows are not numbered from 0."""
        for make in self.tables:
            sample = make()
            yield _scene(make.__name__, sample, list(range(len(sample))))
        clinic = tables.clinic()
        yield _scene("a part of a table", clinic, tables.shuffled(len(clinic), 4)[:40])
        for make in CANARY_TABLES:
            sample = make()
            yield _scene(make.__name__, sample, list(range(len(sample) - 30)), CANARIES)
        yield _scene("no column that it may see", sample, [0, 1, 2], CANARIES, blind=True)

    def release_of(self, one: Played) -> Release | None:
        """Return the protected table as it would be published without further stages."""
        return Release.as_it_is(one.seen.result) if isinstance(one.seen.result, Table) else None


def _scene(
    name: str, sample: Sample, rows: list[int], special: str = "", blind: bool = False
) -> Scene:
    def given() -> Mapping[str, Any]:
        table = sample.table().restricted_to(frozenset()) if blind else sample.table()
        return {"table": table if len(rows) == len(sample) else table.take(as_rows(rows))}

    overheard = sample if special == CANARIES else None
    known = Known(sample, rows)
    return Scene(name, given, known, special, refused=blind, overheard=overheard)


def check_returns_a_table(subject: MechanismConformance) -> None:
    """The result is a `Table`, whose columns were columns of the input."""
    problems = []
    for item in subject.returned():
        result = item.seen.result
        if not isinstance(result, Table):
            problems.append(f"{item.scene.name}: a {type(result).__name__}")
        elif not set(result.schema.names) <= set(item.scene.facts.sample.schema.names):
            problems.append(f"{item.scene.name}: there are new columns")
    refuse_problems(problems, "not a protected version of the table")


def _tables(subject: MechanismConformance) -> Iterator[Played]:
    return (item for item in subject.returned() if isinstance(item.seen.result, Table))


def check_origin_is_honest(subject: MechanismConformance) -> None:
    """`origin` names the source row of every row, or is None and no row is a source row."""
    refuse_problems(
        (
            f"{table.scene.name}: {message}"
            for table in _tables(subject)
            if (message := _dishonesty(table))
        ),
        "the origin is not true",
    )


def _dishonesty(one: Played) -> str:
    known: Known = one.scene.facts
    result = one.seen.result.with_all_columns()
    results = tables.plain(result.frame, result.schema)
    if result.origin is None:
        copies = (
            sum(row in list(known.sample.rows) for row in results) if _whole(one, results) else 0
        )
        return f"{copies} rows are rows of the source" if copies > len(results) / 2 else ""
    origin = [int(row) for row in result.origin]
    if len(origin) != len(results):
        return f"{len(origin)} origins for {len(results)} rows"
    strange = sorted(set(origin) - set(known.rows))
    if strange:
        return f"{len(strange)} origins are not in the input"
    notes = {row["note"] for row in known.sample.rows}
    wrong = sum(
        row.get("note") in notes and row["note"] != known.sample.rows[index]["note"]
        for index, row in zip(origin, results, strict=True)
    )
    return f"{wrong} rows come from another row than they say" if wrong else ""


def _whole(one: Played, found: list[dict[str, object]]) -> bool:
    return bool(found) and set(found[0]) == set(one.scene.facts.sample.schema.names)


def check_claim_of_truth(subject: MechanismConformance) -> None:
    """If the class says `truthful`, every cell that is left is the original one."""
    if not subject.build_method().truthful:
        raise NotApplicable("truthful = False: cells need not be the original ones")
    problems = []
    for table in _tables(subject):
        result = table.seen.result.with_all_columns()
        if result.origin is None:
            problems.append(f"{table.scene.name}: truthful, but without origin")
            continue
        changed = sum(
            not _contained(row, table.scene.facts.sample.rows[int(index)])
            for index, row in zip(
                result.origin, tables.plain(result.frame, result.schema), strict=False
            )
        )
        problems += [f"{table.scene.name}: {changed} rows"] if changed else []
    refuse_problems(problems, "cells are not the original ones")


def _contained(row: Mapping[str, object], original: Row) -> bool:
    return all(row[name] == original[name] for name in row)


_CHECKS: tuple[Check, ...] = (check_returns_a_table, check_origin_is_honest, check_claim_of_truth)
MechanismConformance.checks = (*DECLARED, *CONDUCT, *OVERHEARD, *_CHECKS)
