"""The figures and the statements of the paper's section on probabilistic integrity controls."""

import attrs
import numpy as np
import pytest

from anonloom_sentinels_twins import formulas
from anonloom_sentinels_twins.simulation import Setting, simulate, simulate_replicas
from anonloom_sentinels_twins.sizing import size
from papers.sentinels.paper_settings import (
    CROSSING,
    GUESSED,
    NINE_A,
    NINE_B,
    NINE_C,
    ZIPF,
    printed_threshold,
)

RANDOM = Setting(placement="random")
#: 31 comparisons below; by chance one of them fails in about one of 1,000 choices of the seeds.
DEVIATIONS = 4.2


def within(share, expected):
    low, high = share.interval(DEVIATIONS)
    return low <= expected <= high


def test_figure_8_the_most_frequent_class_of_sentinels_that_follow_the_data_has_48_percent():
    assert {"data": 0.48, "inverse": 0.48, "uniform": 0.25} == GUESSED
    for spread in ("data", "uniform"):
        assert GUESSED[spread] == pytest.approx(formulas.sentinel_classes(ZIPF, spread).max())


def test_figure_8_c_has_48_percent_only_if_the_distribution_is_reversed():
    """The normalised reciprocals, as the text says, give the rarest class 40 percent."""
    assert GUESSED["inverse"] == pytest.approx(formulas.sentinel_classes(ZIPF, "reversed")[3])
    assert 0.40 == pytest.approx(formulas.sentinel_classes(ZIPF, "inverse")[3])


@pytest.mark.parametrize(
    ("spread", "answered"), [("data", 0), ("inverse", 3), ("reversed", 3), ("uniform", 2)]
)
def test_figure_8_a_lazy_worker_answers_the_class_that_most_sentinels_have(spread, answered):
    rng = np.random.default_rng(8)
    shares = formulas.sentinel_classes(ZIPF, spread)
    setting = Setting(placement="random", sentinel_classes=tuple(shares), answered=answered)
    share = simulate(NINE_C, 20, 0, 20_000, rng, setting)
    assert within(share, float(formulas.sentinels_at_random(10, 4, 0.2, shares.max(), 20)))


def test_figure_9_a_twins_of_many_jobs_against_replicas_of_one():
    """49 lazy of 100 workers omit half of their jobs."""
    rng = np.random.default_rng(9)
    campaign = NINE_A
    extra = [1, 5, 10, 20]
    twins = formulas.twins(100, 49, 0.5, 0.48, extra)
    replicas = formulas.replicas(100, 49, 0.5, 0.48, extra)
    assert [0.8070, 0.3422, 0.1171, 0.0137] == pytest.approx(twins, abs=5e-5)
    assert [0.8070, 0.5748, 0.5022, 0.4811] == pytest.approx(replicas, abs=5e-5)
    for number, pair, copy in zip(extra, twins, replicas, strict=True):
        assert within(simulate(campaign, 0, number, 10_000, rng, RANDOM), pair)
        assert within(simulate_replicas(campaign, number, 10_000, rng), copy)


def test_figure_9_a_replicas_never_go_below_the_frequency_of_the_most_frequent_class():
    values = formulas.replicas(100, 49, 0.5, 0.48, np.arange(1, 100))
    assert (values >= 0.48).all()
    assert 0.48 == pytest.approx(values[-1])


def test_figure_9_b_twins_alone_are_blind_to_extreme_omission():
    """All workers are lazy; 5 percent of 1,000 jobs are twinned."""
    rng = np.random.default_rng(10)
    omitted = np.asarray([0.01, 0.05, 0.1, 0.5, 0.9, 0.95, 0.99])
    values = formulas.twins(10, 10, omitted, 0.48, 50)
    assert [0.5960, 0.0794, 0.0073, 0, 0.0073, 0.0794, 0.5960] == pytest.approx(values, abs=5e-5)
    assert values == pytest.approx(values[::-1])
    for p, expected in zip(omitted, values, strict=True):
        campaign = attrs.evolve(NINE_C, lazy=10, omission=float(p))
        assert within(simulate(campaign, 0, 50, 10_000, rng, RANDOM), expected)


def test_figure_9_b_a_few_sentinels_close_the_gap():
    assert 1.0 == float(formulas.undetected_probability(NINE_B, 0, 50))
    assert 0.001 > float(formulas.undetected_probability(NINE_B, 5, 50))
    # Five would do; every worker has one.
    assert 10 == size(NINE_C).controls["sentinels"]


@pytest.mark.parametrize("largest", [0.25, 0.5, 0.59, 0.6, 0.8])
def test_figure_9_c_sentinels_and_twins_by_the_most_frequent_class(largest):
    rng = np.random.default_rng(int(100 * largest))
    expected = {0.25: 0.0026, 0.5: 0.0206, 0.59: 0.0425, 0.6: 0.0460, 0.8: 0.2196}[largest]
    twins = float(formulas.twins(10, 4, 0.2, largest, 50))
    sentinels = float(formulas.sentinels_at_random(10, 4, 0.2, 1 / 4, 50))
    assert expected == pytest.approx(twins, abs=5e-5)
    assert 0.0453 == pytest.approx(sentinels, abs=5e-5)
    campaign = attrs.evolve(NINE_C, classes=(largest, *[(1 - largest) / 3] * 3))
    assert within(simulate(campaign, 0, 50, 20_000, rng, RANDOM), twins)
    assert within(simulate(campaign, 50, 0, 20_000, rng, RANDOM), sentinels)


def test_figure_9_c_the_curves_cross_at_0_598():
    crossing = float(formulas.threshold(10, 4, 0.2, 4))
    assert 0.598 == CROSSING == pytest.approx(crossing, abs=5e-4)
    twins = formulas.twins(10, 4, 0.2, [crossing - 1e-6, crossing, crossing + 1e-6], 50)
    sentinels = float(formulas.sentinels_at_random(10, 4, 0.2, 1 / 4, 50))
    assert twins[0] < sentinels < twins[2]
    assert sentinels == pytest.approx(twins[1])


def test_figure_9_c_the_scheme_changes_sides_at_the_crossing():
    def mostly(largest):
        classes = (largest, *[(1 - largest) / 3] * 3)
        return size(attrs.evolve(NINE_C, classes=classes)).reasons[0].split(":")[0]

    assert ["Mostly twins", "Mostly sentinels"] == [mostly(0.5982), mostly(0.5983)]


def test_thresholds_and_their_limit_for_little_omission():
    assert [0.732, 0.598, 0.518] == pytest.approx(
        formulas.threshold(10, 4, 0.2, [2, 4, 10]), abs=5e-4
    )
    assert [0.75, 0.625, 0.55] == pytest.approx(formulas.small_threshold([2, 4, 10]))
    small = formulas.threshold(10**6, 10**3, 1e-3, [2, 4, 10])
    assert formulas.small_threshold([2, 4, 10]) == pytest.approx(small, abs=1e-5)


def test_the_printed_rule_never_prefers_sentinels_although_they_can_be_better():
    printed = [printed_threshold(classes) for classes in range(2, 100)]
    assert 1.5 == min(printed)
    # At P_max = 0.9 sentinels are far better, and a rule that asks for more than 1.5 says twins.
    assert float(formulas.sentinels_at_random(10, 4, 0.2, 1 / 4, 50)) < float(
        formulas.twins(10, 4, 0.2, 0.9, 50)
    )
    assert "P_max > 0.5 (1 + c)" in formulas.PRINTED_RULE
    assert "P_max > 0.5 (1 + 1/c)" in formulas.PRINTED_RULE


def test_twins_are_roughly_twice_as_effective_as_sentinels():
    """Of one omission in a thousand jobs, and if no guess is right."""
    twin = float(formulas.twin_differs(100, 10, 0.01))
    assert 2 == pytest.approx(twin / float(formulas.sentinel_fails(100, 10, 0.01, 0)), rel=0.01)


def test_numbers_needed_for_a_probability():
    """The numbers of one sort alone, each control at random workers."""
    for epsilon, twins, sentinels in [(1e-2, 57, 75), (1e-3, 86, 112), (1e-6, 171, 224)]:
        for number, formula, right in [
            (twins, formulas.twins, 0.48),
            (sentinels, formulas.sentinels_at_random, 0.25),
        ]:
            enough, fewer = (formula(10, 4, 0.2, right, n) for n in (number, number - 1))
            assert enough <= epsilon < fewer


def test_colluding_workers_pass_the_twins_that_they_share():
    rng = np.random.default_rng(12)
    together = attrs.evolve(NINE_C, colluding=True)
    expected = float(formulas.twins(10, 4, 0.2, 0.48, 20, colluding=True))
    assert within(simulate(together, 0, 20, 20_000, rng, RANDOM), expected)
    assert expected > float(formulas.twins(10, 4, 0.2, 0.48, 20))


def test_groups_that_share_no_job_leave_colluding_workers_nothing_to_recognise():
    together = float(formulas.undetected_probability(attrs.evolve(NINE_C, colluding=True), 0, 20))
    grouped = float(formulas.undetected_probability(attrs.evolve(NINE_C, groups=[range(4)]), 0, 20))
    assert grouped < together


def test_both_sorts_together():
    rng = np.random.default_rng(14)
    expected = float(formulas.together(10, 4, 0.2, 0.25, 0.48, 10, 20, spread=False))
    assert 0.1069 == pytest.approx(expected, abs=5e-5)
    assert within(simulate(NINE_C, 10, 20, 20_000, rng, RANDOM), expected)
