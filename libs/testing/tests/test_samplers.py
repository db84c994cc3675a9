"""Samplers that keep their promises, and those that break one."""

import attrs
import numpy as np
from kit_toy_tests import ToyTests

from anonloom import Sampler
from anonloom_testing import SamplerConformance


@attrs.frozen(kw_only=True)
class Half(Sampler):
    """Keeps half of every class, rounded up."""

    def sample(self, classes, context):
        mask = np.zeros(len(classes.rows), bool)
        for start, stop in zip(classes.starts, classes.stops, strict=True):
            size = stop - start
            mask[start + context.rng.permutation(size)[: (size + 1) // 2]] = True
        return mask

    def least_kept(self, sizes):
        return (sizes + 1) // 2


class HalfConformance(SamplerConformance):
    rate = 0.5


class WrongMask(Half):
    def sample(self, classes, context):
        return super().sample(classes, context).astype(int)


class LyingLeast(Half):
    def least_kept(self, sizes):
        return np.minimum((sizes + 1) // 2 + 1, sizes)


class NegativeLeast(Half):
    def least_kept(self, sizes):
        return np.where(sizes == 1, -1, (sizes + 1) // 2)


class KeepsMore(Half):
    def sample(self, classes, context):
        return np.ones(len(classes.rows), bool)


class SeesRows(Half):
    def sample(self, classes, context):
        context.rng.bytes(int(classes.rows.sum()) % 7)
        return super().sample(classes, context)


class TestToys(ToyTests):
    good = [(HalfConformance, Half)]
    broken = [
        (HalfConformance, WrongMask, "check_mask_fits"),
        (HalfConformance, LyingLeast, "check_least_kept_is_honoured"),
        (HalfConformance, NegativeLeast, "check_least_kept_is_possible"),
        (HalfConformance, KeepsMore, "check_rate_is_kept"),
        (HalfConformance, SeesRows, "check_sees_labels_only"),
    ]
