"""Ledger: what each of several rounds cost and refused, and what that comes to as findings."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import attrs

from anonloom import Chart, Finding
from anonloom_transport.driver import Driver
from anonloom_transport.meter import Meter
from anonloom_transport.trace import Trace

_COSTS = ("phase", "clients, CPU s", "server, CPU s", "up, B", "down, B", "between servers, B")
_WHO = {"clients": "all senders together", "server": "one server"}


@attrs.frozen(eq=False)
class Entry:
    """One round.

    Attributes
    ----------
    name
        What it is called in findings.
    accepted
        Uploads that stood.
    described
        Bytes of the round's description, which every sender downloads.
    """

    name: str
    servers: int
    accepted: int
    described: int
    meter: Meter = attrs.field(repr=False)
    refused: Counter[str]
    trace: Trace = attrs.field(repr=False)
    simulated: bool

    @classmethod
    def of(cls, name: str, driver: Driver) -> "Entry":
        """Note what a round left; the engines with all their uploads can go."""
        return cls(
            name,
            driver.round.servers,
            min(server.accepted_count for server in driver.servers),
            len(driver.servers[0].notice or b""),
            driver.meter,
            driver.count_refusals(),
            driver.trace,
            driver.is_simulated,
        )


@attrs.define(eq=False)
class Ledger:
    """Several rounds of the same senders, in order."""

    entries: list[Entry] = attrs.field(factory=list)

    @property
    def refusal_counts(self) -> Counter[str]:
        """What all servers refused in all rounds, by reason."""
        return sum((entry.refused for entry in self.entries), Counter())

    @property
    def smallest(self) -> int:
        """Uploads that stood in the smallest round."""
        return min(entry.accepted for entry in self.entries)

    @property
    def is_simulated(self) -> bool:
        """Whether keys and coins of any round came from a seeded source."""
        return any(entry.simulated for entry in self.entries)

    def traffic(self, senders: int, rounds: str) -> Iterator[Finding]:
        """Yield bytes per sender and per server.

        Parameters
        ----------
        rounds
            How all of them are called: 'both rounds'.
        """
        described = sum(entry.described for entry in self.entries)
        up = self._between("client", "server")
        down = self._between("server", "client")
        inside = self._between("server", "server")
        for name, value, meaning in (
            ("upload", up / senders, f"Bytes that each sender sent, in {rounds} together."),
            (
                "download",
                described + down / senders,
                f"Bytes that each sender received, the description of {rounds} included.",
            ),
            (
                "between_servers",
                inside / self.entries[0].servers,
                "Bytes that each server sent to the others.",
            ),
        ):
            yield Finding(name=name, value=value, unit="bytes", meaning=meaning, better="lower")

    def _between(self, sender: str, receiver: str) -> int:
        return sum(entry.meter.between(sender, receiver) for entry in self.entries)

    def work(self, rounds: str) -> Iterator[Finding | Chart]:
        """Yield CPU seconds per role, and per phase and role."""
        rows = [row for entry in self.entries for row in _phases(entry)]
        for role, index in (("clients", 1), ("server", 2)):
            yield _seconds(f"{role}_cpu", sum(row[index] for row in rows), role, rounds)
        for role, index in (("clients", 1), ("server", 2)):
            for row in rows:
                if row[index]:
                    yield _seconds(f"{role}_cpu.{row[0]}", row[index], role, f"phase {row[0]}")
        yield Chart(
            name="costs",
            kind="table",
            title=f"Costs of {rounds}",
            meaning="CPU time of all clients and of one server, and bytes of all parties.",
            data={"columns": list(_COSTS), "rows": rows},
        )

    def refusals(self, others: Counter[str]) -> Iterator[Finding | Chart]:
        """Yield what was refused, with what was refused outside the rounds."""
        refused = others + self.refusal_counts
        yield Finding(
            name="refused",
            value=sum(refused.values()),
            meaning="Envelopes that servers refused, and records that could not be read.",
            better="lower",
        )
        if refused:
            yield Chart(
                name="refusals",
                kind="table",
                title="What was refused",
                data={"columns": ["reason", "how many"], "rows": list(map(list, refused.items()))},
            )


def _seconds(name: str, value: float, role: str, when: str) -> Finding:
    meaning = f"CPU time of {_WHO[role]} in {when}."
    return Finding(name=name, value=value, unit="s", meaning=meaning, better="lower")


def _phases(entry: Entry) -> list[list[Any]]:
    """Return one row of `_COSTS` per phase; a server's time is the mean over the servers."""
    servers, meter = entry.servers, entry.meter
    rows: list[list[Any]] = []
    for phase in dict.fromkeys(phase for phase, _ in meter.cpu):
        server = sum(meter.cpu[phase, f"server {index}"] for index in range(servers)) / servers
        ways = (("client", "server"), ("server", "client"), ("server", "server"))
        carried = [meter.bytes[phase, *way] for way in ways]
        rows.append([f"{entry.name}-{phase}", meter.cpu[phase, "clients"], server, *carried])
    return rows
