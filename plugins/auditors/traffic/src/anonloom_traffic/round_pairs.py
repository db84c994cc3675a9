"""Pairs of rounds: which published messages of different rounds are from the same sender.

Rounds of one cohort may each hide who sent what and still give away that two messages have one
sender: a list that is shuffled alike in both, bytes that occur in both. Whoever posted what is
known of her in one round, and what is secret in another, is then told apart without being named.

The messages of the earlier round are made the clients of a round, in the order in which they were
published; what is guessed is which of them belongs to a message of the later one. So everything
that finds clients finds these as well.
"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from anonloom_traffic.guess_table import series_of
from anonloom_traffic.tracing import SHORTEST_PART, Parts, bits
from anonloom_transport import Envelope, Link, Party, Rounds, SeenEnvelope, Trace

#: How many phases lie between two rounds that are compared, at most.
REACH = 3
#: Most pairs of rounds that are compared; of more, that many are taken evenly.
PAIRS = 200


def round_pairs(rounds: Rounds) -> Rounds:
    """Return the pairs of a post and a later round, each as a round to be guessed."""
    phases = list(_phases(rounds.traces))
    pairs = [
        (earlier, later)
        for index, earlier in enumerate(phases)
        for later in phases[index + 1 : index + 1 + REACH]
        if not earlier.positions
    ]
    some = np.unique(np.linspace(0, len(pairs) - 1, min(len(pairs), PAIRS)).astype(int))
    made = (_pair(*pairs[index]) for index in some.tolist())
    return Rounds(tuple(trace for trace in made if len(trace.sent) > 1), rounds.servers)


def _phases(traces: tuple[Trace, ...]) -> Iterator[Trace]:
    """Yield every post that ended, and of every series of deposits the first that did."""
    seen = set()
    for number, trace in zip(series_of(traces).tolist(), traces, strict=True):
        if trace.published and number not in seen:
            seen.add(number)
            yield trace


def _pair(earlier: Trace, later: Trace) -> Trace:
    owner = _owners(earlier)
    # Of whom nothing is published later there is nothing to connect the earlier message with.
    sent = {place: client for place, client in owner.items() if client in later.sent}
    return Trace(
        seen=[
            *_uploads(earlier, owner),
            *_between_servers(earlier),
            *_between_servers(later),
        ],
        links=_both(earlier, later),
        sent={place: later.sent[client] for place, client in sent.items()},
        positions={
            place: later.positions[client]
            for place, client in sent.items()
            if client in later.positions
        },
        published=later.published,
    )


def _owners(trace: Trace) -> dict[int, int]:
    """Return who sent what was published, by place; messages that several sent tell nobody."""
    senders: dict[bytes, list[int]] = {}
    for client, message in trace.sent.items():
        if client not in trace.absent:
            senders.setdefault(message, []).append(client)
    of = ((place, senders.get(item or b"", ())) for place, item in enumerate(trace.published))
    return {place: whose[0] for place, whose in of if len(whose) == 1}


def _uploads(trace: Trace, owner: Iterable[int]) -> Iterator[SeenEnvelope]:
    """Let every message be sent by a client of its own, in the order in which they came out."""
    for place in owner:
        envelope = Envelope(
            sender=Party("client", place),
            receiver=Party("server", 0),
            step="upload",
            round=b"",
            body=trace.published[place] or b"",
        )
        yield SeenEnvelope(float(place), None, envelope)


def _between_servers(trace: Trace) -> Iterator[SeenEnvelope]:
    for sight in trace.seen:
        if sight.by is None and sight.envelope.sender.role == sight.envelope.receiver.role:
            yield sight


def _both(earlier: Trace, later: Trace) -> dict[Party, list[Link]]:
    """Return what each server knows of both rounds, and all lines: which clients are the same."""
    clients = sorted({*earlier.sent, *later.sent})
    same = [Link(_node("earlier", client), _node("later", client)) for client in clients]
    same += _shared_byte_links(earlier, later)
    return {
        party: [
            *_known_links("earlier", earlier, earlier.links.get(party, [])),
            *_known_links("later", later, later.links.get(party, [])),
            *same,
        ]
        for party in {**earlier.links, **later.links}
    }


def _known_links(name: str, trace: Trace, links: Sequence[Link]) -> Iterator[Link]:
    """Yield what a server knows to belong together; and which of it came from which client.

    Messages are a part of what servers open, and that is sealed in a part of what clients send.
    """
    yield from links
    ends = list(dict.fromkeys(end for link in links for end in (link.one, link.other)))
    opened = Parts({end: 1 << index for index, end in enumerate(ends)})
    for message in trace.published:
        if message is not None and len(message) > SHORTEST_PART:
            for index in bits(opened.holders(message)):
                if ends[index] != message:
                    yield Link(ends[index], message)
    bodies: dict[bytes, int] = {}
    for sight in trace.seen:
        sender, envelope = sight.envelope.sender, sight.envelope
        if sight.by is None and sender.role == "client":
            for string in (envelope.body, envelope.upload):
                bodies[string] = bodies.get(string, 0) | 1 << sender.index
    sent = Parts(bodies)
    for end in ends:
        if len(end) >= SHORTEST_PART:
            for client in bits(sent.holders(end)):
                yield Link(_node(name, client), end)


def _shared_byte_links(earlier: Trace, later: Trace) -> Iterator[Link]:
    """Yield pairs of messages that have bytes in common that no other message of theirs has."""
    windows = [_windows(trace) for trace in (earlier, later)]
    for window, item in windows[0].items():
        other = windows[1].get(window)
        if item is not None and other is not None and item != other:
            yield Link(item, other)


def _windows(trace: Trace) -> dict[bytes, bytes | None]:
    """Return the message that has each sequence of bytes; None where several have it."""
    results: dict[bytes, bytes | None] = {}
    for message in set(trace.published) - {None}:
        assert message is not None
        for index in range(len(message) - SHORTEST_PART + 1):
            window = message[index : index + SHORTEST_PART]
            results[window] = message if results.get(window, message) == message else None
    return results


def _node(name: str, client: int) -> bytes:
    return f"client {client:08} of the {name} round".encode()
