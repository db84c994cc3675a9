"""How many controls, of which sort, and which campaigns are refused."""

import math

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonloom.errors import UsageError
from anonloom_sentinels_twins.formulas import escape, undetected_probability, unnoticed_extreme
from anonloom_sentinels_twins.sizing import size
from anonloom_sentinels_twins.work_check import Campaign

ZIPF = (0.48, 0.24, 0.16, 0.12)
CAMPAIGN = Campaign(jobs=1000, workers=10, lazy=4, omission=0.2, classes=ZIPF, budget=50)
RISK = attrs.evolve(CAMPAIGN, budget=None, epsilon=0.01)


def test_a_budget_is_spent_whole_on_a_few_sentinels_and_twins():
    sizing = size(CAMPAIGN)
    assert {"sentinels": 10, "twins": 40} == sizing.controls
    assert float(undetected_probability(CAMPAIGN, 10, 40)) == sizing.undetected
    assert 50 == sizing.extra


def test_reasons_give_the_figures_in_plain_words():
    expected = (
        "Mostly twins: one sentinel notices something with probability 0.06, one twin with 0.0777: the most frequent class has a share of 0.48, and sentinels are better above 0.598 (above 0.625 if hardly anything is omitted).",
        "If everybody omitted everything, all twins would agree, and 10 sentinels would miss it with probability 9.5e-07 (5 are needed for 0.001).",
        "Every worker has at least 1 sentinel: who blindly omits 20.0% of its jobs passes all of its own with probability 0.85 at most, whomever it colludes with.",
        "10 sentinels and 40 twins, 50 extra jobs (5.0% of 1000): if 4 of 10 workers blindly omit 20.0% of their jobs, nobody notices with probability 0.0206 at most.",
    )
    assert expected == size(CAMPAIGN).reasons


def test_assumptions_begin_with_blind_omission():
    expected = (
        "For blind omission: which jobs are omitted does not depend on the rows. Workers with a cheap model of the computation are noticed less often.",
        "Workers cannot tell controls from genuine jobs.",
        "Each lazy worker omits its jobs independently of each other, and answers the most frequent class.",
        "At most a share of 0.48 of the results is of one class, and sentinels are spread evenly over the classes and the workers.",
        "Workers do not compare their jobs, but for those in one group, who share none.",
    )
    assert expected == size(CAMPAIGN).assumptions


def test_assumptions_of_colluding_workers_and_of_honest_error():
    sizing = size(attrs.evolve(RISK, colluding=True, error=0.02))
    expected = (
        "Lazy workers compare their jobs and answer twins that they have in common alike; of their other jobs they omit the share that is stated.",
        "Honest answers differ from each other, and from the client's, in at most 0.02 of all cases; tests accuse honest work with probability 0.01 at most.",
    )
    assert expected == sizing.assumptions[-2:]


def test_an_epsilon_is_reached_with_no_twin_too_many():
    sizing = size(RISK, escaping=0.9)
    assert {"sentinels": 10, "twins": 49} == sizing.controls
    assert undetected_probability(RISK, 10, 49) <= 0.01 < undetected_probability(RISK, 10, 48)


def test_every_worker_has_as_many_sentinels_as_keep_it_from_escaping_them():
    """15 that fail with 0.2 (1 - 1/4) each: 0.85 ** 15 is below a tenth, 0.85 ** 14 is not."""
    sizing = size(RISK)
    assert {"sentinels": 150, "twins": 0} == sizing.controls
    assert 0.85**15 == pytest.approx(sizing.escape)
    assert 0.85**15 <= 0.1 < 0.85**14
    assert (
        "Every worker has at least 15 sentinels: who blindly omits 20.0% of its jobs passes all of its own with probability 0.087 at most, whomever it colludes with."
        in sizing.reasons
    )


def test_a_budget_is_spent_on_what_notices_and_then_on_what_names():
    """Until omission goes unnoticed in 1 of 100 campaigns, and an escape succeeds in 1 of 1,000."""
    spent = {
        budget: size(attrs.evolve(CAMPAIGN, budget=budget)) for budget in (50, 100, 200, 600, 1000)
    }
    assert [(10, 40), (51, 49), (151, 49), (430, 170), (430, 570)] == [
        (item.controls["sentinels"], item.controls["twins"]) for item in spent.values()
    ]
    assert (
        undetected_probability(CAMPAIGN, 10, 49) <= 0.01 < undetected_probability(CAMPAIGN, 10, 48)
    )
    assert 0.85**43 <= 1e-3 < 0.85**42
    assert [0.85, 0.85**5, 0.85**15, 0.85**43, 0.85**43] == pytest.approx(
        [item.escape for item in spent.values()]
    )


@given(st.integers(1, 60), st.floats(0.05, 1), st.integers(2, 6), st.sampled_from([0.0, 0.03]))
def test_what_is_stated_of_an_escape_is_met_by_answers_drawn_one_by_one(
    sentinels, omission, classes, error
):
    campaign = attrs.evolve(
        CAMPAIGN, omission=omission, classes=[1 / classes] * classes, error=error
    )
    rng, runs = np.random.default_rng(sentinels), 2000
    omits = rng.random((runs, sentinels)) < omission
    guessed = rng.integers(classes, size=omits.shape) == 0
    failed = np.where(omits, ~guessed, rng.random(omits.shape) < error).sum(axis=1)
    # The binomial test by its definition: the least number that honest work exceeds so seldom.
    honest = [
        math.comb(sentinels, k) * error**k * (1 - error) ** (sentinels - k)
        for k in range(sentinels + 1)
    ]
    allowed = next(k for k in range(sentinels + 1) if sum(honest[k + 1 :]) <= 0.01 / 40)
    escaped = int((failed <= allowed).sum())
    stated = float(escape(campaign, sentinels))
    assert escaped <= runs * stated + 5 * math.sqrt(runs * stated * (1 - stated)) + 1e-9
    if error == 0:
        assert escaped >= runs * stated - 5 * math.sqrt(runs * stated * (1 - stated)) - 1e-9


def test_sentinels_are_used_where_one_class_is_most_of_all():
    sizing = size(attrs.evolve(RISK, classes=(0.7, 0.1, 0.1, 0.1)), escaping=0.9)
    assert {"sentinels": 71, "twins": 0} == sizing.controls
    assert undetected_probability(RISK, 71, 0) <= 0.01 < undetected_probability(RISK, 70, 0)


campaigns = st.builds(
    lambda workers, lazy, omission, weights, jobs, error, colluding, cut: Campaign(
        jobs=jobs,
        workers=workers,
        lazy=1 + lazy % workers,
        omission=omission,
        classes=[weight / sum(weights) for weight in weights],
        error=error,
        colluding=colluding,
        groups=[range(cut % workers)],
    ),
    st.integers(1, 30),
    st.integers(0, 100),
    st.floats(0.05, 1),
    st.lists(st.floats(0.1, 1), min_size=2, max_size=8),
    st.integers(1, 10**6),
    st.sampled_from([0.0, 0.0, 0.01]),
    st.booleans(),
    st.integers(0, 30),
)


@given(campaigns, st.floats(1e-6, 0.5))
def test_what_is_stated_for_an_epsilon_is_below_it(campaign, epsilon):
    wanted = attrs.evolve(campaign, epsilon=epsilon)
    try:
        sizing = size(wanted)
    except UsageError:
        # Only honest error can hide omission altogether.
        if wanted.error == 0:
            raise
        return
    s, t = sizing.controls["sentinels"], sizing.controls["twins"]
    assert sizing.undetected == float(undetected_probability(wanted, s, t)) <= epsilon
    assert float(unnoticed_extreme(wanted, s)) <= epsilon
    assert sizing.escape == float(escape(wanted, s // wanted.workers)) <= 0.1
    assert t <= wanted.jobs


@given(campaigns, st.integers(0, 3000))
def test_a_budget_is_never_exceeded_and_never_left(campaign, beyond):
    budget = campaign.workers + beyond
    paid = attrs.evolve(campaign, budget=budget, error=0.0)
    sizing = size(paid)
    assert budget == sizing.extra
    assert sizing.controls["sentinels"] >= paid.workers
    assert 0 <= sizing.controls["twins"] <= paid.jobs
    assert (
        sizing.controls["twins"] == 0
        or unnoticed_extreme(paid, sizing.controls["sentinels"]) <= 1e-3
    )


def test_a_budget_below_the_few_sentinels_says_so():
    sizing = size(attrs.evolve(CAMPAIGN, workers=3, lazy=1, budget=3))
    assert {"sentinels": 3, "twins": 0} == sizing.controls
    expected = (
        "If everybody omitted everything, all twins would agree, and 3 sentinels would miss it with probability 0.016 (5 are needed for 0.001).",
        "The budget of 3 does not reach that number.",
    )
    assert expected == sizing.reasons[1:3]


def test_more_twins_than_jobs_become_sentinels():
    assert {"sentinels": 30, "twins": 20} == size(attrs.evolve(CAMPAIGN, jobs=20)).controls
    sizing = size(attrs.evolve(RISK, jobs=20), escaping=0.9)
    assert 20 == sizing.controls["twins"]
    assert sizing.undetected <= 0.01
    assert "All 20 jobs are twinned; the other controls are sentinels." in sizing.reasons


def test_without_two_workers_who_may_share_a_job_there_are_sentinels():
    for campaign in (
        attrs.evolve(CAMPAIGN, workers=1, lazy=1),
        attrs.evolve(CAMPAIGN, workers=3, lazy=1, groups=[[0, 1, 2]]),
    ):
        sizing = size(campaign)
        assert {"sentinels": 50, "twins": 0} == sizing.controls
        assert "Sentinels, as no two workers may share a job." == sizing.reasons[0]


def test_a_sort_can_be_asked_for():
    assert {"sentinels": 50, "twins": 0} == size(CAMPAIGN, only="sentinels").controls
    heavy = attrs.evolve(CAMPAIGN, classes=(0.9, 0.1))
    assert 0 == size(heavy).controls["twins"]
    sizing = size(heavy, only="twins")
    assert {"sentinels": 10, "twins": 40} == sizing.controls
    assert "Twins, as asked." == sizing.reasons[0]


def test_honest_error_asks_for_more_controls_and_tolerates_some_mismatches():
    sizing = size(attrs.evolve(RISK, error=0.02), escaping=0.5)
    assert {"sentinels": 370, "twins": 0} == sizing.controls
    assert sizing.undetected <= 0.01
    expected = (
        "Mostly twins: honest answers differ in 0.02 of all cases, with omission sentinels fail in 0.0784 and twins differ in 0.0946; alone, 319 sentinels or 222 twins would leave it unnoticed with probability 0.01.",
        "If everybody omitted everything, all twins would agree, and 370 sentinels would miss it with probability less than 1e-12 (8 are needed for 0.01).",
        "Of 370 sentinels 16 may fail and of 0 twins 0 may differ before it is called omission.",
    )
    assert expected == sizing.reasons[:3]


def test_too_few_tolerant_controls_promise_nothing_and_say_so():
    sizing = size(attrs.evolve(CAMPAIGN, error=0.02))
    assert 1.0 == sizing.undetected
    expected = "10 sentinels and 40 twins are too few to tell omission from honest error: no probability below 1 can be promised."
    assert expected == sizing.reasons[-1]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"jobs": 0}, "there must be at least one of the jobs, not 0"),
        ({"workers": 0}, "there must be at least one of the workers, not 0"),
        (
            {"workers": 1001},
            "there may be at most 1000 workers, not 1001\n"
            "    Divide the rows, and make a plan for each part.",
        ),
        (
            {"lazy": 0},
            "between 1 and 10 workers can be expected to be lazy, not 0\n    Controls are sized for the laziness that is to be noticed: the least that would do harm.",
        ),
        (
            {"lazy": 11},
            "between 1 and 10 workers can be expected to be lazy, not 11\n    Controls are sized for the laziness that is to be noticed: the least that would do harm.",
        ),
        (
            {"omission": 0.0},
            "the share of the jobs that a lazy worker omits must be above 0 and at most 1, not 0\n    Who omits nothing cannot be noticed.",
        ),
        (
            {"omission": 1.2},
            "the share of the jobs that a lazy worker omits must be above 0 and at most 1, not 1.2\n    Who omits nothing cannot be noticed.",
        ),
        (
            {"omission": float("nan")},
            "the share of the jobs that a lazy worker omits must be above 0 and at most 1, not nan\n    Who omits nothing cannot be noticed.",
        ),
        (
            {"classes": (1.0,)},
            "at least two classes are needed\n    With one possible result every guess is right, and no control can fail.",
        ),
        ({"classes": (1.2, -0.2)}, "the share of every class must lie between 0 and 1"),
        ({"classes": (1.0, 0.0)}, "the share of every class must lie between 0 and 1"),
        ({"classes": (0.5, 0.4)}, "the shares of the classes sum to 0.9, not to 1"),
        ({"error": -0.1}, "the share of honest answers that differ must lie in [0, 1), not -0.1"),
        ({"error": 1.0}, "the share of honest answers that differ must lie in [0, 1), not 1"),
        ({"epsilon": 0.1}, "either a budget or an epsilon is needed, and not both"),
        ({"budget": None}, "either a budget or an epsilon is needed, and not both"),
        ({"budget": 0}, "a budget of 0 extra jobs leaves room for no control at all"),
        (
            {"budget": 9},
            "a budget of 9 extra jobs leaves some of the 10 workers without a sentinel\n"
            "    Only a worker's own sentinels show that it was this one who omitted work. Pay for 10 extra jobs at least, or use fewer workers.",
        ),
        ({"budget": 10**12}, f"the budget may be at most 10000000 extra jobs, not {10**12}"),
        ({"budget": None, "epsilon": 0.0}, "epsilon must lie between 0 and 1, not 0"),
        ({"budget": None, "epsilon": 1.0}, "epsilon must lie between 0 and 1, not 1"),
        ({"groups": [[3, 10]]}, "a group names worker 10, and workers are numbered from 0 to 9"),
        (
            {"error": 0.5, "classes": (0.5, 0.5)},
            "no number of controls tells omission from honest error: honest answers differ in 0.5 of all cases, sentinels would fail in 0.5 and twins differ in 0.5",
        ),
        (
            {"budget": None, "epsilon": 1e-300, "omission": 1e-5, "lazy": 1, "jobs": 10},
            "more than 10000000 controls would be needed for an epsilon of 1e-300\n    Expect more omission, or accept a larger epsilon.",
        ),
    ],
)
def test_a_campaign_that_makes_no_sense_is_refused(changed, message):
    with pytest.raises(UsageError) as refused:
        size(attrs.evolve(CAMPAIGN, **changed))
    assert message == str(refused.value)


@pytest.mark.parametrize(
    "changed", [{"workers": 1, "lazy": 1}, {"workers": 3, "lazy": 1, "groups": [[0, 1, 2]]}]
)
def test_twins_are_refused_where_no_two_workers_may_share_a_job(changed):
    with pytest.raises(UsageError) as refused:
        size(attrs.evolve(CAMPAIGN, **changed), only="twins")
    expected = "twins need two workers that may share a job\n    Use more workers or smaller groups, or sentinels only."
    assert expected == str(refused.value)


@pytest.mark.parametrize("level", [0.0, 1.0])
def test_a_level_outside_0_and_1_is_refused(level):
    with pytest.raises(UsageError) as refused:
        size(CAMPAIGN, level=level)
    assert f"the level of the tests must lie between 0 and 1, not {level:g}" == str(refused.value)


def test_extreme_omission_hidden_by_honest_error_is_refused():
    """Sentinels of two classes fail by guessing in half of all cases; so do honest answers."""
    with pytest.raises(UsageError) as refused:
        size(attrs.evolve(CAMPAIGN, error=0.5, classes=(0.5, 0.5)), only="sentinels")
    expected = "no number of sentinels tells it from honest error if everybody omits everything: honest answers differ in 0.5 of all cases, guesses in 0.5"
    assert expected == str(refused.value)


def test_a_lazy_worker_hidden_by_honest_error_is_refused():
    """Who omits next to nothing errs hardly more often than an honest worker."""
    with pytest.raises(UsageError) as refused:
        size(attrs.evolve(RISK, error=0.2, omission=0.0001), only="sentinels")
    expected = "no number of sentinels tells one lazy worker from honest error: honest answers differ in 0.2 of all cases, and such a worker omits 0.0001 of its jobs"
    assert expected == str(refused.value)
