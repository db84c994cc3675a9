"""What a delivery cost and what became of the rows, as findings."""

from collections import Counter
from collections.abc import Iterator, Mapping

from anonloom import Chart, Finding
from anonloom_delivery.sending import DeliveryResult
from anonloom_transport import Entry, Ledger


def findings_of(
    sent: DeliveryResult, senders: int, record_size: int, unreadable: Mapping[str, int]
) -> Iterator[Finding | Chart]:
    """Yield what happened to the rows, what it cost, and what was refused.

    Parameters
    ----------
    unreadable
        Records that arrived and are none, by reason.
    """
    ledger = Ledger([Entry.of("post", sent.post), Entry.of("deposit", sent.deposit)])
    # What experiments compare first comes first.
    delivered, *others = _rows(sent, senders, sum(unreadable.values()))
    yield delivered
    yield from ledger.traffic(senders, "both rounds")
    yield from ledger.work("both rounds")
    yield from others
    yield from ledger.refusals(Counter(unreadable))
    yield from _set(ledger)
    yield Finding(
        name="record_size",
        value=record_size,
        unit="bytes",
        meaning="Size of every record, whatever it says.",
    )


def _rows(sent: DeliveryResult, senders: int, unreadable: int) -> Iterator[Finding]:
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


def _set(ledger: Ledger) -> Iterator[Finding]:
    yield Finding(
        name="anonymity_set",
        value=ledger.smallest,
        unit="senders",
        meaning="Senders whose uploads stood, in the smaller of both rounds: among so many could a "
        "row hide, if the transport hides at all.",
        better="higher",
        assumptions=(
            "all senders are honest, and no person sends twice",
            "each party runs on a machine of its own: one process that plays all sees everything",
        ),
    )
    yield Finding(
        name="simulated",
        value="yes" if ledger.is_simulated else "no",
        meaning="Whether keys and coins came from a seeded source, which protects nobody.",
    )
