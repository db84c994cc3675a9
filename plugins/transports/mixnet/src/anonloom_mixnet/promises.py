"""What a round through the cascade promises, field by field."""

from anonloom.kinds import Guarantees
from anonloom_transport import (
    COUNTED,
    ERASED,
    HOLLOW,
    SILENT,
    Round,
    delivery_guarantee,
    shared_guarantees,
    uncovered_cases,
)


def guarantees(round: Round, traps: int) -> Guarantees:
    """Return the promises; see `Guarantees` for what each field means."""
    return Guarantees(
        honest_senders_min=round.min_batch,
        colluding_servers=round.servers - 1,
        server_behaviour="detected before open",
        donors=(
            "detected: one who sends a packet that a later hop cannot open is removed if that can "
            "be shown, otherwise the round stops unopened and must be repeated"
        ),
        presence_of_erased_visible=round.operation == "deposit",
        exclusion="attributable",
        erasure_condition=ERASED,
        delivery=(
            delivery_guarantee(round, "its sender does not look for it")
            if round.operation == "post"
            else delivery_guarantee(round, "it is contested", "its sender does not look for it")
        ),
        measured_or_argued="secrecy and detection argued; delivery measured",
        not_covered=_not_covered(round, traps),
        **shared_guarantees(round),
    )


def _not_covered(round: Round, traps: int) -> tuple[str, ...]:
    own = [
        COUNTED,
        SILENT,
        f"loss of packets whose senders do not look at the signed list: a hop that drops d of N "
        f"after an honest hop goes unseen with about (1-T/N)^d, where every honest server adds "
        f"{traps} to T, and the hops before the first honest one know traps from packets",
    ]
    if round.operation == "deposit":
        own += [
            "a server that says of its share of a record that it does not open: the record is "
            "withheld, and its sender or that server deviates",
            "how many senders have no position: servers see it when layers are peeled, not whose "
            "packets these are",
        ]
    if round.counted:
        own.append(HOLLOW)
    if round.suite == "mlkem768-x25519":
        own.append(
            "who is at fault when a packet does not open at a later hop: with ML-KEM it is its "
            "sender or that hop, and either can force the round to be repeated"
        )
    else:
        own.append(
            "who is at fault when a packet does not open at a later hop and its sender is silent, "
            "or when two packets hold the same"
        )
    return uncovered_cases(round, *own)
