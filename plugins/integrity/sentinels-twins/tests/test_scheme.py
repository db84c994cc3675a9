"""What `size` states is met, and honest workers are left alone: counted over many campaigns."""

import math

import numpy as np
import pytest

from anonloom.errors import UsageError
from anonloom.kinds.work import Campaign, OmittedWork, Sizing
from anonloom.params import build
from anonloom.testing.work import answered, result_of, rows_of
from anonloom_sentinels_twins.judging import Rules, decide
from anonloom_sentinels_twins.posterior import prior_of
from anonloom_sentinels_twins.scheme import SentinelsTwins

# high, low, middle: the kit's results in the order of their names
CLASSES = (0.1, 0.6, 0.3)
RULES = Rules(accuse_at=None, level=0.01, prior=None)


def ten(**changes):
    """Ten workers of which four omit a fifth of their jobs."""
    given = {"jobs": 1000, "workers": 10, "lazy": 4, "omission": 0.2, "classes": CLASSES}
    return Campaign(**(given | changes))


def decided(campaign, sizing, runs, draw, lazy, seed):
    """Draw campaigns and judge them; return who was lazy, and the decisions."""
    rng = np.random.default_rng(seed)
    is_lazy = rng.permuted(np.tile(np.arange(campaign.workers) < lazy, (runs, 1)), axis=1)
    rates = np.where(is_lazy, campaign.omission, 0.0)
    sentinels, twins = sizing.controls["sentinels"], sizing.controls["twins"]
    counts = draw(campaign, sentinels, twins, rates, rng)
    return is_lazy, decide(counts, campaign, RULES, prior_of(campaign), particles=64 if lazy else 8)


def at_most(rate, runs):
    """Return the largest count that a probability of `rate` makes believable."""
    return runs * rate + 4 * math.sqrt(runs * rate * (1 - rate))


@pytest.mark.long
@pytest.mark.parametrize("asked", [{"budget": 50}, {"epsilon": 0.05}, {"budget": 600}])
@pytest.mark.parametrize("error", [0.0, 0.02])
def test_omissions_are_noticed_as_stated_and_honest_workers_left_alone(asked, error, draw):
    campaign = ten(error=error, **asked)
    sizing = SentinelsTwins().size(campaign)
    runs = 2000
    lazy, decision = decided(campaign, sizing, runs, draw, campaign.lazy, seed=1)
    assert (~decision.noticed).sum() <= at_most(sizing.undetected, runs)
    assert (decision.accused & ~lazy).any(axis=1).mean() <= 0.01
    if error == 0:
        # Without an honest error the formula is exact, or nearly: not only a bound.
        assert abs((~decision.noticed).mean() - sizing.undetected) < 0.02


@pytest.mark.long
def test_with_many_controls_the_lazy_are_named(draw):
    campaign = ten(budget=1000)
    sizing = SentinelsTwins().size(campaign)
    lazy, decision = decided(campaign, sizing, 500, draw, campaign.lazy, seed=2)
    assert (decision.accused & ~lazy).any(axis=1).mean() <= 0.01
    assert decision.accused[lazy].mean() > 0.9


def test_a_lazy_majority_does_not_make_honest_workers_look_lazy(draw):
    """Six of ten omit nearly everything, and agree; two of ten, and a fifth, was expected."""
    campaign = ten(lazy=2, budget=600)
    rng, runs = np.random.default_rng(8), 100
    is_lazy = rng.permuted(np.tile(np.arange(10) < 6, (runs, 1)), axis=1)
    counts = draw(campaign, 5, 595, np.where(is_lazy, 0.9, 0.0), rng)
    decision = decide(counts, campaign, RULES, prior_of(campaign), particles=64)
    assert (decision.accused & ~is_lazy).any(axis=1).mean() <= 0.01
    assert decision.accused[is_lazy].mean() > 0.9


def test_an_honest_campaign_is_never_noticed_by_exact_controls(draw):
    campaign = ten(budget=200, workers=6)
    sizing = SentinelsTwins().size(campaign)
    _, decision = decided(campaign, sizing, 500, draw, 0, seed=3)
    assert (0, 0) == (decision.noticed.sum(), decision.accused.sum())


@pytest.mark.long
@pytest.mark.parametrize("error", [0.005, 0.02, 0.1])
def test_an_honest_campaign_is_noticed_by_tolerant_controls_at_the_stated_rate_at_most(error, draw):
    campaign = ten(budget=400, error=error)
    sizing = Sizing(controls={"sentinels": 100, "twins": 300}, undetected=0.0)
    runs = 2000
    _, decision = decided(campaign, sizing, runs, draw, 0, seed=4)
    assert decision.noticed.sum() <= at_most(RULES.level, runs)
    assert decision.accused.any(axis=1).sum() <= at_most(RULES.level, runs)


def whole(scheme, campaign, sizing, runs, lazy):
    """Assign and verify whole campaigns; return how often nothing was noticed."""
    jobs, known = rows_of(campaign.jobs, 1), rows_of(900, 2)
    known["result"] = result_of(known)
    silent = 0
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        given = scheme.assign(jobs, known, campaign, sizing, rng)
        try:
            scheme.verify(given.key, answered(given.batches, lazy, campaign.omission, rng))
        except OmittedWork:
            continue
        silent += 1
    return silent


@pytest.mark.long
def test_whole_campaigns_go_as_their_evidence_alone_says(draw):
    campaign = ten(jobs=300, workers=5, lazy=2, budget=25)
    scheme = SentinelsTwins(likeness=False)
    sizing, runs = scheme.size(campaign), 100
    _, decision = decided(campaign, sizing, 3000, draw, campaign.lazy, seed=5)
    expected = float((~decision.noticed).mean())
    silent = whole(scheme, campaign, sizing, runs, campaign.lazy)
    assert abs(silent - runs * expected) < 4 * math.sqrt(runs * expected * (1 - expected))
    assert runs / 5 == whole(scheme, campaign, sizing, runs // 5, 0)


def test_rows_that_can_be_told_apart_are_warned_of():
    jobs, known = rows_of(400, 1), rows_of(400, 2)
    known["result"] = result_of(known)
    known["weight"] += 5
    campaign = ten(jobs=400, workers=3, lazy=1, budget=20)
    scheme = SentinelsTwins()
    given = scheme.assign(jobs, known, campaign, scheme.size(campaign), np.random.default_rng(1))
    assert any("can be told from genuine rows" in warning for warning in given.warnings)
    quiet = SentinelsTwins(likeness=False)
    given = quiet.assign(jobs, known, campaign, scheme.size(campaign), np.random.default_rng(1))
    assert () == given.warnings


def test_sizes_follow_the_level():
    campaign = ten(epsilon=0.01, error=0.02)
    lax, strict = (SentinelsTwins(level=level).size(campaign).extra for level in (0.1, 1e-6))
    assert lax < strict


def test_a_key_of_something_else_is_refused():
    with pytest.raises(UsageError) as caught:
        SentinelsTwins().verify({"jobs": []}, [])
    assert str(caught.value) == "the key is none of this scheme"


def test_parameters_are_read_as_in_a_pipeline():
    scheme = build(SentinelsTwins, {"disguise": {"age": 2}, "accuse_at": 0.9, "prior": 0.1})
    assert (scheme.disguise, scheme.accuse_at, scheme.prior) == ({"age": 2}, 0.9, 0.1)


def test_judging_is_done_by_the_scheme_s_own_rules():
    """With a low threshold more workers are accused than with a high one."""
    campaign = ten(jobs=400, workers=4, lazy=1, budget=60)
    jobs, known = rows_of(400, 1), rows_of(900, 2)
    known["result"] = result_of(known)
    sizing = Sizing(controls={"sentinels": 0, "twins": 60}, undetected=0.5)
    accused = []
    for accuse_at in (0.9, None):
        scheme = SentinelsTwins(accuse_at=accuse_at, likeness=False)
        rng = np.random.default_rng(2)
        given = scheme.assign(jobs, known, campaign, sizing, rng)
        answers = answered(given.batches, 1, 0.25, rng)
        with pytest.raises(OmittedWork) as caught:
            scheme.verify(given.key, answers)
        accused.append(len(caught.value.judgement.accused))
    assert accused == [1, 0]
