"""Synthetic traces: made-up traces, of a transport that hides perfectly and of ones that leak."""

from collections.abc import Sequence
from functools import cache
from typing import Literal

import attrs
import numpy as np

from anonloom_transport import Envelope, Link, Party, Rounds, SeenEnvelope, Trace

#: Bytes of a message.
SIZE = 32

Leak = Literal[
    "", "sizes", "order", "reverse", "same shuffle", "cascade", "state", "timing", "lists"
]


@attrs.define(eq=False, kw_only=True)
class SyntheticTraces:
    """Makes traces.

    Every sealed byte is random. Presence leaks when clients miss rounds (`miss`) and what they send
    recurs, as a pseudonym or as a position over several iterations.

    Parameters
    ----------
    leak
        Nothing; envelopes as long as what they hold; messages published in the order of uploads, in
        its reverse or by one shuffle for all rounds; a middle hop that does not shuffle (three
        servers); a server that knows what an upload held; messages that travel one by one as they
        came; another list shown to one client.
    clients, servers
        Size of the cohort, and number of servers.
    miss
        Share of the clients that are absent from a round.
    recurring
        Whether every client sends the same message in every round.
    iterations
        Rounds of a series of deposits over the same positions; 0 for posts.
    blank
        What stands at a position whose owner is absent.
    """

    leak: Leak = ""
    clients: int = 50
    servers: int = 2
    seed: int = 0
    miss: float = 0.0
    recurring: bool = False
    iterations: int = 0
    blank: bytes | None = None
    rng: np.random.Generator = attrs.field(init=False, repr=False)
    _names: list[bytes] = attrs.field(init=False, repr=False)
    _pool: bytes = attrs.field(default=b"", init=False, repr=False)
    _used: int = attrs.field(default=0, init=False, repr=False)
    _places: list[int] = attrs.field(factory=list, init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        self.rng = np.random.default_rng(self.seed)
        self._names = [self._random(SIZE) for _ in range(self.clients)]

    def _random(self, size: int) -> bytes:
        """Return random bytes; drawn in bulk, because a trace needs many."""
        if len(self._pool) < self._used + size:
            self._pool, self._used = self.rng.bytes(1 << 20), 0
        self._used += size
        return self._pool[self._used - size : self._used]

    def rounds(self, number: int) -> Rounds:
        """Return so many rounds of one cohort."""
        return Rounds(tuple(self._round(index) for index in range(number)), self.servers)

    def _round(self, at: int) -> Trace:
        there = [i for i in range(self.clients) if self.rng.random() >= self.miss]
        if self.iterations and at % self.iterations == 0:
            self._places = self.rng.permutation(self.clients).tolist()
        trace = Trace(absent=frozenset(set(range(self.clients)) - set(there)))
        odd = int(self.rng.choice(there)) if self.leak == "lists" else -1
        for i in there:
            trace.sent[i] = self._names[i] if self.recurring else self._message(i == odd)
        if self.iterations:
            trace.positions = {i: self._places[i] for i in there}
        order: list[int] = self.rng.permutation(there).tolist()
        now, sealed = self._upload(trace, order)
        for server in range(self.servers):
            usual, other = self._random(80), self._random(80)
            for i in there:
                shown = other if i == odd else usual
                self._send(trace, now, _server(server), _client(i), "list", shown)
        if self.leak == "cascade":
            self._cascade(trace, order, sealed, now)
            return trace
        self._publish(trace, order, odd)
        self._know(trace, order, sealed, now)
        return trace

    def _message(self, odd: bool) -> bytes:
        if self.leak == "lists":
            # Who was shown another list writes another head.
            return (b"OTHR" if odd else b"SAME") + self._random(SIZE - 4)
        if self.leak != "sizes":
            return self._random(SIZE)
        length = int(self.rng.integers(8, SIZE))
        text = self.rng.integers(97, 123, length).astype(np.uint8)
        return text.tobytes() + bytes(SIZE - length)

    def _upload(self, trace: Trace, order: Sequence[int]) -> tuple[float, dict[int, list[bytes]]]:
        now, sealed = 0.0, {}
        for i in order:
            now += float(self.rng.exponential())
            held = len(trace.sent[i].rstrip(b"\0")) if self.leak == "sizes" else SIZE
            sealed[i] = [self._random(64 + held) for _ in range(self.servers)]
            for server, body in enumerate(sealed[i]):
                self._send(trace, now, _client(i), _server(server), "upload", body)
                receipt = self._random(64)
                self._send(trace, now, _server(server), _client(i), "receipt", receipt)
        return now + 1, sealed

    def _publish(self, trace: Trace, order: list[int], odd: int) -> None:
        if self.iterations:
            rows = [self.blank] * self.clients
            for i, place in trace.positions.items():
                # She wrote beside her place, where somebody else's record is.
                rows[place] = None if i == odd else trace.sent[i]
            trace.published = tuple(rows)
            return
        fixed = np.random.default_rng(5).permutation(len(order))
        orders = {
            "order": order,
            "reverse": order[::-1],
            "same shuffle": [order[index] for index in fixed],
        }
        listed = orders.get(self.leak, self.rng.permutation(order).tolist())
        trace.published = tuple(trace.sent[i] for i in listed)

    def _know(
        self, trace: Trace, order: list[int], sealed: dict[int, list[bytes]], now: float
    ) -> None:
        """Let servers know what they opened: random bytes, unless one knows the message."""
        for server in range(self.servers):
            known = trace.links.setdefault(_server(server), [])
            for i in order:
                knows = self.leak == "state" and server == self.servers - 1
                known.append(Link(sealed[i][server], trace.sent[i] if knows else self._random(48)))
        leaks = self.leak == "timing"
        for i in order if leaks else self.rng.permutation(order).tolist():
            now += float(self.rng.exponential()) if leaks else 0.0
            self._send(trace, now, _server(0), _server(self.servers - 1), "shown", trace.sent[i])

    def _cascade(
        self, trace: Trace, order: list[int], sealed: dict[int, list[bytes]], now: float
    ) -> None:
        """Three hops, of which the middle one does not shuffle; packets travel as one list."""
        packets = {
            i: [sealed[i][0], self._random(40), self._random(40), trace.sent[i]] for i in order
        }
        first: list[int] = self.rng.permutation(order).tolist()
        last: list[int] = self.rng.permutation(order).tolist()
        trace.published = tuple(trace.sent[i] for i in last)
        for hop in range(3):
            trace.links[_server(hop)] = [
                Link(packets[i][hop], packets[i][hop + 1])
                for i in self.rng.permutation(order).tolist()
            ]
        for hop in range(2):
            batch = b"batch" + b"".join(packets[i][hop + 1] for i in first)
            self._send(trace, now, _server(hop), _server(hop + 1), "mixed", batch)

    def _send(
        self, trace: Trace, at: float, sender: Party, receiver: Party, step: str, body: bytes
    ) -> None:
        envelope = Envelope(sender=sender, receiver=receiver, step=step, round=b"round", body=body)
        trace.seen.append(SeenEnvelope(at, None, envelope))


@cache
def _client(index: int) -> Party:
    return Party("client", index)


@cache
def _server(index: int) -> Party:
    return Party("server", index)
