"""Toy transports whose traces are made up: one that hides perfectly, and leaks planted into it."""

import attrs
import numpy as np

from anonloom.kinds.engines import Envelope
from anonloom.kinds.rounds import Party
from anonloom.protocol.trace import Link, Rounds, Seen, Trace

SIZE = 32


@attrs.define(eq=False)
class Toy:
    """A cascade of servers; every leak is off unless asked for.

    Attributes
    ----------
    leak
        '' for perfect hiding, or the name of a leak.
    miss
        Share of clients that are absent in a round.
    recurring
        Whether every client sends the same message in every round (a pseudonym).
    iterations
        Rounds of a series of deposits over the same positions; 0 for posts.
    """

    leak: str = ""
    clients: int = 50
    servers: int = 2
    seed: int = 0
    miss: float = 0.0
    recurring: bool = False
    iterations: int = 0
    blank: bytes | None = None
    honest: int = 0
    rng: np.random.Generator = attrs.field(init=False)
    _names: list[bytes] = attrs.field(factory=list, init=False)
    _places: list[int] = attrs.field(factory=list, init=False)

    def __attrs_post_init__(self):
        self.rng = np.random.default_rng(self.seed)
        self._names = [self.rng.bytes(SIZE) for _ in range(self.clients)]

    def rounds(self, number):
        return Rounds(tuple(self.round(at) for at in range(number)), self.servers)

    def round(self, at):
        rng, everybody = self.rng, range(self.clients)
        there = [i for i in everybody if not self.miss or rng.random() >= self.miss]
        if self.iterations and at % self.iterations == 0:
            self._places = rng.permutation(self.clients).tolist()
        messages = {i: self._names[i] if self.recurring else self._message() for i in there}
        trace = Trace(sent=messages, absent=frozenset(set(everybody) - set(there)))
        if self.iterations:
            trace.positions = {i: self._places[i] for i in there}
        self._traffic(trace, there)
        return trace

    def _message(self):
        if self.leak != "sizes":
            return self.rng.bytes(SIZE)
        length = int(self.rng.integers(8, SIZE))
        return bytes(self.rng.integers(1, 120, length, dtype=np.uint8)) + bytes(SIZE - length)

    def _traffic(self, trace, there):
        rng = self.rng
        order = rng.permutation(there).tolist()
        now, marked = 0.0, int(rng.choice(there)) if self.leak == "lists" else -1
        sealed = {}
        for i in order:
            now += float(rng.exponential())
            message = trace.sent[i]
            size = 64 + len(message.rstrip(b"\0")) if self.leak == "sizes" else 96
            for server in range(self.servers):
                body = rng.bytes(size)
                sealed[i, server] = body
                self._send(trace, now, Party("client", i), Party("server", server), "upload", body)
                self._send(
                    trace,
                    now,
                    Party("server", server),
                    Party("client", i),
                    "receipt",
                    rng.bytes(64),
                )
        for server in range(self.servers):
            usual, other = rng.bytes(80), rng.bytes(80)
            for i in there:
                shown = other if i == marked else usual
                self._send(
                    trace, now + 1, Party("server", server), Party("client", i), "list", shown
                )
        self._publish(trace, order, marked, sealed, now + 2)

    def _publish(self, trace, order, marked, sealed, now):
        rng = self.rng
        if marked >= 0 and not trace.positions:
            # Whoever was shown another list wrote another head into its message.
            trace.sent = {
                i: b"OTHR" + m[4:] if i == marked else b"SAME" + m[4:]
                for i, m in trace.sent.items()
            }
        if trace.positions:
            rows = [self.blank] * self.clients
            for i, place in trace.positions.items():
                rows[place] = trace.sent[i]
            if marked >= 0:
                rows[trace.positions[marked]] = None
            trace.published = tuple(rows)
        else:
            shuffled = {
                "order": order,
                "reverse": order[::-1],
                "same shuffle": [
                    order[j] for j in np.random.default_rng(5).permutation(len(order))
                ],
            }.get(self.leak, rng.permutation(order).tolist())
            trace.published = tuple(trace.sent[i] for i in shuffled)
        if self.leak == "cascade":
            self._cascade(trace, order, sealed, now)
            return
        # Every server but one tells what it knows: sealed bytes, and something opened from them.
        for server in range(self.servers):
            known = trace.links.setdefault(Party("server", server), [])
            for i in order:
                opened = trace.sent[i] if self.leak == "state" and server == 1 else rng.bytes(48)
                known.append(Link(sealed[i, server], opened))
        if self.leak == "timing":
            for i in order:
                now += float(rng.exponential())
                self._send(
                    trace, now, Party("server", 0), Party("server", 1), "forward", trace.sent[i]
                )
        else:
            for i in rng.permutation(order).tolist():
                self._send(
                    trace, now, Party("server", 0), Party("server", 1), "forward", trace.sent[i]
                )

    def _cascade(self, trace, order, sealed, now):
        """Three hops, of which the middle one does not shuffle; packets travel as one list."""
        packets = {
            i: [sealed[i, 0], *(self.rng.bytes(40) for _ in range(2)), trace.sent[i]] for i in order
        }
        lists = [order, self.rng.permutation(order).tolist()]
        lists += [lists[1], self.rng.permutation(order).tolist()]
        trace.published = tuple(trace.sent[i] for i in lists[3])
        for hop in range(3):
            known = trace.links.setdefault(Party("server", hop), [])
            known += [
                Link(packets[i][hop], packets[i][hop + 1]) for i in self.rng.permutation(order)
            ]
            if hop < 2:
                batch = b"batch" + b"".join(packets[i][hop + 1] for i in lists[hop + 1])
                self._send(
                    trace, now, Party("server", hop), Party("server", hop + 1), "mixed", batch
                )

    def _send(self, trace, at, sender, receiver, step, body):
        envelope = Envelope(sender=sender, receiver=receiver, step=step, round=b"r" * 8, body=body)
        trace.seen.append(Seen(at, sender, envelope))
        trace.seen.append(Seen(at, None, envelope))
