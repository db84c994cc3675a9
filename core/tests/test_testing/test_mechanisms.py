"""Mechanisms that keep their promises, and those that break one."""

import attrs
import numpy as np
import pytest

from anonloom.data.schema import Column, Schema
from anonloom.data.table import Table
from anonloom.kinds.mechanism import Mechanism
from anonloom.testing import MechanismConformance, tables
from anonloom.testing.conduct import CONDUCT
from anonloom.testing.declaring import DECLARED

#: The tables that matter to the broken toys; the good ones meet all of them.
FEW = (tables.clinic, tables.one_row, tables.missing_values, tables.incomplete_rows)


@attrs.frozen(kw_only=True)
class Shuffle(Mechanism):
    """Puts the rows into a random order."""

    truthful = True

    def protect(self, table, run):
        return table.take(run.rng.permutation(len(table)))


class LiesAboutOrigin(Shuffle):
    def protect(self, table, run):
        found = super().protect(table, run)
        return attrs.evolve(found, origin=np.sort(found.origin))

    truthful = False


class DeniesOrigin(Shuffle):
    truthful = False

    def protect(self, table, run):
        return attrs.evolve(super().protect(table, run), origin=None)


class ClaimsCells(Shuffle):
    def protect(self, table, run):
        frame = table.revealed().frame.copy()
        frame["outcome"] = "well"
        return Table.build(frame, table.schema, table.origin)


GOOD = [(MechanismConformance, Shuffle)]

BROKEN = [
    (MechanismConformance, LiesAboutOrigin, "check_origin_is_honest"),
    (MechanismConformance, DeniesOrigin, "check_origin_is_honest"),
    (MechanismConformance, ClaimsCells, "check_claim_of_truth"),
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
        check.__name__
        for check in MechanismConformance.checks
        if check not in (*DECLARED, *CONDUCT)
    }
    elsewhere = {"check_returns_a_table"}

    assert set() == own - elsewhere - {check for _, _, check in BROKEN}


class AddsAColumn(Shuffle):
    truthful = False

    def protect(self, table, run):
        schema = Schema((*table.schema, Column(name="new", role="other")))
        return Table.build(table.revealed().frame.assign(new=1), schema, table.origin)


def test_a_mechanism_may_not_invent_columns(judged):
    assert ["check_returns_a_table"] == list(judged(MechanismConformance, AddsAColumn).failed)
