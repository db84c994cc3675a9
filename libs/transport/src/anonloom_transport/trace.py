"""Trace: what each party and the network saw of a round, and what really happened."""

from collections.abc import Iterable

import attrs

from anonloom_transport.engines import Envelope
from anonloom_transport.rounds import Party


@attrs.frozen
class SeenEnvelope:
    """One envelope as somebody saw it.

    Attributes
    ----------
    at
        When.
    by
        The party that sent or received it; None for the network, which sees every envelope that is
        sent, lost ones too.
    """

    at: float
    by: Party | None
    envelope: Envelope


@attrs.frozen
class Link:
    """Two byte strings that a server knows to belong together."""

    one: bytes = attrs.field(repr=False)
    other: bytes = attrs.field(repr=False)


@attrs.define(eq=False)
class Trace:
    """What each party and the network saw, in order; and, to score guesses by, the truth.

    Attributes
    ----------
    seen
        Envelopes, in the order in which they were sent and received.
    links
        What each server could connect, in the order in which it learned it.
    sent
        Truth: what each client sent, by its number.
    positions
        Truth: at which position each client deposited.
    absent
        Members of the cohort who did not upload. The network sees that they did not.
    published
        What became public, in its order.
    """

    seen: list[SeenEnvelope] = attrs.field(factory=list, repr=False)
    links: dict[Party, list[Link]] = attrs.field(factory=dict, repr=False)
    sent: dict[int, bytes] = attrs.field(factory=dict, repr=False)
    positions: dict[int, int] = attrs.field(factory=dict, repr=False)
    absent: frozenset[int] = attrs.field(default=frozenset(), repr=False)
    published: tuple[bytes | None, ...] = attrs.field(default=(), repr=False)

    def of(self, *parties: Party) -> list[SeenEnvelope]:
        """Return what these parties saw together."""
        return [sight for sight in self.seen if sight.by in parties]

    @property
    def network(self) -> list[SeenEnvelope]:
        """What an observer of all lines saw."""
        return [sight for sight in self.seen if sight.by is None]


def _tuple(traces: Iterable[Trace]) -> tuple[Trace, ...]:
    return tuple(traces)


@attrs.frozen
class Rounds:
    """The traces of one round, or of several with the same cohort.

    Attributes
    ----------
    servers
        Number of servers.
    """

    traces: tuple[Trace, ...] = attrs.field(converter=_tuple, repr=False)
    servers: int
