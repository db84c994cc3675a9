"""Disputes: who contradicts whom, which explanations there are, and what sentinels make of them."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

from anonloom_sentinels_twins.disputes import OPEN, disputes
from anonloom_sentinels_twins.posterior import Counts
from anonloom_sentinels_twins.work_check import Dispute


def counts(workers, pairs, same=0, passed=0, failed=0):
    """One campaign; `pairs` says how many twins of two workers differ, others are `same`."""
    different = np.zeros((1, workers, workers))
    for (item, other), number in pairs.items():
        different[0, item, other] = different[0, other, item] = number
    alike = np.full((1, workers, workers), float(same))
    alike[0, np.arange(workers), np.arange(workers)] = 0
    some = np.broadcast_to(np.asarray(passed, dtype=float), (workers,))
    none = np.broadcast_to(np.asarray(failed, dtype=float), (workers,))
    return Counts(none[None], some[None], different, alike)


def found(evidence, proved=(), error=0.0):
    workers = evidence.failed.shape[1]
    sure = np.isin(np.arange(workers), list(proved))
    return disputes(evidence, 0, evidence.different[0] > 0, sure, error)


def camps(*groups):
    return tuple(frozenset(group) for group in groups)


def across(one, other, number=1):
    return {(min(pair), max(pair)): number for pair in itertools.product(one, other)}


def test_where_nobody_contradicts_anybody_there_is_no_dispute():
    none = found(counts(4, {}, same=3, passed=2))
    assert () == none.listed
    assert np.isnan(none.lazy).all()
    assert not none.open.any()
    assert not none.opposed.any()


def test_two_camps_are_told_and_neither_is_believed_for_being_larger():
    """No sentinels: seven against one, or one against seven, is all the same."""
    made = found(counts(8, across(range(7), [7], 3), same=5))
    assert (Dispute(camps=camps(range(7), [7])),) == made.listed
    assert [0.5] * 8 == pytest.approx(made.lazy)
    assert made.open.all()
    expected = np.zeros((8, 8), dtype=bool)
    expected[7, :7] = expected[:7, 7] = True
    assert (expected == made.opposed).all()


def test_what_a_proved_worker_contradicts_needs_no_other_explanation():
    evidence = counts(4, across([0], [1, 2, 3], 4), same=4, passed=3)
    assert () == found(evidence, proved=[0]).listed
    assert 1 == len(found(evidence).listed)


def test_sentinels_settle_a_dispute_and_few_of_them_do_not():
    """One uncaught worker against five, each with as many sentinels of its own."""
    pairs = across([0], range(1, 6), 4)
    few, many = (found(counts(6, pairs, same=12, passed=number)) for number in (1, 12))
    assert (Dispute(camps=camps(range(1, 6), [0])),) == few.listed
    assert (Dispute(camps=camps(range(1, 6), [0]), believed=frozenset(range(1, 6))),) == many.listed
    assert [True, False, False, False, False, False] == many.open.tolist()
    assert 1 == pytest.approx(many.lazy[0] + many.lazy[1])


def test_a_smaller_camp_is_believed_if_its_sentinels_say_so():
    """Three of a camp of five passed hardly a sentinel; the other camp passed hundreds."""
    passed = [0, 0, 0, 0, 0, 60, 60, 60]
    made = found(counts(8, across(range(5), range(5, 8), 4), same=16, passed=passed))
    assert frozenset({5, 6, 7}) == made.listed[0].believed


def test_three_who_all_contradict_each_other_are_three_camps_and_none_is_opposed():
    made = found(counts(4, across([0], [1, 2]) | across([1], [2]), same=2))
    assert (Dispute(camps=camps([0], [1], [2])),) == made.listed
    assert [2 / 3] * 3 == pytest.approx(made.lazy[:3])
    assert not made.opposed.any()


def test_disputes_that_have_nothing_in_common_are_told_apart():
    made = found(counts(5, across([0], [1]) | across([2], [3])))
    assert (Dispute(camps=camps([0], [1])), Dispute(camps=camps([2], [3]))) == made.listed


def test_a_dispute_of_too_many_workers_is_left_open():
    """In a circle of 71 no two camps are possible, and explanations are past counting."""
    circle = {(min(a, b), max(a, b)): 1 for a, b in zip(range(71), [*range(1, 71), 0], strict=True)}
    made = found(counts(72, circle, passed=50))
    assert (Dispute(camps=camps(range(71))),) == made.listed
    assert made.open[:71].all()
    assert not made.open[71]
    # With two camps, however large, the two explanations are weighed.
    made = found(counts(101, across([100], range(100), 2), same=8, passed=30))
    assert frozenset(range(100)) == made.listed[0].believed


def test_a_dispute_with_too_many_explanations_is_left_open_unless_there_are_two_camps():
    """Few enough workers to list explanations, of which a circle has more than can be weighed."""

    def circle(workers):
        others = [*range(1, workers), 0]
        return {(min(pair), max(pair)): 1 for pair in zip(range(workers), others, strict=True)}

    made = found(counts(42, circle(41), passed=50))
    assert (Dispute(camps=camps(range(41))),) == made.listed
    assert [True] * 41 + [False] == made.open.tolist()
    made = found(counts(40, circle(40), passed=50))
    assert (Dispute(camps=camps(range(0, 40, 2), range(1, 40, 2))),) == made.listed


@pytest.mark.parametrize(
    ("dispute", "words"),
    [
        (
            Dispute(camps=camps([2, 0], [1])),
            "workers 1, 3 and worker 2 contradict each other, and no control tells who of them "
            "omits work: this accuses nobody",
        ),
        (
            Dispute(camps=camps([0, 2], [1]), believed=frozenset({0, 2})),
            "workers 1, 3 and worker 2 contradict each other; the controls speak for workers 1, 3",
        ),
        (
            Dispute(camps=camps(range(15))),
            "workers 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 and 3 more contradict each other, and no "
            "control tells who of them omits work: this accuses nobody",
        ),
    ],
)
def test_a_dispute_in_words(dispute, words):
    assert words == str(dispute)


def chance(share, fails, passes):
    return share**fails * (1 - share) ** passes


def by_hand(evidence, contradict, proved, error):
    """Weigh all sets of workers that may be the ones who work, by integration: the oracle."""
    workers = evidence.failed.shape[1]
    free = [indice for indice in range(workers) if indice not in proved]
    edges = [(a, b) for a, b in itertools.combinations(free, 2) if contradict[a, b]]
    # Workers who are connected by contradictions.
    part = {item: {item} for item in free}
    for a, b in edges:
        joined = part[a] | part[b]
        for item in joined:
            part[item] = joined
    lazy = np.full(workers, np.nan)
    for members in {frozenset(item) for item in part.values() if len(item) > 1}:
        inside = [edge for edge in edges if set(edge) <= members]
        sets = [
            set(some)
            for size in range(len(members) + 1)
            for some in itertools.combinations(sorted(members), size)
            if not any(set(edge) <= set(some) for edge in inside)
        ]
        explanations = [item for item in sets if not any(item < other for other in sets)]
        weights = []
        for works in explanations:
            idle, others = members - works, set(free) - (members - works)
            differ, same = (
                sum(table[0, a, b] for a in idle for b in others)
                for table in (evidence.different, evidence.same)
            )
            failed, passed = (
                sum(table[0, a] for a in idle) for table in (evidence.failed, evidence.passed)
            )

            some = quad(chance, 0, 1, (differ + failed, same + passed))[0]
            luck = some / quad(chance, 0, 1, (differ, same))[0]
            for item in works:
                luck *= chance(error, evidence.failed[0, item], evidence.passed[0, item])
            weights.append(luck)
        for item in members:
            wrong = sum(
                w for w, works in zip(weights, explanations, strict=True) if item not in works
            )
            lazy[item] = wrong / sum(weights)
    return lazy


@settings(max_examples=40)
@given(st.data())
def test_probabilities_are_those_of_all_explanations(data):
    workers = data.draw(st.integers(2, 6))
    pairs = {
        pair: data.draw(st.integers(0, 2)) for pair in itertools.combinations(range(workers), 2)
    }
    error = data.draw(st.sampled_from([0.0, 0.05]))
    passed = data.draw(st.lists(st.integers(0, 6), min_size=workers, max_size=workers))
    failed = data.draw(st.lists(st.integers(0, 2), min_size=workers, max_size=workers))
    proved = data.draw(st.sets(st.integers(0, workers - 1), max_size=2))
    evidence = counts(workers, pairs, data.draw(st.integers(0, 3)), passed, failed if error else 0)
    made = found(evidence, proved, error)
    expected = by_hand(evidence, evidence.different[0] > 0, proved, error)
    assert expected == pytest.approx(made.lazy, abs=1e-6, nan_ok=True)
    # Nobody is in two camps, no camp contradicts itself, and who is believed is not doubted.
    named = [item for dispute in made.listed for camp in dispute.camps for item in camp]
    assert sorted(named) == np.flatnonzero(~np.isnan(expected)).tolist()
    for dispute in made.listed:
        assert all(made.lazy[item] <= OPEN for item in dispute.believed)
        for camp in dispute.camps:
            assert not any(evidence.different[0, a, b] for a, b in itertools.combinations(camp, 2))
