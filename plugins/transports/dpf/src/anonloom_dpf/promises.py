"""What a round over point functions promises, field by field."""

import math

from anonloom.kinds.rounds import Round
from anonloom.kinds.transport import Guarantees
from anonloom_dpf.layout import Settings, post_layout
from anonloom_dpf.peeling import LOSS


def guarantees(round: Round, settings: Settings) -> Guarantees:
    """Return the promises; see `Guarantees` for what each field means."""
    dishonest = math.ceil(settings.tolerated * round.min_batch)
    return Guarantees(
        honest_senders_min=max(round.min_batch - dishonest, 1),
        colluding_servers=round.servers - 1,
        server_behaviour="detected after open",
        donors=_donors(round, settings),
        eligibility=(
            "one upload per invitation of the study"
            if round.authority
            else "none: Sybils not excluded"
        ),
        presence_visible_to="the network and every server",
        presence_visible_when="from the upload on; which position was filled only with open",
        presence_of_erased_visible=False,
        exclusion="attributable",
        erasure_condition=(
            "one server destroys its round key, and none had its key or memory copied before that"
        ),
        post_quantum=round.suite == "mlkem768-x25519",
        delivery=_delivery(round, settings),
        lost_server="the round does not end, and nothing is opened",
        measured_or_argued=(
            "secrecy of keys argued, and enumerated on toy parameters; delivery and losses measured"
        ),
        not_covered=_not_covered(round, settings),
    )


def _donors(round: Round, settings: Settings) -> str:
    if round.operation == "deposit":
        return (
            "detected: a write to a position that is not the writer's own is refused; one that "
            "a server helps can destroy a record, never alter it"
        )
    if round.servers > 2:
        return "honest: with more than two servers malformed keys are not recognised"
    leaf = post_layout(round, settings).slots_per_leaf
    return (
        f"contained up to a share of {settings.tolerated:g}: an accepted key changes at most one "
        f"leaf ({leaf} slots) per sub-table"
    )


def _delivery(round: Round, settings: Settings) -> str:
    if round.operation == "deposit":
        return "every record that all servers confirmed, once, unless it is contested"
    if settings.placement == "paper":
        return f"about {settings.success_rate:.1%} of confirmed messages; the others collide"
    every = "every message that all servers confirmed, once, if all senders are honest"
    if round.servers > 2 or not settings.tolerated:
        return every
    return f"{every}; with the tolerated share of dishonest ones, all but {LOSS:.1%}"


def _not_covered(round: Round, settings: Settings) -> tuple[str, ...]:
    uncovered = [
        "that a message is true, well formed or from one person",
        "which server changed its share: with two servers it is one of them",
        "a server that refuses an honest sender before confirming",
        "coercion",
    ]
    if round.operation == "post" and settings.placement == "peeling":
        most = 3 * settings.slots_per_leaf
        uncovered.append(
            f"a sender whose one upload is read as several messages, at most {most}: seen as an "
            "excess over the uploads, by nobody in particular"
        )
    if round.suite != "mlkem768-x25519":
        uncovered.append("traffic that is recorded now and opened with a quantum computer later")
    return tuple(uncovered)
