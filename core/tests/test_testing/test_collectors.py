"""Collectors that keep their promises, and those that break one."""

import itertools

import attrs
import numpy as np
import pytest

from anonloom.kinds.collector import Collector
from anonloom.testing import (
    CollectorConformance,
)
from anonloom.testing.conduct import CONDUCT
from anonloom.testing.declaring import DECLARED

# The kit plays two scenes and then plays them again.
CALLS = itertools.count()


@attrs.frozen(kw_only=True)
class Trusted(Collector):
    """Runs the stages on the whole table."""

    def collect(self, table, stages, guard, run):
        prepared = stages.prepare(table)
        return stages.sample(stages.generalize(prepared, stages.partition(prepared, guard)))


class CollectsLess(Trusted):
    def collect(self, table, stages, guard, run):
        release = super().collect(table, stages, guard, run)
        return release.take(np.arange(len(release) - 1))


class CollectsAnything(Trusted):
    def collect(self, table, stages, guard, run):
        release = super().collect(table, stages, guard, run)
        return release if next(CALLS) < 2 else release.take(np.arange(5))


class PlansNothing(Trusted):
    def plan(self, rows):
        return [""]


GOOD = [(CollectorConformance, Trusted)]

BROKEN = [
    (CollectorConformance, CollectsLess, "check_release_equals_the_curators"),
    (CollectorConformance, CollectsAnything, "check_same_rows_again"),
    (CollectorConformance, PlansNothing, "check_says_what_it_guarantees"),
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
    found = judged(conformance, cls).failed

    assert [check] == list(found), found


def test_every_check_is_broken_by_some_toy():
    """None of the checks passes whatever happens."""
    own = {
        check.__name__
        for check in CollectorConformance.checks
        if check not in (*DECLARED, *CONDUCT)
    }

    assert set() == own - {check for _, _, check in BROKEN}
