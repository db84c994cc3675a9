"""What a delivery cost and what became of the rows, as findings."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from anonloom.data.findings import Chart, Finding
from anonloom.protocol.driver import Driver
from anonloom_delivery.sending import Sent

_COSTS = ("phase", "clients, CPU s", "server, CPU s", "up, B", "down, B", "between servers, B")


def findings_of(
    sent: Sent, senders: int, record_size: int, unreadable: Mapping[str, int]
) -> Iterator[Finding | Chart]:
    """Yield what happened to the rows, what it cost, and what was refused.

    Parameters
    ----------
    unreadable
        Records that arrived and are none, by reason.
    """
    drivers = (sent.post, sent.deposit)
    # What experiments compare first comes first.
    delivered, *others = _rows(sent, senders, sum(unreadable.values()))
    yield delivered
    yield from _traffic(drivers, senders)
    yield from _work(drivers)
    yield from others
    refused = sum((driver.refused() for driver in drivers), Counter(unreadable))
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
    yield from _set(drivers)
    yield Finding(
        name="record_size",
        value=record_size,
        unit="bytes",
        meaning="Size of every record, whatever it says.",
    )


def _rows(sent: Sent, senders: int, unreadable: int) -> Iterator[Finding]:
    wanted = senders - sent.erased
    arrived = len(sent.rows) - unreadable
    yield Finding(
        name="delivered",
        value=arrived / wanted if wanted else None,
        status="measured" if wanted else "not assessable",
        meaning="Share of the rows that arrived, of those that were not erased.",
        better="higher",
    )
    yield Finding(name="arrived", value=arrived, unit="rows", meaning="Rows that arrived.")
    yield Finding(
        name="erased",
        value=sent.erased,
        unit="rows",
        meaning="Rows erased before they were opened.",
    )
    yield Finding(
        name="lost",
        value=wanted - arrived,
        unit="rows",
        meaning="Rows that were sent, were not to be erased, and did not arrive.",
        better="lower",
    )
    yield Finding(
        name="without_position",
        value=senders - sent.reserved,
        unit="rows",
        meaning="Rows whose sender was not heard in the first round, among those that are lost.",
        better="lower",
    )


def _set(drivers: tuple[Driver, ...]) -> Iterator[Finding]:
    yield Finding(
        name="anonymity_set",
        value=min(server.accepted for driver in drivers for server in driver.servers),
        unit="senders",
        meaning="Senders whose uploads stood, in the smaller of both rounds: among so many could a "
        "row hide, if the transport hides at all.",
        better="higher",
        assumptions=("all senders are honest, and no person sends twice",),
    )
    yield Finding(
        name="simulated",
        value="yes" if any(driver.simulated for driver in drivers) else "no",
        meaning="Whether keys and coins came from a seeded source, which protects nobody.",
    )


def _traffic(drivers: tuple[Driver, ...], senders: int) -> Iterator[Finding]:
    described = sum(len(driver.servers[0].notice or b"") for driver in drivers)
    up = sum(driver.meter.between("client", "server") for driver in drivers)
    down = sum(driver.meter.between("server", "client") for driver in drivers)
    inside = sum(driver.meter.between("server", "server") for driver in drivers)
    servers = drivers[0].round.servers
    for name, value, meaning in (
        ("upload", up / senders, "Bytes that each sender sent, in both rounds together."),
        (
            "download",
            described + down / senders,
            "Bytes that each sender received, the description of both rounds included.",
        ),
        ("between_servers", inside / servers, "Bytes that each server sent to the others."),
    ):
        yield Finding(name=name, value=value, unit="bytes", meaning=meaning, better="lower")


def _work(drivers: tuple[Driver, ...]) -> Iterator[Finding | Chart]:
    """Yield CPU seconds per role, and per phase and role."""
    rows = [row for driver in drivers for row in _phases(driver)]
    for role, at in (("clients", 1), ("server", 2)):
        yield _seconds(f"{role}_cpu", sum(row[at] for row in rows), role, "both rounds")
    for role, at in (("clients", 1), ("server", 2)):
        for row in rows:
            if row[at]:
                yield _seconds(f"{role}_cpu.{row[0]}", row[at], role, f"phase {row[0]}")
    yield Chart(
        name="costs",
        kind="table",
        title="Costs of both rounds",
        meaning="CPU time of all clients and of one server, and bytes of all parties.",
        data={"columns": list(_COSTS), "rows": rows},
    )


def _seconds(name: str, value: float, role: str, when: str) -> Finding:
    meaning = f"CPU time of {_WHO[role]} in {when}."
    return Finding(name=name, value=value, unit="s", meaning=meaning, better="lower")


def _phases(driver: Driver) -> list[list[Any]]:
    """Return one row of `_COSTS` per phase; a server's time is the mean over the servers."""
    servers, meter = driver.round.servers, driver.meter
    rows: list[list[Any]] = []
    for phase in dict.fromkeys(phase for phase, _ in meter.cpu):
        server = sum(meter.cpu[phase, f"server {at}"] for at in range(servers)) / servers
        ways = (("client", "server"), ("server", "client"), ("server", "server"))
        carried = [meter.bytes[phase, *way] for way in ways]
        named = f"{driver.round.operation}-{phase}"
        rows.append([named, meter.cpu[phase, "clients"], server, *carried])
    return rows


_WHO = {"clients": "all senders together", "server": "one server"}
