"""Sources that keep their promises, and those that break one."""

from pathlib import Path

import attrs
import pandas as pd
import pytest

from anonloom.data.schema import Column, Schema
from anonloom.data.table import Table
from anonloom.kinds.source import Source
from anonloom.params import param
from anonloom.testing import SourceConformance, tables
from anonloom.testing.conduct import CONDUCT
from anonloom.testing.declaring import DECLARED

#: The tables that matter to the broken toys; the good ones meet all of them.
FEW = (tables.clinic, tables.one_row, tables.missing_values, tables.incomplete_rows)


@attrs.frozen(kw_only=True)
class Pickled(Source):
    """Reads a pickled frame."""

    path: Path = param(help="The file.")

    def frame(self):
        return pd.read_pickle(self.path)

    def load(self, schema, run):
        return Table.build(self.frame(), schema)

    def columns(self):
        return tuple(self.frame().columns)


class PickledConformance(SourceConformance):
    params = {"path": "table.pickle"}

    def source(self, frame, folder):
        frame.to_pickle(folder / "table.pickle")
        return self.made(path=str(folder / "table.pickle"))


class LosesLast(Pickled):
    def frame(self):
        frame = super().frame()
        return frame.iloc[: max(1, len(frame) - 1)]

    def columns(self):
        return None


class KeepsUndeclared(Pickled):
    def load(self, schema, run):
        if "note" not in schema:
            schema = Schema((*schema, Column(name="note", role="other")))
        return super().load(schema, run)


class KeyErrors(Pickled):
    def load(self, schema, run):
        frame = self.frame()
        return Table.build(frame[list(schema.names)], schema)


class MisnamesColumns(Pickled):
    def columns(self):
        return (*super().columns(), "height")


class OtherSchema(Pickled):
    def load(self, schema, run):
        table = super().load(schema, run)
        return attrs.evolve(table, schema=Schema(table.schema.columns[::-1]))


GOOD = [(PickledConformance, Pickled)]

BROKEN = [
    (PickledConformance, LosesLast, "check_rows_are_those_stored"),
    (PickledConformance, KeepsUndeclared, "check_undeclared_columns_stay_behind"),
    (PickledConformance, KeyErrors, "check_absent_column_is_a_data_error"),
    (PickledConformance, MisnamesColumns, "check_columns_are_listed_truly"),
    (PickledConformance, OtherSchema, "check_returns_the_declared_columns"),
]


@pytest.mark.parametrize(("conformance", "cls"), GOOD, ids=lambda one: one.__name__)
def test_good_toys_pass_every_check(judged, conformance, cls):
    results = judged(conformance, cls)

    assert {} == results.failed
    assert len([result for result in results if result.status == "passed"]) >= len(results) - 3


@pytest.mark.parametrize(
    ("conformance", "cls", "check"), BROKEN, ids=[cls.__name__ for _, cls, _ in BROKEN]
)
def test_each_broken_toy_fails_exactly_the_check_that_it_breaks(judged, conformance, cls, check):
    found = judged(conformance, cls, tables=FEW).failed

    assert [check] == list(found), found


def test_every_check_is_broken_by_some_toy():
    """None of the checks passes whatever happens."""
    own = {
        check.__name__ for check in SourceConformance.checks if check not in (*DECLARED, *CONDUCT)
    }

    assert set() == own - {check for _, _, check in BROKEN}
