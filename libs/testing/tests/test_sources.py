"""Sources that keep their promises, and those that break one."""

from pathlib import Path

import attrs
import pandas as pd
from kit_toy_tests import ToyTests

from anonloom import Column, Schema, Source, Table, param
from anonloom_testing import SourceConformance


#: The tables that matter to the broken toys; the good ones meet all of them.
@attrs.frozen(kw_only=True)
class Pickled(Source):
    """Reads a pickled frame."""

    path: Path = param(help="The file.")

    def frame(self):
        return pd.read_pickle(self.path)

    def load(self, schema, context):
        return Table.build(self.frame(), schema)

    def columns(self):
        return tuple(self.frame().columns)


class PickledConformance(SourceConformance):
    params = {"path": "table.pickle"}

    def source(self, frame, folder):
        frame.to_pickle(folder / "table.pickle")
        return self.build_method(path=str(folder / "table.pickle"))


class LosesLast(Pickled):
    def frame(self):
        frame = super().frame()
        return frame.iloc[: max(1, len(frame) - 1)]

    def columns(self):
        return None


class KeepsUndeclared(Pickled):
    def load(self, schema, context):
        if "note" not in schema:
            schema = Schema((*schema, Column(name="note", role="other")))
        return super().load(schema, context)


class KeyErrors(Pickled):
    def load(self, schema, context):
        frame = self.frame()
        return Table.build(frame[list(schema.names)], schema)


class MisnamesColumns(Pickled):
    def columns(self):
        return (*super().columns(), "height")


class LooksAtAll(Pickled):
    def first_rows(self, names, at_most):
        return self.frame()


class OtherSchema(Pickled):
    def load(self, schema, context):
        table = super().load(schema, context)
        return attrs.evolve(table, schema=Schema(table.schema.columns[::-1]))


class TestToys(ToyTests):
    good = [(PickledConformance, Pickled)]
    broken = [
        (PickledConformance, LosesLast, "check_rows_are_those_stored"),
        (PickledConformance, KeepsUndeclared, "check_undeclared_columns_stay_behind"),
        (PickledConformance, KeyErrors, "check_absent_column_is_a_data_error"),
        (PickledConformance, MisnamesColumns, "check_columns_are_listed_truly"),
        (PickledConformance, LooksAtAll, "check_first_rows_are_a_look_ahead"),
        (PickledConformance, OtherSchema, "check_returns_the_declared_columns"),
    ]
    on_tables = True
