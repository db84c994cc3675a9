"""Meter: what a round costs, by phase and role."""

import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

import attrs

from anonloom import short_repr
from anonloom_transport.rounds import Party


@short_repr
@attrs.define
class Meter:
    """CPU seconds and bytes of one round.

    Attributes
    ----------
    phase
        The phase that is running: `begin`, `upload`, `close`, `settle`, `count`, `open`.
    cpu
        CPU seconds by phase and party; all clients count as one.
    bytes
        Bytes sent by phase, role of the sender and role of the receiver.
    """

    phase: str = "begin"
    cpu: dict[tuple[str, str], float] = attrs.field(factory=lambda: defaultdict(float))
    bytes: Counter[tuple[str, str, str]] = attrs.field(factory=Counter)

    @contextmanager
    def work(self, party: Party) -> Iterator[None]:
        """Count the CPU time of what a party does."""
        began = time.thread_time()
        try:
            yield
        finally:
            who = str(party) if party.role == "server" else "clients"
            self.cpu[self.phase, who] += time.thread_time() - began

    def count_bytes(self, sender: Party, receiver: Party, size: int) -> None:
        """Count what travels."""
        self.bytes[self.phase, sender.role, receiver.role] += size

    def between(self, sender: str, receiver: str) -> int:
        """Return how many bytes one role sent to another in the whole round."""
        return sum(
            size
            for (_, item, other), size in self.bytes.items()
            if (item, other) == (sender, receiver)
        )
