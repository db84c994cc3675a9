"""Collectors that keep their promises, and those that break one."""

import itertools

import attrs
import numpy as np
from kit_toy_tests import ToyTests

from anonloom import Collection, Collector
from anonloom_testing import (
    CollectorConformance,
)

# The kit runs two scenarios and then runs them again.
CALLS = itertools.count()


@attrs.frozen(kw_only=True)
class Trusted(Collector):
    """Runs the stages on the whole table."""

    def collect(self, table, stages, guard, context):
        return stages.run(table, guard)


class CollectsLess(Trusted):
    def collect(self, table, stages, guard, context):
        release = super().collect(table, stages, guard, context).release
        return Collection(release.take(np.arange(len(release) - 1)))


class CollectsAnything(Trusted):
    def collect(self, table, stages, guard, context):
        collection = super().collect(table, stages, guard, context)
        if next(CALLS) < 2:
            return collection
        return Collection(collection.release.take(np.arange(5)))


class ReturnsTheRelease(Trusted):
    """Does what collectors did before they returned a collection."""

    def collect(self, table, stages, guard, context):
        return super().collect(table, stages, guard, context).release


class PlansNothing(Trusted):
    def plan(self, rows, schema):
        return [""]


class TestToys(ToyTests):
    good = [(CollectorConformance, Trusted)]
    broken = [
        (CollectorConformance, CollectsLess, "check_release_equals_the_curators"),
        (CollectorConformance, ReturnsTheRelease, "check_release_equals_the_curators"),
        (CollectorConformance, CollectsAnything, "check_same_rows_again"),
        (CollectorConformance, PlansNothing, "check_says_what_it_guarantees"),
    ]
