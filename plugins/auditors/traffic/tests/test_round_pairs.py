"""Messages of different rounds are linked where that shows, and by chance where it does not."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from anonloom import AuditInput, Finding, Release, StageContext
from anonloom_testing import tables
from anonloom_traffic.attack import best_guess
from anonloom_traffic.auditor import Traffic
from anonloom_traffic.guess_table import guess_table, series_of
from anonloom_traffic.observation import observe
from anonloom_traffic.round_pairs import PAIRS, round_pairs
from anonloom_transport import Envelope, Link, Party, Rounds, SeenEnvelope, Trace

CLIENTS = 20
SERVERS = [Party("server", 0), Party("server", 1)]


def trace(
    messages: Sequence[bytes], order: Sequence[int], positions: bool = False, **more: Any
) -> Trace:
    """Return a round whose uploads say nothing; place i holds the message of client order[i]."""
    rng = np.random.default_rng(list(messages[0]))
    seen = [
        SeenEnvelope(
            float(index),
            None,
            Envelope(
                sender=Party("client", index),
                receiver=server,
                step="upload",
                round=b"r",
                upload=rng.bytes(16),
                body=rng.bytes(64),
            ),
        )
        for index in range(len(messages))
        for server in SERVERS
    ]
    return Trace(
        seen=seen,
        links={server: [] for server in SERVERS},
        sent=dict(enumerate(messages)),
        positions={client: place for place, client in enumerate(order)} if positions else {},
        published=tuple(messages[client] for client in order),
        **more,
    )


def study(rng: np.random.Generator, arrange: Callable[[int], Sequence[int]]) -> Rounds:
    """Two posts and a deposit of random messages; `arrange` gives the order of each."""
    drawn = [[rng.bytes(24) for _ in range(CLIENTS)] for _ in range(3)]
    return Rounds(
        [trace(of, arrange(index), positions=index == 2) for index, of in enumerate(drawn)],
        servers=2,
    )


def linked(studies: Sequence[Rounds]) -> Any:
    pairs = [pair for item in studies for pair in round_pairs(item).traces]
    return best_guess(Rounds(pairs, servers=2), repeated=False)


def audited(rounds: Rounds) -> list[Finding]:
    case = AuditInput(Release.as_it_is(tables.crowd(20).table()), trace=rounds)
    return list(Traffic().audit(case, StageContext(seed=1)))


def test_rounds_that_are_shuffled_anew_are_linked_by_chance() -> None:
    rng = np.random.default_rng(0)
    result = linked([study(rng, lambda _: rng.permutation(CLIENTS).tolist()) for _ in range(20)])
    assert 20 * 3 * CLIENTS == result.top1.trials
    assert 1 / CLIENTS == pytest.approx(result.top1.chance)
    assert 0 == result.top1.excess


def test_rounds_that_are_shuffled_alike_are_linked_though_no_client_is_named() -> None:
    """A new shuffle for every study, the same in all its rounds: clients stay hidden."""
    rng = np.random.default_rng(1)
    studies = []
    for _ in range(20):
        order = rng.permutation(CLIENTS).tolist()
        studies.append(study(rng, lambda _, order=order: order))  # type: ignore[misc]  # bound now, not when it is called
    result = linked(studies)
    assert 1.0 == result.top1.value
    assert "order" == result.family
    posts = Rounds([item.traces[0] for item in studies], servers=2)
    assert 0 == best_guess(posts, repeated=False).top1.excess


def test_bytes_that_occur_in_two_rounds_link_them() -> None:
    """An identifier that is used twice, though each round hides whose it is."""
    rng = np.random.default_rng(2)
    pairs = []
    for _ in range(10):
        names = [rng.bytes(16) for _ in range(CLIENTS)]
        first, second = ([name + rng.bytes(8) for name in names] for _ in range(2))
        one, other = (trace(of, rng.permutation(CLIENTS).tolist()) for of in (first, second))
        pairs.append(Rounds([one, other], servers=2))
    result = linked(pairs)
    assert (1.0, "links") == (result.top1.value, result.family)


def test_clients_who_are_named_in_both_rounds_link_them() -> None:
    rng = np.random.default_rng(3)
    named = []
    for _ in range(4):
        one = study(rng, lambda _: rng.permutation(CLIENTS).tolist())
        for of in one.traces:
            bodies = {s.envelope.sender.index: s.envelope.body for s in of.seen}
            of.links[SERVERS[0]] = [Link(bodies[c], m) for c, m in of.sent.items()]
        named.append(one)
    assert 1.0 == linked(named).top1.value


def test_the_auditor_says_what_links_rounds() -> None:
    rng = np.random.default_rng(4)
    order = rng.permutation(CLIENTS).tolist()
    results = {item.name: item for item in audited(study(rng, lambda _: order))}
    assert 1.0 == results["linked_success"].value
    assert "order of uploads and of what was published" == results["linking_view"].value
    assert results["linked_excess"].value > 0.8  # type: ignore[operator]  # it is a number


def test_one_round_has_nothing_to_be_linked_with() -> None:
    rng = np.random.default_rng(5)
    one = Rounds(study(rng, lambda _: range(CLIENTS)).traces[:1], servers=2)
    assert () == round_pairs(one).traces
    statuses = [result.status for result in audited(one) if result.name.startswith("link")]
    assert ["not assessable"] * 4 == statuses


def test_of_many_rounds_some_pairs_are_compared() -> None:
    rng = np.random.default_rng(6)
    posts = [trace([rng.bytes(24), rng.bytes(24)], [0, 1]) for _ in range(100)]
    assert PAIRS == len(round_pairs(Rounds(posts, servers=2)).traces)


def test_posts_between_deposits_do_not_end_a_series() -> None:
    """Whether consent holds may be asked in a post before each deposit over the same positions."""
    rng = np.random.default_rng(7)
    drawn = [[rng.bytes(24) for _ in range(3)] for _ in range(5)]
    traces = tuple(
        trace(of, [2, 0, 1], positions=index in (1, 3, 4)) for index, of in enumerate(drawn)
    )
    assert [0, 1, 2, 1, 1] == series_of(traces).tolist()
    assert [0, 1, 2, 3, 4] == series_of(traces, repeated=False).tolist()


def test_who_sends_a_decoy_is_there() -> None:
    """A decoy leaves no message; on the lines it looks like any other upload."""
    rng = np.random.default_rng(8)
    one = trace([rng.bytes(24) for _ in range(4)], [3, 1, 0, 2], positions=True)
    del one.sent[2], one.positions[2]
    one.published = (*one.published[:3], None)
    seen = observe(Rounds([one], servers=2))
    assert [[True] * 4] == seen.present.tolist()
    assert [4] * 3 == guess_table(seen).candidates.sum(axis=1).tolist()
