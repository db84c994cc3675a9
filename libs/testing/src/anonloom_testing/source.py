"""Conformance of sources: the table that comes out is the one that was stored."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

import pandas as pd

from anonloom import Column, Schema, StageContext, Table
from anonloom.errors import DataError
from anonloom_testing import tables
from anonloom_testing.canaries import CANARIES, CANARY_TABLES
from anonloom_testing.cell_leaks import LEAK_CHECKS
from anonloom_testing.conformance import Check, refuse_problems
from anonloom_testing.declaration import DECLARATION_CHECKS
from anonloom_testing.purity import PURITY_CHECKS, MethodConformance, Scenario, ScenarioResult
from anonloom_testing.results import NotApplicable
from anonloom_testing.tables import ORDINARY_TABLES, Sample

#: Rows that a source is asked for in advance.
_FIRST = 3


class SourceConformance(MethodConformance):
    """Checks of a source.

    A subclass gives `source`: it stores a frame where the source can read it and returns the
    source. A source that makes its rows itself cannot do that; it gives `schema` instead, and only
    what does not need stored rows is checked.

    Attributes
    ----------
    tables
        The tables to store; all of the kit's by default.
    schema
        For a source that makes its rows itself: the columns to load.

    Examples
    --------
    In ``tests/test_conformance.py``::

        class TestFeather(SourceConformance):
            method = Feather
            params = {"path": "table.feather"}

            def source(self, frame, folder):
                frame.to_feather(folder / "table.feather")
                return Feather(path=folder / "table.feather")
    """

    kind = "source"
    tables: ClassVar[tuple[Callable[[], Sample], ...]] = ORDINARY_TABLES
    schema: ClassVar[Schema | None] = None

    def source(self, frame: pd.DataFrame, folder: Path) -> Any:
        """Store the frame in the folder and return the source that reads it."""
        raise NotApplicable("no source(frame, folder): the subclass in the plugin's tests gives it")

    @property
    def makes_its_rows(self) -> bool:
        """Whether the rows are the source's own."""
        return self.schema is not None

    def call_method(self, method: Any, inputs: Mapping[str, Any], context: StageContext) -> Any:
        """Store and load."""
        if self.makes_its_rows:
            return method.load(inputs["schema"], context)
        with TemporaryDirectory() as folder:
            source = self.source(inputs["frame"], Path(folder))
            names = source.columns()
            table = source.load(inputs["schema"], context)
            return table, names, source.first_rows(tuple(names or ()), _FIRST)

    def scenarios(self) -> Iterator[Scenario]:
        """Yield every table, one with a column too many, and one with a column too few."""
        if self.schema is not None:
            own = self.schema
            yield Scenario("its own rows", lambda: {"schema": own})
            return  # what it makes is nobody's
        self._demand_source()
        for make in self.tables:
            yield _scenario(make.__name__, make(), make().schema)
        clinic = tables.clinic()
        fewer = Schema(tuple(column for column in clinic.schema if column.name != "note"))
        yield _scenario("a column that is not declared", clinic, fewer, "undeclared")
        more = Schema((*clinic.schema, Column(name="height", role="other")))
        yield _scenario("a column that is absent", clinic, more, "absent")
        for make in CANARY_TABLES:
            sample = make()
            yield _scenario(make.__name__, sample, sample.schema, CANARIES)
        for name in ("age", "admitted"):
            # All of them texts, as a file may hold them, and the last one is no number or date.
            texts = [{**row, name: str(row[name])} for row in sample.rows]
            texts[-1][name] = str(sample.rows[0]["note"])
            broken = Sample(texts, sample.schema)
            yield _scenario(f"a cell of '{name}' that is no value", broken, sample.schema, CANARIES)

    def _demand_source(self) -> None:
        if type(self).source is SourceConformance.source:
            raise NotApplicable("no source(frame, folder): the plugin's own tests give it")


def _scenario(name: str, sample: Sample, schema: Schema, special: str = "") -> Scenario:
    def make_inputs() -> Mapping[str, Any]:
        return {"frame": sample.frame, "schema": schema}

    return Scenario(
        name,
        make_inputs,
        sample,
        special,
        may_raise=special in ("absent", CANARIES),
        leak_sample=sample if special == CANARIES else None,
    )


def _table_of(outcome: ScenarioResult) -> Any:
    """Return the table of a result."""
    return outcome.seen.result[0] if isinstance(outcome.seen.result, tuple) else outcome.seen.result


def _demand_stored_rows(subject: SourceConformance) -> None:
    if subject.makes_its_rows:
        raise NotApplicable("the source makes its rows itself")


def check_returns_the_declared_columns(subject: SourceConformance) -> None:
    """The result is a `Table` with the declared columns and at least one row."""
    problems = []
    for item in subject.successes():
        table = _table_of(item)
        if not isinstance(table, Table):
            problems.append(f"{item.scenario.name}: a {type(table).__name__}")
        elif table.schema != item.scenario.make_inputs()["schema"] or not len(table):
            problems.append(item.scenario.name)
    refuse_problems(problems, "not the declared table")


def check_rows_are_those_stored(subject: SourceConformance) -> None:
    """The rows come out as they were stored, in their order; missing stays missing."""
    _demand_stored_rows(subject)
    problems = []
    for item in subject.successes():
        table = _table_of(item).with_all_columns()
        result = tables.plain(table.frame, table.schema)
        expected = list(item.scenario.facts.rows)
        if len(result) != len(expected):
            problems.append(
                f"{item.scenario.name}: {len(result)} rows, {len(expected)} were stored"
            )
            continue
        names = sorted(
            {
                name
                for a, b in zip(result, expected, strict=True)
                for name in a
                if name in b and not _alike(a[name], b[name])
            }
        )
        problems += [f"{item.scenario.name}: columns {names}"] if names else []
    refuse_problems(problems, "rows differ from what was stored")


def _alike(found: object, stored: object) -> bool:
    # A store without types gives a category's number back as text, and the other way round.
    return found == stored or (found is not None and str(found) == str(stored))


def check_undeclared_columns_stay_behind(subject: SourceConformance) -> None:
    """A column that the schema does not declare is not in the table."""
    _demand_stored_rows(subject)
    for item in subject.successes("undeclared"):
        assert "note" not in _table_of(item).with_all_columns().frame.columns


def check_absent_column_is_a_data_error(subject: SourceConformance) -> None:
    """A declared column that the data lack raises `DataError`, whose exit code is 4."""
    _demand_stored_rows(subject)
    subject.successes()  # a source that loads nothing is blamed for that alone
    for item in subject.scenario_results("absent"):
        assert item.seen.error is not None, "nothing was raised"
        kind = type(item.seen.error).__name__
        assert isinstance(item.seen.error, DataError), f"{kind}: {item.seen.error}"


def check_first_rows_are_a_look_ahead(subject: SourceConformance) -> None:
    """`first_rows` has the columns that were asked for in no more rows than asked, or is None."""
    _demand_stored_rows(subject)
    problems = []
    for item in subject.successes():
        _, names, first = item.seen.result
        if names is None or first is None:
            continue
        rows = min(_FIRST, len(item.scenario.facts.rows))
        if list(first.columns) != list(names) or len(first) != rows:
            problems.append(item.scenario.name)
    refuse_problems(problems, "first_rows() gives other columns or another number of rows")


def check_columns_are_listed_truly(subject: SourceConformance) -> None:
    """`columns` names all columns of the data, or says None."""
    _demand_stored_rows(subject)
    refuse_problems(
        (
            item.scenario.name
            for item in subject.successes()
            if item.seen.result[1] is not None
            and sorted(item.seen.result[1]) != sorted(item.scenario.facts.schema.names)
        ),
        "columns() does not name the columns of the data",
    )


_CHECKS: tuple[Check, ...] = (
    check_returns_the_declared_columns,
    check_rows_are_those_stored,
    check_undeclared_columns_stay_behind,
    check_absent_column_is_a_data_error,
    check_columns_are_listed_truly,
    check_first_rows_are_a_look_ahead,
)
SourceConformance.checks = (*DECLARATION_CHECKS, *PURITY_CHECKS, *LEAK_CHECKS, *_CHECKS)
