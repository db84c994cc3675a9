"""Formula and simulation agree within sampling error, over a random grid of campaigns."""

import attrs
import numpy as np
import pytest
from scipy.stats import binom, chi2

from anonloom_sentinels_twins import formulas
from anonloom_sentinels_twins.simulation import Setting, Share, simulate, simulate_replicas
from anonloom_sentinels_twins.tolerant import campaign_level, most_tolerated
from anonloom_sentinels_twins.work_check import Campaign
from anonloom_sentinels_twins.workers import Honest, Lazy, Malicious, Opportunistic, Proxy

RUNS = 4000
#: A comparison of many is called a disagreement if all of them together give it by chance with
#: at most this probability.
CHANCE = 0.001
#: The largest deviation that one comparison alone may show, in standard deviations.
ALONE = 3.29

ZIPF = (12 / 25, 6 / 25, 4 / 25, 3 / 25)
CAMPAIGN = Campaign(jobs=1000, workers=10, lazy=4, omission=0.2, classes=ZIPF, budget=50)


def drawn(rng, number):
    """Campaigns with numbers of controls that leave something to be seen in the share."""
    results = []
    while len(results) < number:
        workers, classes = int(rng.integers(2, 60)), int(rng.integers(2, 12))
        shares = rng.dirichlet(np.full(classes, rng.choice([0.5, 1, 5])))
        if rng.random() < 0.3:
            shares = 1 / np.arange(1, classes + 1)
        shares = np.maximum(shares, 1e-3)
        campaign = Campaign(
            jobs=10**6,
            workers=workers,
            lazy=int(rng.integers(1, workers + 1)),
            omission=float(rng.choice([rng.uniform(0.01, 1), rng.uniform(0.01, 0.2), 1.0])),
            classes=tuple(shares / shares.sum()),
            colluding=bool(rng.random() < 0.3),
            budget=1,
        )
        spread = str(rng.choice(["uniform", "uniform", "data", "inverse", "reversed"]))
        sentinels, twins = (int(rng.choice([0, rng.integers(1, 40)])) for _ in range(2))
        results.append((campaign, spread, sentinels, twins))
    return results


def formula(campaign, spread, sentinels, twins, even):
    guess = formulas.sentinel_classes(campaign.classes, spread)
    # The worker answers the most frequent class of the jobs.
    return float(
        formulas.together(
            campaign.workers,
            campaign.lazy,
            campaign.omission,
            guess[np.argmax(campaign.classes)],
            max(campaign.classes),
            sentinels,
            twins,
            spread=even,
            colluding=campaign.colluding,
        )
    )


def deviation(share, expected):
    """In standard deviations of the share."""
    return (share.share - expected) / np.sqrt(expected * (1 - expected) / share.runs)


def by_chance(share, expected):
    """The probability of a share at least so far out, on either side."""
    low = binom.cdf(share.count, share.runs, expected)
    high = binom.sf(share.count - 1, share.runs, expected)
    return min(1.0, 2 * min(low, high))


def agree(pairs):
    """No comparison is far out, and all together are not, either."""
    values = [by_chance(share, expected) for share, expected in pairs]
    worst = min(values) * len(values)
    telling = [(s, e) for s, e in pairs if 5 < s.runs * e < s.runs - 5]
    squares = sum(deviation(share, expected) ** 2 for share, expected in telling)
    return worst > CHANCE and chi2.sf(squares, max(1, len(telling))) > CHANCE


def test_formula_and_simulation_agree_over_a_random_grid():
    rng = np.random.default_rng(20230)
    pairs = []
    for campaign, spread, sentinels, twins in drawn(rng, 60):
        shares = tuple(formulas.sentinel_classes(campaign.classes, spread))
        setting = Setting(placement="random", sentinel_classes=shares)
        share = simulate(campaign, sentinels, twins, RUNS, rng, setting)
        pairs.append((share, formula(campaign, spread, sentinels, twins, even=False)))
    assert agree(pairs)
    assert sum(0.02 < expected < 0.98 for _, expected in pairs) >= 20


def test_formula_and_simulation_agree_for_sentinels_dealt_evenly():
    rng = np.random.default_rng(20231)
    pairs = []
    for campaign, spread, sentinels, _ in drawn(rng, 60):
        shares = tuple(formulas.sentinel_classes(campaign.classes, spread))
        share = simulate(campaign, sentinels, 0, RUNS, rng, Setting(sentinel_classes=shares))
        pairs.append((share, formula(campaign, spread, sentinels, 0, even=True)))
    assert agree(pairs)


def test_what_is_stated_of_the_schemes_own_placement_is_not_exceeded():
    """Twins dealt evenly over pairs of workers, with groups: one-sided, as it is a bound."""
    rng = np.random.default_rng(20232)
    beyond = []
    for campaign, _, sentinels, twins in drawn(rng, 60):
        cut = int(rng.integers(0, campaign.workers // 2 + 1))
        grouped = attrs.evolve(campaign, groups=[range(cut)] if cut > 1 else [])
        stated = float(formulas.undetected_probability(grouped, sentinels, twins))
        share = simulate(grouped, sentinels, twins, RUNS // 2, rng)
        beyond.append(binom.sf(share.count - 1, share.runs, stated))
    assert min(beyond) * len(beyond) > CHANCE


def test_replicas_agree():
    rng = np.random.default_rng(20233)
    pairs = []
    for campaign, *_ in drawn(rng, 40):
        copies = int(rng.integers(1, campaign.workers))
        plain = attrs.evolve(campaign, colluding=False)
        expected = formulas.replicas(
            plain.workers, plain.lazy, plain.omission, max(plain.classes), copies
        )
        pairs.append((simulate_replicas(plain, copies, RUNS, rng), float(expected)))
    assert agree(pairs)


def test_the_comparison_would_find_formulas_that_are_a_little_wrong():
    """The printed slips that one could make: each is refused by the same comparison."""
    rng = np.random.default_rng(20234)
    right, wrong = [], {"q(1-q)": [], "no second part": [], "random workers": [], "P_max": []}
    for W, z, p in [(10, 4, 0.2), (10, 8, 0.3), (5, 3, 0.5), (20, 10, 0.15)]:
        campaign = attrs.evolve(CAMPAIGN, workers=W, lazy=z, omission=p)
        share = simulate(campaign, 0, 12, 40_000, rng, Setting(placement="random"))
        q = z / W * p
        right.append((share, float(formulas.twins(W, z, p, max(ZIPF), 12))))
        wrong["q(1-q)"].append((share, (1 - 2 * q * (1 - q) * (1 - max(ZIPF))) ** 12))
        alone = float(formulas.twins(W, z, p, max(ZIPF), 12, colluding=True))
        wrong["no second part"].append((share, alone))
        even = simulate(campaign, 2 * W, 0, 40_000, rng)
        right.append((even, float(formulas.sentinels_spread(W, z, p, 0.25, 2 * W))))
        wrong["random workers"].append(
            (even, float(formulas.sentinels_at_random(W, z, p, 0.25, 2 * W)))
        )
        wrong["P_max"].append((even, float(formulas.sentinels_spread(W, z, p, max(ZIPF), 2 * W))))
    assert agree(right)
    assert dict.fromkeys(wrong, False) == {name: agree(pairs) for name, pairs in wrong.items()}


def test_tolerant_tests_miss_no_more_than_stated_and_accuse_honest_work_no_more():
    rng = np.random.default_rng(20235)
    beyond, accused = [], []
    for W, z, p, error, s, t in [
        (10, 4, 0.2, 0.02, 8, 222),
        (10, 4, 0.2, 0.02, 319, 0),
        (20, 10, 0.4, 0.1, 30, 120),
        (6, 2, 0.7, 0.05, 10, 80),
        (6, 6, 0.5, 0.05, 10, 40),
    ]:
        campaign = attrs.evolve(CAMPAIGN, workers=W, lazy=z, omission=p, error=error)
        level = campaign_level(0.01)
        allowed = int(most_tolerated(s, error, level)), int(most_tolerated(t, error, level))
        setting = Setting(allowed=allowed)
        stated = float(formulas.undetected_probability(campaign, s, t))
        assert stated < 0.5
        share = simulate(campaign, s, t, RUNS, rng, setting)
        beyond.append(binom.sf(share.count - 1, share.runs, stated))
        honest = simulate(attrs.evolve(campaign, lazy=0), s, t, RUNS, rng, setting)
        accused.append(binom.sf(honest.runs - honest.count - 1, honest.runs, 2 * level))
    assert min(beyond) * len(beyond) > CHANCE
    assert min(accused) * len(accused) > CHANCE


def test_an_honest_campaign_passes_every_exact_control():
    rng = np.random.default_rng(3)
    honest = attrs.evolve(CAMPAIGN, lazy=10)
    share = simulate(honest, 40, 60, 500, rng, Setting(behaviour=Honest()))
    assert Share(500, 500) == share


def test_who_answers_at_random_or_wrongly_on_purpose_is_noticed_at_least_as_often():
    rng = np.random.default_rng(4)
    shares = {
        kind: simulate(CAMPAIGN, 10, 20, 20_000, rng, Setting(behaviour=kind(0.2))).share
        for kind in (Opportunistic, Lazy, Malicious)
    }
    assert shares[Opportunistic] > shares[Lazy] > shares[Malicious]


def test_a_cheap_model_goes_unnoticed_more_often_than_blind_omission_of_as_much():
    rng = np.random.default_rng(5)
    proxy = Setting(behaviour=Proxy(0.9), certain=0.69, accuracy=0.9)
    blind = attrs.evolve(CAMPAIGN, omission=0.69)
    noticing, stated = (
        simulate(blind, 10, 20, 10_000, rng, proxy),
        formulas.undetected_probability(blind, 10, 20),
    )
    assert noticing.interval(ALONE)[0] > 10 * float(stated)


def test_the_model_says_the_same_of_both_copies():
    """If everybody uses the model, all twins agree, right or wrong."""
    rng = np.random.default_rng(6)
    setting = Setting(behaviour=Proxy(0.9), certain=1.0, accuracy=0.5)
    everybody = attrs.evolve(CAMPAIGN, lazy=10)
    assert Share(300, 300) == simulate(everybody, 0, 50, 300, rng, setting)


def test_the_same_seed_gives_the_same_share():
    one, two = (simulate(CAMPAIGN, 5, 9, 999, np.random.default_rng(7)) for _ in range(2))
    assert one == two


def test_a_long_simulation_is_cut_into_parts_that_add_up(monkeypatch):
    from anonloom_sentinels_twins import simulation

    monkeypatch.setattr(simulation, "_AT_ONCE", 1000)
    share = simulate(CAMPAIGN, 5, 9, 2001, np.random.default_rng(7))
    assert 2001 == share.runs
    assert by_chance(share, float(formulas.undetected_probability(CAMPAIGN, 5, 9))) > CHANCE


def test_wilsons_interval():
    # The ends are the probabilities p with |share - p| = 1.96 sqrt(p (1 - p) / n).
    for count in (1, 37, 99):
        for end in Share(count, 100).interval():
            assert 1.96**2 * end * (1 - end) / 100 == pytest.approx((count / 100 - end) ** 2)
    assert 0.0 == Share(0, 100).interval()[0]
    assert 1.0 == Share(100, 100).interval()[1]
