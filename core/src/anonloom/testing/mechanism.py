"""Conformance of mechanisms: the protected table is honest about where its rows came from."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

import attrs

from anonloom.data.release import Release
from anonloom.data.table import Table
from anonloom.kinds.context import Run
from anonloom.testing import tables
from anonloom.testing.canaries import CANARIES, CANARY_TABLES
from anonloom.testing.conduct import CONDUCT, Acting, Played, Scene
from anonloom.testing.conformance import Check, held
from anonloom.testing.declaring import DECLARED
from anonloom.testing.oracle import Row
from anonloom.testing.results import NotApplicable
from anonloom.testing.tables import ORDINARY_TABLES, Sample, as_rows
from anonloom.testing.telling import OVERHEARD


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

    def act(self, method: Any, inputs: Mapping[str, Any], run: Run) -> Any:
        """Protect."""
        return method.protect(inputs["table"], run)

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
        table = sample.table().narrowed(frozenset()) if blind else sample.table()
        return {"table": table if len(rows) == len(sample) else table.take(as_rows(rows))}

    overheard = sample if special == CANARIES else None
    known = Known(sample, rows)
    return Scene(name, given, known, special, refused=blind, overheard=overheard)


def check_returns_a_table(subject: MechanismConformance) -> None:
    """The result is a `Table`, whose columns were columns of the input."""
    problems = []
    for one in subject.returned():
        result = one.seen.result
        if not isinstance(result, Table):
            problems.append(f"{one.scene.name}: a {type(result).__name__}")
        elif not set(result.schema.names) <= set(one.scene.facts.sample.schema.names):
            problems.append(f"{one.scene.name}: there are new columns")
    held(problems, "not a protected version of the table")


def _tables(subject: MechanismConformance) -> Iterator[Played]:
    return (one for one in subject.returned() if isinstance(one.seen.result, Table))


def check_origin_is_honest(subject: MechanismConformance) -> None:
    """`origin` names the source row of every row, or is None and no row is a source row."""
    held(
        (f"{one.scene.name}: {said}" for one in _tables(subject) if (said := _dishonesty(one))),
        "the origin is not true",
    )


def _dishonesty(one: Played) -> str:
    known: Known = one.scene.facts
    result = one.seen.result.revealed()
    found = tables.plain(result.frame, result.schema)
    if result.origin is None:
        copies = sum(row in list(known.sample.rows) for row in found) if _whole(one, found) else 0
        return f"{copies} rows are rows of the source" if copies > len(found) / 2 else ""
    origin = [int(row) for row in result.origin]
    if len(origin) != len(found):
        return f"{len(origin)} origins for {len(found)} rows"
    strange = sorted(set(origin) - set(known.rows))
    if strange:
        return f"{len(strange)} origins are not in the input"
    notes = {row["note"] for row in known.sample.rows}
    wrong = sum(
        row.get("note") in notes and row["note"] != known.sample.rows[at]["note"]
        for at, row in zip(origin, found, strict=True)
    )
    return f"{wrong} rows come from another row than they say" if wrong else ""


def _whole(one: Played, found: list[dict[str, object]]) -> bool:
    return bool(found) and set(found[0]) == set(one.scene.facts.sample.schema.names)


def check_claim_of_truth(subject: MechanismConformance) -> None:
    """If the class says `truthful`, every cell that is left is the original one."""
    if not subject.made().truthful:
        raise NotApplicable("truthful = False: cells need not be the original ones")
    problems = []
    for one in _tables(subject):
        result = one.seen.result.revealed()
        if result.origin is None:
            problems.append(f"{one.scene.name}: truthful, but without origin")
            continue
        changed = sum(
            not _contained(row, one.scene.facts.sample.rows[int(at)])
            for at, row in zip(
                result.origin, tables.plain(result.frame, result.schema), strict=False
            )
        )
        problems += [f"{one.scene.name}: {changed} rows"] if changed else []
    held(problems, "cells are not the original ones")


def _contained(row: Mapping[str, object], original: Row) -> bool:
    return all(row[name] == original[name] for name in row)


_CHECKS: tuple[Check, ...] = (check_returns_a_table, check_origin_is_honest, check_claim_of_truth)
MechanismConformance.checks = (*DECLARED, *CONDUCT, *OVERHEARD, *_CHECKS)
