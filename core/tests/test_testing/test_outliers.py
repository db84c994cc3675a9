"""Outlier handlers that keep their promises, and those that break one."""

import attrs
import numpy as np
import pytest

from anonloom.data.classes import Classes
from anonloom.kinds.outliers import OutlierHandler
from anonloom.testing import OutlierHandlerConformance, tables
from anonloom.testing.dividing import DIVIDED

#: The tables that matter to the broken toys; the good ones meet all of them.
FEW = (tables.clinic, tables.one_row, tables.missing_values, tables.incomplete_rows)


@attrs.frozen(kw_only=True)
class Leave(OutlierHandler):
    """Moves nothing."""

    def handle(self, table, classes, guard, run):
        return classes


class HandlerLoses(Leave):
    def handle(self, table, classes, guard, run):
        return attrs.evolve(classes, suppressed=classes.suppressed[:-1])


class HandlerBelowK(Leave):
    def handle(self, table, classes, guard, run):
        if len(classes) and classes.sizes[0] > 1:
            return attrs.evolve(classes, bounds=np.insert(classes.bounds, 1, 1))
        return classes


class RecoversIncomplete(Leave):
    def handle(self, table, classes, guard, run):
        back = np.flatnonzero(table.incomplete)
        if not len(back) or not len(classes):
            return classes
        rows = np.append(classes.rows, back)
        left = np.setdiff1d(classes.suppressed, back)
        moved = Classes(rows, np.append(classes.bounds[:-1], len(rows)), left)
        return moved if guard.admits_classes(table, moved).all() else classes


GOOD = [(OutlierHandlerConformance, Leave)]

BROKEN = [
    (OutlierHandlerConformance, HandlerLoses, "check_no_row_is_lost"),
    (OutlierHandlerConformance, HandlerBelowK, "check_every_class_is_admitted"),
    (OutlierHandlerConformance, RecoversIncomplete, "check_incomplete_rows_stay_suppressed"),
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
    own = {check.__name__ for check in OutlierHandlerConformance.checks if check not in DIVIDED}

    assert set() == own - {check for _, _, check in BROKEN}
