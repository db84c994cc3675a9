"""Mechanisms that keep their promises, and those that break one."""

import attrs
import numpy as np
from kit_toy_tests import ToyTests

from anonloom import Column, Mechanism, Schema, Table
from anonloom_testing import MechanismConformance


#: The tables that matter to the broken toys; the good ones meet all of them.
@attrs.frozen(kw_only=True)
class Shuffle(Mechanism):
    """Puts the rows into a random order."""

    truthful = True

    def protect(self, table, context):
        return table.take(context.rng.permutation(len(table)))


class LiesAboutOrigin(Shuffle):
    def protect(self, table, context):
        result = super().protect(table, context)
        return attrs.evolve(result, origin=np.sort(result.origin))

    truthful = False


class DeniesOrigin(Shuffle):
    truthful = False

    def protect(self, table, context):
        return attrs.evolve(super().protect(table, context), origin=None)


class ClaimsCells(Shuffle):
    def protect(self, table, context):
        frame = table.with_all_columns().frame.copy()
        frame["outcome"] = "well"
        return Table.build(frame, table.schema, table.origin)


class TestToys(ToyTests):
    good = [(MechanismConformance, Shuffle)]
    broken = [
        (MechanismConformance, LiesAboutOrigin, "check_origin_is_honest"),
        (MechanismConformance, DeniesOrigin, "check_origin_is_honest"),
        (MechanismConformance, ClaimsCells, "check_claim_of_truth"),
    ]
    on_tables = True
    elsewhere = {"check_returns_a_table"}


class AddsAColumn(Shuffle):
    truthful = False

    def protect(self, table, context):
        schema = Schema((*table.schema, Column(name="new", role="other")))
        return Table.build(table.with_all_columns().frame.assign(new=1), schema, table.origin)


def test_a_mechanism_may_not_invent_columns(judged):
    assert ["check_returns_a_table"] == list(judged(MechanismConformance, AddsAColumn).failed)
