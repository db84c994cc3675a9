"""What `size` states is met, and honest workers are left alone: counted over many campaigns."""

import math

import numpy as np
import pandas as pd
import pytest

from anonloom.errors import UsageError
from anonloom.params import build
from anonloom_sentinels_twins.posterior import prior_of
from anonloom_sentinels_twins.scheme import SentinelsTwins
from anonloom_sentinels_twins.testing import answer_batches, result_of, rows_of
from anonloom_sentinels_twins.verdicts import Rules, decide
from anonloom_sentinels_twins.work_check import Campaign, OmittedWork, Sizing
from anonloom_sentinels_twins.workers import Collusive, Honest, answers

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
    # What is tested here does not depend on the probabilities of laziness, which take long.
    return is_lazy, decide(counts, campaign, RULES, prior_of(campaign), particles=0)


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
    sizing = SentinelsTwins().size(campaign)
    rng, runs = np.random.default_rng(8), 100
    is_lazy = rng.permuted(np.tile(np.arange(10) < 6, (runs, 1)), axis=1)
    controls = [sizing.controls[sort] for sort in ("sentinels", "twins")]
    counts = draw(campaign, *controls, np.where(is_lazy, 0.9, 0.0), rng)
    decision = decide(counts, campaign, RULES, prior_of(campaign), particles=0)
    assert 0 == (decision.accused & ~is_lazy).sum()
    assert decision.accused[is_lazy].mean() > 0.9


def eight(colluding, runs=15):
    """Eight workers, a plan for two lazy ones; so many collude, and omit what they share.

    Returns
    -------
    DataFrame
        By campaign: how many honest workers and how many colluding ones are accused, how many
        wrong results there are and how many of them are relied on; the same of right ones.
    """
    campaign = Campaign(
        jobs=1500, workers=8, lazy=2, omission=0.2, classes=(0.5, 0.3, 0.2), budget=600
    )
    scheme, result = SentinelsTwins(likeness=False), []
    sizing = scheme.size(campaign)
    known = pd.DataFrame({"n": np.arange(1500, 3300), "result": np.arange(1800) % 3})
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        truth = np.append(rng.choice(3, size=1500, p=campaign.classes), known["result"])
        plan = scheme.assign(pd.DataFrame({"n": np.arange(1500)}), known, campaign, sizing, rng)
        idle = set(rng.permutation(8)[:colluding].tolist())
        staff = [Collusive(0.2) if index in idle else Honest() for index in range(8)]
        sent = answers(plan.batches, staff, lambda rows, t=truth: t[rows["n"]], (0, 1, 2), rng)
        with pytest.raises(OmittedWork) as caught:
            scheme.verify(plan.key, sent)
        judgement = caught.value.judgement
        wrong = judgement.results.to_numpy() != truth[:1500]
        relied, accused = ~judgement.distrusted, set(judgement.accused_workers)
        result.append(
            {
                "framed": len(accused - idle),
                "named": len(accused & idle),
                "wrong": wrong.sum(),
                "wrong_relied": (wrong & relied).sum(),
                "right": (~wrong).sum(),
                "right_relied": (~wrong & relied).sum(),
            }
        )
    return pd.DataFrame(result)


@pytest.mark.long
def test_a_colluding_majority_frames_nobody_and_is_not_believed():
    """Five of eight compare their jobs: the three who work look like the ones who do not."""
    result = eight(colluding=5)
    assert [0] * 15 == result["framed"].tolist()
    assert result["wrong_relied"].sum() <= 0.02 * result["wrong"].sum()
    # The three who work are believed: their single rows are about 3/8 of all, but for controls.
    assert result["right_relied"].sum() >= 0.35 * result["right"].sum()


@pytest.mark.long
def test_two_of_eight_who_collude_are_named_every_time():
    result = eight(colluding=2)
    assert ([2] * 15, [0] * 15) == (result["named"].tolist(), result["framed"].tolist())
    assert 0 == result["wrong_relied"].sum()
    assert result["right_relied"].sum() >= 0.7 * result["right"].sum()


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
            scheme.verify(given.key, answer_batches(given.batches, lazy, campaign.omission, rng))
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
    """Failed sentinels accuse, unless a probability is asked for that they do not reach."""
    campaign = ten(jobs=400, workers=4, lazy=1, budget=60, error=0.02)
    jobs, known = rows_of(400, 1), rows_of(900, 2)
    known["result"] = result_of(known)
    sizing = Sizing(controls={"sentinels": 60, "twins": 0}, undetected=0.5)
    accused = []
    for accuse_at in (None, 1 - 1e-12):
        scheme = SentinelsTwins(accuse_at=accuse_at, likeness=False)
        rng = np.random.default_rng(2)
        given = scheme.assign(jobs, known, campaign, sizing, rng)
        sent = answer_batches(given.batches, 1, 0.6, rng)
        with pytest.raises(OmittedWork) as caught:
            scheme.verify(given.key, sent)
        accused.append(len(caught.value.judgement.accused_workers))
    assert accused == [1, 0]
