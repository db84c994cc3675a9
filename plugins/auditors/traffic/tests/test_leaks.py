"""Perfect hiding is at chance level, and every planted leak is found, with the same trials.

50 clients, 400 rounds: 20,000 published messages.
"""

from typing import Any

import pytest

from anonloom import AuditInput, Release, StageContext
from anonloom_testing import tables
from anonloom_testing.transport.synthetic_traces import SyntheticTraces
from anonloom_traffic.attack import Guess, NothingToGuess, best_guess
from anonloom_traffic.auditor import MEANINGS, Traffic
from anonloom_transport import Envelope, Link, Party, Rounds, SeenEnvelope, Trace

pytestmark = pytest.mark.long

ROUNDS = 400


def guess(**kind: Any) -> Guess:
    return best_guess(SyntheticTraces(**kind).rounds(ROUNDS))


@pytest.mark.parametrize("servers", [2, 3])
def test_perfect_hiding_is_at_chance_level(servers: int) -> None:
    result = guess(servers=servers)
    low, high = result.top1.interval
    assert 20_000 == result.top1.trials
    assert low <= 1 / 50 <= high
    assert 0 == result.top1.excess
    assert 50 == result.smallest
    assert result.degree > 0.999


@pytest.mark.parametrize("iterations", [0, 2])
def test_intervals_cover_chance_as_often_as_they_promise(iterations: int) -> None:
    """Choosing the best of many views blames nobody: of 40 traces about 2 at 95 %.

    It takes the place of single traces: an interval of 99 % misses chance once in a hundred times,
    however well a trace hides. While this was written, perfect hiding with seed 1 missed by a hair
    and was dropped from the test above, which was then left with seed 0. A seed picked because it
    passes shows nothing; how many of 40 miss does.
    """
    missed = 0
    for seed in range(40):
        rounds = SyntheticTraces(clients=10, seed=seed, iterations=iterations).rounds(20)
        result = best_guess(rounds, confidence=0.95).top1
        missed += not result.interval[0] <= result.chance <= result.interval[1]
    assert missed <= 6  # a binomial count with mean 2 exceeds 6 once in 300 times


def test_deposits_that_nobody_misses_are_at_chance_level() -> None:
    """A position that is the same in five rounds is one trial, not five."""
    result = guess(iterations=5)
    assert 4_000 == result.top1.trials
    assert 0 == result.top1.excess
    assert result.top1.interval[0] <= 1 / 50 <= result.top1.interval[1]


def test_absence_without_recurrence_tells_nothing() -> None:
    """Who posts something new in every round hides among those who uploaded in that round."""
    result = guess(miss=0.1)
    assert 0 == result.top1.excess
    assert result.top1.chance > 1 / 50


LEAKS = [
    # leak, kind, family, least success, smallest set
    ("sizes", {}, "size", 0.3, 10),
    ("order", {}, "order", 1, 1),
    ("reverse", {}, "order", 1, 1),
    ("same shuffle", {}, "order", 1, 1),
    ("cascade", {"servers": 3}, "order", 1, 1),
    ("state", {}, "links", 1, 1),
    ("timing", {}, "timing", 0.9, 1),
    ("lists", {}, "lists", 0.035, 1),
    ("lists", {"iterations": 5}, "lists", 0.1, 1),
    ("", {"iterations": 5, "miss": 0.02}, "presence", 0.06, 1),
    ("", {"iterations": 5, "miss": 0.02, "blank": bytes(32)}, "presence", 0.06, 1),
    ("", {"recurring": True, "miss": 0.1}, "presence", 0.9, 1),
]


@pytest.mark.parametrize(("leak", "kind", "family", "least", "smallest"), LEAKS)
def test_planted_leak_is_found(
    leak: Any, kind: dict[str, Any], family: str, least: float, smallest: int
) -> None:
    result = guess(leak=leak, **kind)
    assert family == result.family
    assert result.top1.value >= least
    assert result.top1.excess > 0
    assert result.smallest <= smallest
    assert result.shannon < 5.6
    assert result.min_entropy < 5


def test_the_honest_server_matters() -> None:
    """What only one server knows leaks only when another one is the honest one."""
    rounds = SyntheticTraces(leak="state").rounds(40)  # the last server knows
    assert 0 == best_guess(rounds, honest=1).top1.excess
    assert 1 == best_guess(rounds, honest=0).top1.value
    assert 0 == best_guess(rounds).honest


def test_rounds_are_compared_only_if_asked() -> None:
    rounds = SyntheticTraces(iterations=5, miss=0.05).rounds(100)
    assert 0 == best_guess(rounds, repeated=False).top1.excess
    assert best_guess(rounds).top1.excess > 0.05


def test_two_iterations_give_an_absent_donor_away() -> None:
    """Absence leaks more with every iteration; the report prints the smallest blank pattern."""
    result = audited(SyntheticTraces(iterations=5, miss=0.02).rounds(100))
    curve = next(chart for chart in result.charts if chart.name == "presence_over_rounds")
    absent = curve.data["ever absent"]["y"]
    assert absent == sorted(absent)
    assert absent[-1] > 0.3
    assert 1 == result["smallest_blank_pattern"].value
    assert result["absent_success"].value == pytest.approx(absent[-1])


def test_messages_in_clear_are_found_inside_what_was_sent() -> None:
    """Framing around a message does not hide it, nor around what a server opened."""
    rounds = SyntheticTraces(clients=20).rounds(20)
    for trace in rounds.traces:
        sights = [
            SeenEnvelope(0, None, _from_client(i, b"head" + message + b"tail"))
            for i, message in trace.sent.items()
        ]
        trace.seen += sights
    assert 1 == best_guess(rounds).top1.value


def test_opened_content_that_holds_a_message_is_followed() -> None:
    rounds = SyntheticTraces(clients=20).rounds(20)
    for trace in rounds.traces:
        body = {
            s.envelope.sender.index: s.envelope.body
            for s in trace.seen
            if s.envelope.step == "upload"
        }
        trace.links[Party("server", 1)] = [
            Link(body[i][8:40], b"\1\2" + message) for i, message in trace.sent.items()
        ]
    assert 1 == best_guess(rounds).top1.value


def test_position_known_to_a_server_is_followed() -> None:
    """A server that knows at which position an upload lies says so in eight bytes."""
    rounds = SyntheticTraces(clients=20, iterations=1).rounds(20)
    for trace in rounds.traces:
        body = {
            s.envelope.sender.index: s.envelope.body
            for s in trace.seen
            if s.envelope.step == "upload"
        }
        trace.links[Party("server", 1)] = [
            Link(body[i], place.to_bytes(8, "big")) for i, place in trace.positions.items()
        ]
    assert 1 == best_guess(rounds).top1.value


def test_stable_answers_of_many_are_not_blamed_on_chance() -> None:
    """The same guess of the same bytes in a hundred rounds is one trial."""
    rounds = SyntheticTraces(clients=20, miss=0.1).rounds(100)
    for trace in rounds.traces:
        trace.sent = {i: b"yes" if i % 2 else b"no" for i in trace.sent}
        trace.published = tuple(sorted(trace.sent.values()))
    result = best_guess(rounds)
    assert result.top1.trials < 200
    assert result.top1.chance == pytest.approx(0.5, abs=0.1)


def test_nothing_to_guess() -> None:
    with pytest.raises(NothingToGuess):
        best_guess(Rounds((Trace(),), 2))
    with pytest.raises(NothingToGuess):
        best_guess(SyntheticTraces(clients=1).rounds(3))


def _from_client(index: int, body: bytes) -> Envelope:
    return Envelope(
        sender=Party("client", index),
        receiver=Party("server", 0),
        step="upload",
        round=b"",
        body=body,
    )


# --- what the auditor says ----------------------------------------------------------------------


def audited(trace: Any, **params: Any) -> Any:
    case = AuditInput(Release.as_it_is(tables.crowd(20).table()), trace=trace)
    return Traffic(**params).audit(case, StageContext())


def test_no_message_is_in_the_findings() -> None:
    rounds = SyntheticTraces(leak="lists", clients=10).rounds(10)
    text = repr(audited(rounds))
    for trace in rounds.traces:
        for message in trace.sent.values():
            assert repr(message)[2:-1] not in text
            assert message.hex() not in text
    assert "OTHR" not in text


def test_every_figure_is_there_with_and_without_a_trace() -> None:
    result = audited(SyntheticTraces(clients=10).rounds(3))
    nothing = audited(None)
    assert list(MEANINGS) == [finding.name for finding in nothing]
    assert set(MEANINGS) == {finding.name for finding in result}
    assert {"not assessable"} == {finding.status for finding in nothing}


def test_bytes_per_user() -> None:
    """Two uploads of 96 bytes up; two receipts of 64 and two lists of 80 down; round ids of 5."""
    result = audited(SyntheticTraces(clients=10).rounds(2))
    assert 2 * (96 + 5) == result["bytes_up"].value
    assert 2 * (64 + 5) + 2 * (80 + 5) == result["bytes_down"].value


def test_two_lists_are_counted() -> None:
    assert (
        6
        == audited(SyntheticTraces(leak="lists", clients=10).rounds(6))[
            "rounds_with_two_lists"
        ].value
    )
    assert 0 == audited(SyntheticTraces(clients=10).rounds(6))["rounds_with_two_lists"].value


def test_what_leaked_is_named() -> None:
    leaks = audited(SyntheticTraces(leak="order", clients=10).rounds(20))
    assert "order of uploads and of what was published" == leaks["leaking_view"].value
    hides = audited(SyntheticTraces(clients=10).rounds(20))
    assert (None, "none detected") == (hides["leaking_view"].value, hides["leaking_view"].status)


def test_fewer_trials_are_drawn() -> None:
    assert 50 == audited(SyntheticTraces(clients=10).rounds(20), trials=50)["messages"].value
