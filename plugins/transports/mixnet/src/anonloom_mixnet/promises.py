"""What a round through the cascade promises, field by field."""

from anonloom.kinds.rounds import Round
from anonloom.kinds.transport import Guarantees


def guarantees(round: Round, traps: int) -> Guarantees:
    """Return the promises; see `Guarantees` for what each field means."""
    hybrid = round.suite == "mlkem768-x25519"
    return Guarantees(
        honest_senders_min=round.min_batch,
        colluding_servers=round.servers - 1,
        server_behaviour="detected before open",
        donors=(
            "detected: one who sends a packet that a later hop cannot open is removed if that can "
            "be shown, otherwise the round stops unopened and must be repeated"
        ),
        eligibility=(
            "one upload per invitation of the study"
            if round.authority
            else "none: Sybils not excluded"
        ),
        presence_visible_to="the network and every server",
        presence_visible_when="from the upload on",
        presence_of_erased_visible=round.operation == "deposit",
        exclusion="attributable",
        erasure_condition=(
            "one server destroys its round key, and none had its key or memory copied before that"
        ),
        post_quantum=hybrid,
        delivery=(
            "every message that all servers confirmed and whose sender looks for it, exactly once, "
            "or nothing is opened"
            if round.operation == "post"
            else "every record that all servers confirmed and whose sender looks for it, once, "
            "unless it is contested or erased"
        ),
        lost_server="the round does not end, and nothing becomes public",
        measured_or_argued="argued; delivery, blame and detection by traps tried in tests",
        not_covered=_not_covered(round, traps, hybrid),
    )


def _not_covered(round: Round, traps: int, hybrid: bool) -> tuple[str, ...]:
    uncovered = [
        "senders who are dishonest count towards the least number of senders",
        f"loss of packets whose senders do not look at the signed list: a hop that drops d of N "
        f"after an honest hop goes unseen with about (1-T/N)^d, where every honest server adds "
        f"{traps} to T; the hops before the first honest one know traps from packets",
        "prevention: a server that deviates is found out, and the round must be repeated",
        "a server that refuses an honest sender before confirming",
        "a server that falls silent at open, after all others have published their keys: it alone "
        "can then open the messages, without knowing whose they are",
        "that a message is true, well formed or from one person",
        "coercion",
    ]
    if round.operation == "deposit":
        uncovered += [
            "a server that says of its share of a record that it does not open: the record is "
            "withheld, and its sender or that server deviates",
            "how many senders have no position: servers see it when layers are peeled, not whose "
            "packets these are",
        ]
    if hybrid:
        uncovered.append(
            "who is at fault when a packet does not open at a later hop: with ML-KEM it is its "
            "sender or that hop, and either can force the round to be repeated"
        )
    else:
        uncovered += [
            "who is at fault when a packet does not open at a later hop and its sender is silent, "
            "or when two packets hold the same",
            "traffic that is recorded now and opened with a quantum computer later",
        ]
    return tuple(uncovered)
