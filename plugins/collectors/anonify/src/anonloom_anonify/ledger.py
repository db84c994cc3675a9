"""Ledger: what each round of a study cost, and what was refused and accepted in it."""

from collections import Counter

import attrs

from anonloom.protocol.driver import Driver
from anonloom.protocol.meter import Meter
from anonloom.protocol.trace import Trace


@attrs.frozen(eq=False)
class Entry:
    """One round.

    Attributes
    ----------
    accepted
        Uploads that stood.
    described
        Bytes of the round's description, which every donor downloads.
    """

    name: str
    accepted: int
    described: int
    meter: Meter = attrs.field(repr=False)
    refused: Counter[str]
    trace: Trace = attrs.field(repr=False)
    simulated: bool

    @classmethod
    def of(cls, name: str, driver: Driver) -> "Entry":
        """Note what a round left."""
        return cls(
            name,
            min(server.accepted for server in driver.servers),
            len(driver.servers[0].notice or b""),
            driver.meter,
            driver.refused(),
            driver.trace,
            driver.simulated,
        )


@attrs.define(eq=False)
class Ledger:
    """All rounds of a study, in order."""

    entries: list[Entry] = attrs.field(factory=list)

    @property
    def refused(self) -> Counter[str]:
        """What all servers refused in all rounds, by reason."""
        return sum((entry.refused for entry in self.entries), Counter())

    def server_cpu(self, servers: int) -> float:
        """CPU seconds of one server in all rounds, on average."""
        return sum(
            seconds
            for entry in self.entries
            for (_, who), seconds in entry.meter.cpu.items()
            if who != "clients"
        ) / servers
