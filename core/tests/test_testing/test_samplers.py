"""Samplers that keep their promises, and those that break one."""

import attrs
import numpy as np
import pytest

from anonloom.kinds.sampler import Sampler
from anonloom.testing import SamplerConformance
from anonloom.testing.conduct import CONDUCT
from anonloom.testing.declaring import DECLARED


@attrs.frozen(kw_only=True)
class Half(Sampler):
    """Keeps half of every class, rounded up."""

    def sample(self, classes, run):
        mask = np.zeros(len(classes.rows), bool)
        for start, stop in zip(classes.starts, classes.stops, strict=True):
            size = stop - start
            mask[start + run.rng.permutation(size)[: (size + 1) // 2]] = True
        return mask

    def least_kept(self, sizes):
        return (sizes + 1) // 2


class HalfConformance(SamplerConformance):
    rate = 0.5


class WrongMask(Half):
    def sample(self, classes, run):
        return super().sample(classes, run).astype(int)


class LyingLeast(Half):
    def least_kept(self, sizes):
        return np.minimum((sizes + 1) // 2 + 1, sizes)


class NegativeLeast(Half):
    def least_kept(self, sizes):
        return np.where(sizes == 1, -1, (sizes + 1) // 2)


class KeepsMore(Half):
    def sample(self, classes, run):
        return np.ones(len(classes.rows), bool)


class SeesRows(Half):
    def sample(self, classes, run):
        run.rng.bytes(int(classes.rows.sum()) % 7)
        return super().sample(classes, run)


GOOD = [(HalfConformance, Half)]

BROKEN = [
    (HalfConformance, WrongMask, "check_mask_fits"),
    (HalfConformance, LyingLeast, "check_least_kept_is_honoured"),
    (HalfConformance, NegativeLeast, "check_least_kept_is_possible"),
    (HalfConformance, KeepsMore, "check_rate_is_kept"),
    (HalfConformance, SeesRows, "check_sees_labels_only"),
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
        check.__name__ for check in SamplerConformance.checks if check not in (*DECLARED, *CONDUCT)
    }

    assert set() == own - {check for _, _, check in BROKEN}
