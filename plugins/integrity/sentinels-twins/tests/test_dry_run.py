"""Rehearsals: made-up campaigns go through the same code as real ones, and come out as expected."""

import numpy as np
import pytest

from anonloom_sentinels_twins.dry_run import dry_run
from anonloom_sentinels_twins.scheme import SentinelsTwins
from anonloom_sentinels_twins.simulation import Setting
from anonloom_sentinels_twins.work_check import Campaign
from anonloom_sentinels_twins.workers import Honest, Malicious, Opportunistic, Proxy


def played(behaviour, runs=5, error=0.0, **setting):
    campaign = Campaign(
        jobs=300, workers=4, lazy=1, omission=0.5, classes=(0.5, 0.3, 0.2), budget=200, error=error
    )
    sizing = SentinelsTwins().size(campaign)
    chosen = Setting(behaviour=behaviour, **setting)
    return dry_run(campaign, sizing, chosen, runs, np.random.default_rng(1))


@pytest.mark.parametrize("error", [0.0, 0.02])
def test_honest_campaigns_pass(error):
    result = played(Honest(), error=error)
    assert (5, 0.0, 0) == (result.unnoticed.count, result.named, result.wronged.count)


@pytest.mark.parametrize("behaviour", [None, Opportunistic(0.5), Malicious(0.5)])
@pytest.mark.parametrize("error", [0.0, 0.02])
def test_who_omits_half_of_the_work_is_named_and_nobody_else(behaviour, error):
    result = played(behaviour, error=error)
    assert (0, 1.0, 0) == (result.unnoticed.count, result.named, result.wronged.count)


def test_a_proxy_with_a_perfect_model_is_never_noticed():
    assert 5 == played(Proxy(), certain=1.0, accuracy=1.0).unnoticed.count
    assert 0 == played(Proxy(), certain=1.0, accuracy=0.3).unnoticed.count
