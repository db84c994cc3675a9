"""Entropies and ranks agree with slow, obvious references."""

import math
from fractions import Fraction

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from anonloom_traffic.attack_scoring import _isotonic, outcome, posterior, share
from anonloom_traffic.entropies import degree, interval, min_entropy, shannon
from anonloom_traffic.features import in_same_order, learn_scores, rank_in_rounds, table
from anonloom_traffic.guess_table import GuessTable, guess_table, series_of
from anonloom_traffic.observation import minority, observe
from anonloom_traffic.presence import Series, disclosure, intersection
from anonloom_traffic.views import View
from anonloom_transport import Rounds, Trace

weights = st.lists(st.integers(0, 20), min_size=1, max_size=12).filter(any)


@given(weights)
def test_shannon_entropy_is_its_sum(parts: list[int]) -> None:
    p = [Fraction(part, sum(parts)) for part in parts if part]
    expected = -sum(float(item) * math.log2(item) for item in p)
    assert shannon(parts) == pytest.approx(expected, abs=1e-12)


@given(weights)
def test_min_entropy_lies_below_shannon_and_both_below_the_logarithm(parts: list[int]) -> None:
    assert min_entropy(parts) == pytest.approx(-math.log2(max(parts) / sum(parts)), abs=1e-12)
    assert 0 <= min_entropy(parts) <= shannon(parts) + 1e-12
    assert shannon(parts) <= math.log2(len(parts)) + 1e-12


@given(st.integers(2, 1000))
def test_uniform_distribution_has_degree_one(senders: int) -> None:
    assert degree(shannon(np.ones(senders)), senders) == pytest.approx(1)
    assert 0 == degree(0, senders)


def test_degree_of_a_single_sender_is_zero() -> None:
    assert 0 == degree(0, 1)


@given(weights, weights)
def test_rows_are_taken_one_by_one(one: list[int], other: list[int]) -> None:
    size = min(len(one), len(other))
    rows = [one[:size], other[:size]]
    if all(map(any, rows)):
        assert [shannon(row) for row in rows] == shannon(rows).tolist()
        assert [min_entropy(row) for row in rows] == min_entropy(rows).tolist()


@pytest.mark.parametrize("wrong", [[0, 0], [1, -1, 3], []])
def test_weights_that_are_no_distribution_are_refused(wrong: list[int]) -> None:
    with pytest.raises(ValueError, match="weights must not be negative, and not all zero"):
        shannon(wrong)


@given(st.integers(1, 300), st.data(), st.sampled_from([0.9, 0.95, 0.99]))
def test_interval_is_that_of_clopper_and_pearson(
    trials: int, data: st.DataObject, at: float
) -> None:
    right = data.draw(st.integers(0, trials))
    expected = binomtest(right, trials).proportion_ci(at, "exact")
    assert interval(right, trials, at) == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_interval_without_trials_is_everything() -> None:
    assert (0.0, 1.0) == interval(0, 0, 0.99)


# --- a case made up of arrays -------------------------------------------------------------------


@st.composite
def cases(draw: st.DrawFn) -> tuple[GuessTable, np.ndarray]:
    """Messages with candidates and truth, and scores with many ties."""
    n, clients = draw(st.integers(2, 8)), draw(st.integers(2, 6))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    candidates = rng.random((n, clients)) < 0.7
    truth = np.zeros((n, clients), bool)
    truth[np.arange(n), rng.integers(0, clients, n)] = True
    return _sender_findings(candidates | truth, truth), rng.integers(0, 3, (n, clients)).astype(
        float
    )


def _sender_findings(
    candidates: np.ndarray, truth: np.ndarray, value: np.ndarray | None = None
) -> GuessTable:
    each = np.arange(len(truth))
    return GuessTable(
        rounds=each, places=each * 0, starts=each, home=each,
        value=each if value is None else value,
        candidates=candidates, truth=truth, deposit=np.zeros(len(truth), bool),
    )  # fmt: skip


@given(cases())
def test_success_is_that_of_a_guess_drawn_among_the_best(
    case: tuple[GuessTable, np.ndarray],
) -> None:
    of, scores = case
    result = outcome(scores, of)
    for row in range(len(of)):
        allowed = [i for i in range(scores.shape[1]) if of.candidates[row, i]]
        best = max(scores[row, i] for i in allowed)
        top = [i for i in allowed if scores[row, i] == best]
        assert len(top) == result.size[row]
        assert sum(bool(of.truth[row, i]) for i in top) / len(top) == result.hit[row]
        assert result.guess[row] in top


@given(cases())
def test_posterior_is_a_distribution_over_candidates_that_keeps_the_order(
    case: tuple[GuessTable, np.ndarray],
) -> None:
    of, scores = case
    train = np.arange(len(of)) % 2 == 0
    likely = posterior(View("", "", lambda _: scores), of, train)
    assert likely.sum(axis=1) == pytest.approx(1)
    assert (likely[~of.candidates] == 0).all()
    for row in range(len(of)):
        for i in np.flatnonzero(of.candidates[row]):
            for j in np.flatnonzero(of.candidates[row]):
                if scores[row, i] == scores[row, j]:
                    assert likely[row, i] == pytest.approx(likely[row, j])
                elif scores[row, i] > scores[row, j]:
                    assert likely[row, i] >= likely[row, j] - 1e-12


@given(st.lists(st.floats(0, 10), min_size=1, max_size=12))
def test_falling_keeps_the_sum_and_never_rises(values: list[float]) -> None:
    result = _isotonic(np.array(values))
    assert result.sum() == pytest.approx(sum(values))
    assert (np.diff(result) <= 1e-9).all()


@given(st.lists(st.integers(0, 4) | st.none(), min_size=1, max_size=10))
def test_ranks_are_shared_by_ties(values: list[int | None]) -> None:
    figures = np.array([[np.nan if v is None else v for v in values]])
    known = [v for v in values if v is not None]
    for value, rank in zip(values, rank_in_rounds(figures)[0], strict=True):
        if value is None:
            assert np.isnan(rank)
        else:
            below, same = sum(v < value for v in known), known.count(value)
            assert rank == pytest.approx((below + same / 2) / len(known))


def test_same_guess_of_the_same_bytes_is_one_trial() -> None:
    truth = np.eye(3, dtype=bool)[[0, 0, 1]]
    of = _sender_findings(np.ones((3, 3), bool), truth, np.array([7, 7, 8]))
    result = share(np.array([1.0, 1.0, 0.0]), np.array([0, 0, 0]), of, 0.99)
    assert (0.5, 2) == (result.value, result.trials)


@given(st.integers(0, 1000))
def test_what_is_learnt_of_a_message_does_not_score_it(seed: int) -> None:
    """Scores of learnt messages equal those of a table that was learnt from all others."""
    rng = np.random.default_rng(seed)
    n, clients = 5, 4
    truth = np.eye(clients, dtype=bool)[rng.integers(0, clients, n)]
    of = _sender_findings(np.ones((n, clients), bool), truth)
    ranks = rng.permuted(np.tile(np.arange(clients, dtype=float), (n, 1)), axis=1)
    messages = rng.integers(0, 3, (n, 1)).astype(float)
    places = attrs.evolve(table(ranks, messages), messages=messages.astype(int) + 1, shape=(5, 4))
    everything = np.ones(n, bool)
    whole = learn_scores(places, of, everything)
    for row in range(n):
        without = everything.copy()
        without[row] = False
        assert learn_scores(places, of, without)[row] == pytest.approx(whole[row])


def test_messages_in_the_order_of_clients_are_matched() -> None:
    clients = np.array([[3.0, 1.0, 2.0]] * 3)
    messages = np.array([[10.0, 20.0, 30.0]] * 3)
    of = attrs.evolve(
        _sender_findings(np.ones((3, 3), bool), np.eye(3, dtype=bool)), places=np.arange(3)
    )
    assert [1, 2, 0] == in_same_order(clients, messages, of).argmax(axis=1).tolist()


# --- presence -----------------------------------------------------------------------------------


@given(st.integers(0, 1000), st.booleans())
def test_intersection_counts_contradictions(seed: int, both: bool) -> None:
    rng = np.random.default_rng(seed)
    present, there = rng.random((4, 5)) < 0.6, rng.random((4, 3)) < 0.5
    keys = np.array([2, 0, 1])
    series = Series(np.arange(4), np.arange(3), keys, there.astype(float))
    result = intersection(series, present, both)
    for row, key in enumerate(keys):
        for client in range(5):
            wrong = sum(
                bool(there[t, key] and not present[t, client])
                or bool(both and present[t, client] and not there[t, key])
                for t in range(4)
            )
            assert -wrong == result[row, client]


def test_statistical_disclosure_finds_who_sends_what() -> None:
    rng = np.random.default_rng(1)
    present = rng.random((200, 8)) < 0.5
    series = Series(np.arange(200), np.arange(8), np.arange(8), present.astype(float))
    assert list(range(8)) == disclosure(series, present).argmax(axis=1).tolist()


def test_minority_needs_a_majority() -> None:
    assert {3} == minority({1: b"a", 2: b"a", 3: b"b"})
    assert set() == minority({1: b"a", 2: b"b", 3: b"c"})
    assert set() == minority({1: b"a", 2: b"a"})


# --- what is guessed ----------------------------------------------------------------------------


def _deposit(positions: dict[int, int], places: int = 3, absent: tuple[int, ...] = ()) -> Trace:
    sent = {client: bytes([client] * 4) for client in positions}
    rows: list[bytes | None] = [None] * places
    for client, place in positions.items():
        rows[place] = sent[client]
    return Trace(sent=sent, positions=positions, absent=frozenset(absent), published=tuple(rows))


def test_series_end_when_somebody_moves() -> None:
    traces = (
        _deposit({0: 0, 1: 1, 2: 2}),
        _deposit({0: 0, 2: 2}, absent=(1,)),
        _deposit({0: 1, 1: 0, 2: 2}),
        _deposit({0: 1, 1: 0}, absent=(2,)),
    )
    assert [0, 0, 1, 1] == series_of(traces).tolist()
    assert [0, 1, 2, 3] == series_of(traces, repeated=False).tolist()


def test_a_position_is_guessed_once_in_a_series() -> None:
    traces = (_deposit({0: 0, 1: 1, 2: 2}), _deposit({0: 0, 2: 2}, absent=(1,)))
    observed = observe(Rounds(traces, 2))
    whole, alone = guess_table(observed), guess_table(observed, repeated=False)
    assert (3, 5) == (len(whole), len(whole.rounds))
    assert 5 == len(alone)
    assert pytest.approx([1 / 3] * 3) == whole.chance
    assert pytest.approx([1 / 3] * 3 + [1 / 2] * 2) == alone.chance


def test_equal_messages_have_several_true_senders() -> None:
    trace = Trace(sent={0: b"yes", 1: b"yes", 2: b"no"}, published=(b"no", b"yes", b"yes"))
    of = guess_table(observe(Rounds((trace,), 1)))
    assert pytest.approx([1 / 3, 2 / 3, 2 / 3]) == of.chance


def test_posts_and_deposits_of_one_cohort_are_guessed_side_by_side() -> None:
    """A reservation is a post, what follows a deposit; neither is mistaken for the other."""
    post = Trace(sent={0: b"a", 1: b"b", 2: b"c"}, published=(b"c", b"a", b"b"))
    observed = observe(Rounds((post, _deposit({0: 1, 1: 2, 2: 0})), 2))
    of = guess_table(observed)
    assert [False] * 3 + [True] * 3 == of.deposit.tolist()
    assert [2, 0, 1, 0, 1, 2] == of.truth.argmax(axis=1).tolist()
    assert [0, 0, 0, 1, 1, 1] == of.rounds[of.starts].tolist()
    assert 6 == len(set(of.value.tolist()))
