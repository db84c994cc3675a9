"""Probabilities of laziness: right on small cases, calibrated on large ones, always the same."""

import itertools
import math

import numpy as np
import pytest

from anonloom_sentinels_twins import posterior
from anonloom_sentinels_twins.posterior import Counts, Model, Prior, laziness, prior_of
from anonloom_sentinels_twins.work_check import Campaign

CLASSES = (0.48, 0.24, 0.16, 0.12)


def campaign(workers, **changes):
    given = {
        "jobs": 1000,
        "workers": workers,
        "lazy": 2,
        "omission": 0.2,
        "classes": CLASSES,
        "budget": 50,
    }
    return Campaign(**(given | changes))


def by_hand(counts, prior, asked):
    """Add up all combinations of rates, one after the other: the oracle."""
    rates, error = (0.0, *prior.rates), asked.error
    most, guess = max(asked.classes), 1 / len(asked.classes)
    workers = counts.failed.shape[1]
    whole, lazy = 0.0, [0.0] * workers
    for p in itertools.product(rates, repeat=workers):
        chance = 1.0
        for i in range(workers):
            chance *= prior.lazy / len(prior.rates) if p[i] else 1 - prior.lazy
            fails = p[i] * (1 - guess) + (1 - p[i]) * error
            chance *= fails ** counts.failed[0, i] * (1 - fails) ** counts.passed[0, i]
            for j in range(i + 1, workers):
                alone = p[i] * (1 - p[j]) + p[j] * (1 - p[i])
                differs = alone * ((1 - most) * (1 - error) + most * error)
                differs += (1 - p[i]) * (1 - p[j]) * error + p[i] * p[j] * 0.01
                if asked.colluding and p[i] and p[j]:
                    differs /= 2
                chance *= differs ** counts.different[0, i, j]
                chance *= (1 - differs) ** counts.same[0, i, j]
        whole += chance
        for i in range(workers):
            lazy[i] += chance if p[i] else 0.0
    return [item / whole for item in lazy]


@pytest.mark.parametrize("error", [0.0, 0.03])
@pytest.mark.parametrize(("workers", "colluding"), [(2, False), (3, False), (4, False), (3, True)])
def test_sums_are_those_of_all_combinations(workers, colluding, error, draw):
    asked = campaign(workers, error=error, lazy=1, colluding=colluding)
    prior, rng = prior_of(asked), np.random.default_rng(workers)
    for _ in range(3):
        rates = rng.choice([0.0, *prior.rates], size=(1, workers))
        counts = draw(asked, 3 * workers, 8 * workers, rates, rng)
        expected = by_hand(counts, prior, asked)
        assert expected == pytest.approx(laziness(counts, prior, asked)[0], abs=1e-9)


@pytest.mark.long
@pytest.mark.parametrize(("sentinels", "twins"), [(20, 60), (5, 45), (0, 60), (5, 200), (0, 1500)])
def test_sampling_gives_what_the_sum_gives(sentinels, twins, draw):
    asked = campaign(5)
    prior, rng = prior_of(asked), np.random.default_rng(3)
    rates = rng.choice([0.0, 0.05, 0.1, 0.2, 0.4, 1.0], size=(8, 5), p=[0.6, *[0.08] * 5])
    # Who omits nearly everything looks like the only one who works: twins alone cannot tell.
    rates[::2, 0] = 0.9
    counts, model = draw(asked, sentinels, twins, rates, rng), Model.of(prior, asked)
    gap = np.abs(
        posterior.exactly(counts, model) - posterior.annealed_estimate(counts, model, 2048)
    )
    assert gap.max() < 0.04
    assert gap.mean() < 0.003


def test_same_evidence_same_probabilities(draw):
    asked = campaign(12)
    prior, rng = prior_of(asked), np.random.default_rng(4)
    counts = draw(asked, 24, 100, np.full((1, 12), 0.1), rng)
    first = laziness(counts, prior, asked)
    assert first.tolist() == laziness(counts, prior, asked).tolist()


def test_a_failed_sentinel_is_proof_and_a_lone_differing_twin_is_not():
    asked = campaign(3)
    prior = prior_of(asked)
    none = np.zeros((1, 3, 3))
    failed = Counts(np.array([[1.0, 0, 0]]), np.full((1, 3), 5.0), none, none)
    assert laziness(failed, prior, asked)[0, 0] == pytest.approx(1.0, abs=1e-12)
    differ = none.copy()
    differ[0, 0, 1] = differ[0, 1, 0] = 1.0
    lazy = laziness(Counts(np.zeros((1, 3)), np.full((1, 3), 5.0), differ, none), prior, asked)[0]
    assert lazy[0] == pytest.approx(lazy[1])
    assert 0.5 < lazy[0] < 0.9
    # It says nothing of the third: that one is judged by its sentinels alone.
    alone = laziness(Counts(np.zeros((1, 3)), np.full((1, 3), 5.0), none, none), prior, asked)[0]
    assert lazy[2] == pytest.approx(alone[2])


def test_evidence_that_the_model_rules_out_gives_probabilities_all_the_same():
    asked = campaign(2, classes=(1.0,), omission=1.0)
    prior = prior_of(asked)
    counts = Counts(np.full((1, 2), 3.0), np.zeros((1, 2)), np.zeros((1, 2, 2)), np.ones((1, 2, 2)))
    assert laziness(counts, prior, asked)[0].tolist() == pytest.approx([1.0, 1.0])


def test_no_campaign_is_no_trouble():
    asked = campaign(3)
    counts = Counts(np.zeros((0, 3)), np.zeros((0, 3)), np.zeros((0, 3, 3)), np.zeros((0, 3, 3)))
    assert laziness(counts, prior_of(asked), asked).shape == (0, 3)


def test_several_hundred_workers_are_judged(draw):
    asked = campaign(300, lazy=30)
    prior, rng = prior_of(asked), np.random.default_rng(5)
    rates = np.where(np.arange(300) < 30, 0.2, 0.0)[None]
    lazy = laziness(draw(asked, 900, 6000, rates, rng), prior, asked)[0]
    assert lazy[:30].mean() > 0.9
    assert lazy[30:].mean() < 0.1


def test_the_prior_is_what_the_campaign_expects_and_says_so():
    prior = prior_of(campaign(10, lazy=4))
    assert prior == Prior(0.4, (0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 1.0))
    assert str(prior) == (
        "every worker on its own omits work with probability 0.4; whoever does omits one of the "
        "shares 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 1 of its jobs, each as probable"
    )
    assert str(Prior(0.1, (1.0,))) == (
        "every worker on its own omits work with probability 0.1; whoever does omits the share 1 "
        "of its jobs"
    )
    assert prior_of(campaign(10, omission=1.0)).rates == (0.25, 0.5, 0.75, 1.0)
    assert prior_of(campaign(10), 0.3).lazy == 0.3
    assert (0.05, 0.95) == (
        prior_of(campaign(10, lazy=0)).lazy,
        prior_of(campaign(10, lazy=10)).lazy,
    )


def reliability(lazy, stated, edges):
    """Return for each band of stated probabilities: how many, the mean stated, the share lazy."""
    band = np.digitize(stated, edges)
    return [
        (int(inside.sum()), float(stated[inside].mean()), float(lazy[inside].mean()))
        for inside in (band == index for index in range(len(edges) + 1))
        if inside.any()
    ]


@pytest.mark.long
@pytest.mark.parametrize(
    ("workers", "runs", "error", "controls"),
    [
        (5, 3000, 0.0, (10, 60)),
        (10, 1000, 0.0, (20, 120)),
        (10, 1000, 0.02, (20, 120)),
        # As the scheme deals them: few sentinels, so that twins have to say nearly all of it.
        (10, 1000, 0.0, (5, 45)),
        (10, 1000, 0.0, (5, 300)),
    ],
)
def test_stated_probabilities_are_observed_shares(workers, runs, error, controls, draw):
    """Over campaigns drawn from the prior, of workers called lazy with x a share of x is lazy."""
    asked = campaign(workers, lazy=2 * workers // 5, error=error)
    prior, rng = prior_of(asked), np.random.default_rng(6)
    rates = rng.choice(np.array(prior.rates), size=(runs, workers))
    rates[rng.random(rates.shape) >= prior.lazy] = 0.0
    counts = draw(asked, *controls, rates, rng)
    stated = laziness(counts, prior, asked, particles=64)
    table = reliability((rates > 0).ravel(), stated.ravel(), [0.05, *np.arange(0.1, 1, 0.1), 0.99])
    assert sum(count for count, _, _ in table) == runs * workers
    for count, probability, seen in table:
        slack = 4 * math.sqrt(max(probability * (1 - probability), 0.001) / count)
        # Few particles are a little noisy; so noisy at most.
        assert abs(probability - seen) < slack + 0.01, table
