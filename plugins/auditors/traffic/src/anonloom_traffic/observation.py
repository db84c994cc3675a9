"""Observation: what the lines of the network show of every client in every round, as arrays."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping

import attrs
import numpy as np

from anonloom.typing import BoolArray, FloatArray
from anonloom_transport import Rounds, Trace


@attrs.define(eq=False)
class Lines:
    """What the network saw of one round.

    Attributes
    ----------
    bodies, uploads
        What each client sent, and under which ids.
    figures
        Of each client: the order and time of its first envelope, bytes and envelopes in both
        directions.
    appeared
        When each byte string was first sent by a server.
    batches
        What servers sent each other, by sender and step; a list of packets is one byte string.
    shown
        What each client was sent, by step and server.
    """

    bodies: dict[int, list[bytes]] = attrs.field(factory=dict)
    uploads: dict[int, set[bytes]] = attrs.field(factory=dict)
    figures: dict[int, defaultdict[str, float]] = attrs.field(factory=dict)
    appeared: dict[bytes, float] = attrs.field(factory=dict)
    batches: dict[tuple[int, str], set[bytes]] = attrs.field(factory=dict)
    shown: dict[tuple[str, int], dict[int, tuple[bytes, ...]]] = attrs.field(factory=dict)

    def of(self, client: int) -> defaultdict[str, float]:
        """Return the figures of a client."""
        if client not in self.figures:
            self.figures[client] = defaultdict(float)
        return self.figures[client]


#: What the network knows of a client in a round; 'down' is what it was sent.
CLIENT_FIGURES = ("order", "time", "up", "sent", "down", "received")


def lines(trace: Trace) -> Lines:
    """Read the envelopes of one round."""
    seen = Lines()
    for sight in trace.seen:
        if sight.by is not None:
            continue
        envelope = sight.envelope
        sender, receiver, size = envelope.sender, envelope.receiver, envelope.size
        if sender.role == "client":
            of = seen.of(sender.index)
            if "order" not in of:
                of["order"], of["time"] = len(seen.bodies), sight.at
            of["up"] += size
            of["sent"] += 1
            seen.bodies.setdefault(sender.index, []).append(envelope.body)
            if envelope.upload:
                seen.uploads.setdefault(sender.index, set()).add(envelope.upload)
        else:
            seen.appeared.setdefault(envelope.body, sight.at)
            if receiver.role == "server":
                words = seen.batches.setdefault((sender.index, envelope.step), set())
                words.add(envelope.body)
        if receiver.role == "client":
            of = seen.of(receiver.index)
            of["down"] += size
            of["received"] += 1
            group = seen.shown.setdefault((envelope.step, sender.index), {})
            group[receiver.index] = (*group.get(receiver.index, ()), envelope.body)
    return seen


def minority(shown: Mapping[int, Hashable]) -> set[int]:
    """Return the clients that were shown something else than most were.

    Where no version was shown to more than half of them (receipts differ for everybody), nobody.
    """
    versions = Counter(shown.values())
    usual, number = versions.most_common(1)[0]
    if number == len(shown) or 2 * number <= len(shown):
        return set()
    return {client for client, version in shown.items() if version != usual}


@attrs.frozen(eq=False)
class Observation:
    """What the network saw of all rounds; a row per round, a column per client.

    Attributes
    ----------
    clients
        Numbers of the cohort's members, in order: column i is `clients[i]`.
    column
        The column of each client.
    present
        Who uploaded in which round.
    figures
        See `CLIENT_FIGURES`; NaN where nothing was seen.
    marked
        Who was shown something else than most clients.
    two_lists
        Rounds in which one server did that.
    """

    rounds: Rounds
    lines: tuple[Lines, ...]
    clients: tuple[int, ...]
    column: dict[int, int]
    present: BoolArray
    figures: dict[str, FloatArray]
    marked: BoolArray
    two_lists: BoolArray


def observe(rounds: Rounds) -> Observation:
    """Read all rounds."""
    traces = rounds.traces
    read = tuple(lines(trace) for trace in traces)
    # Who uploads a decoy sends no message, and looks like everybody else.
    there = [
        {*trace.sent, *seen.uploads} - trace.absent
        for trace, seen in zip(traces, read, strict=True)
    ]
    known = ({*trace.sent, *trace.positions, *trace.absent} for trace in traces)
    clients = tuple(sorted(set().union(*known, *there)))
    column = {client: index for index, client in enumerate(clients)}
    shape = len(traces), len(clients)
    present, marked = np.zeros(shape, np.bool_), np.zeros(shape, np.bool_)
    figures = {name: np.full(shape, np.nan) for name in CLIENT_FIGURES}
    two_lists = np.zeros(len(traces), np.bool_)
    for index, seen in enumerate(read):
        present[index, [column[client] for client in there[index]]] = True
        for client, of in seen.figures.items():
            if client in column:
                for name, value in of.items():
                    figures[name][index, column[client]] = value
        one_server = [minority(shown) for shown in seen.shown.values()]
        two_lists[index] = any(one_server)
        others = set().union(*one_server, *(minority(shown) for shown in _steps(seen)))
        marked[index, [column[client] for client in others if client in column]] = True
    return Observation(rounds, read, clients, column, present, figures, marked, two_lists)


def _steps(seen: Lines) -> Iterable[dict[int, frozenset[bytes]]]:
    """What each client was shown in a step by any server: clients may have asked different ones."""
    steps: dict[str, dict[int, frozenset[bytes]]] = {}
    for (step, _), shown in seen.shown.items():
        of = steps.setdefault(step, {})
        for client, bodies in shown.items():
            of[client] = of.get(client, frozenset()) | frozenset(bodies)
    return steps.values()
