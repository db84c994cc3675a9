"""What a round over point functions promises, field by field."""

import math

from anonloom.kinds import Guarantees
from anonloom_dpf.layout import Settings, post_layout
from anonloom_dpf.peeling import LOSS
from anonloom_transport import (
    COUNTED,
    ERASED,
    HOLLOW,
    SILENT,
    WRONG_PART,
    Round,
    delivery_guarantee,
    shared_guarantees,
    uncovered_cases,
)


def guarantees(round: Round, settings: Settings) -> Guarantees:
    """Return the promises; see `Guarantees` for what each field means."""
    # A server can have as many honest uploads taken out as there may be dishonest ones left.
    share = settings.tolerated
    dishonest = math.ceil(round.min_batch * share / (1 - share))
    return Guarantees(
        honest_senders_min=max(round.min_batch - dishonest, 1),
        colluding_servers=round.servers - 1,
        server_behaviour="detected after open",
        donors=_donors(round, settings),
        presence_of_erased_visible=False,
        exclusion="possible" if _may_refuse(round, settings) else "attributable",
        erasure_condition=ERASED,
        delivery=_delivery(round, settings),
        measured_or_argued=(
            "secrecy argued, of keys also enumerated on small parameters; delivery measured"
        ),
        not_covered=_not_covered(round, settings),
        **shared_guarantees(round),
    )


def _may_refuse(round: Round, settings: Settings) -> bool:
    """Whether uploads that fail a check are left out: a server can make honest ones fail."""
    checked = round.operation == "deposit" or round.servers == 2
    return checked and settings.tolerated > 0


def _donors(round: Round, settings: Settings) -> str:
    if round.operation == "deposit":
        counted = (
            "; it adds one to the count of one group of positions at most, but for 2^-21"
            if round.counted
            else ""
        )
        return (
            "detected: a record changed by anybody but its sender is never published; a donor "
            "without a server's help can't change another's row; with that help it can destroy "
            f"the row, never alter it{counted}"
        )
    if round.servers > 2:
        return "honest: with more than two servers malformed keys are not recognised"
    leaf = post_layout(round, settings).slots_per_leaf
    return (
        f"contained up to a share of {settings.tolerated:g}. For n = 2 an accepted key changes at "
        f"most one leaf (= {leaf} slots) per sub-table, if the hash is collision and XOR-collision "
        "resistant and both servers follow the check. It does not show that the record is true, "
        "well formed, placed where its tag says, the same in all sub-tables, or from one person; "
        "a server may still refuse an honest donor"
    )


def _delivery(round: Round, settings: Settings) -> str:
    if round.operation == "deposit":
        return delivery_guarantee(round, "it is contested", "it is refused as a foreign write")
    if settings.placement == "paper":
        return f"about {settings.success_rate:.1%} of confirmed messages; the others collide"
    every = f"if all senders are honest, {delivery_guarantee(round)}"
    if round.servers > 2 or not settings.tolerated:
        return every
    return f"{every}; with the tolerated share of dishonest ones, all but {LOSS:.1%}"


def _not_covered(round: Round, settings: Settings) -> tuple[str, ...]:
    own = [COUNTED, SILENT, WRONG_PART]
    if _may_refuse(round, settings):
        own += _refusal_risks(round, settings)
    if round.operation == "deposit":
        own.append(
            "a donor who learns secrets of positions from the lines between servers: whoever has "
            "one can destroy the row"
        )
    if round.counted:
        own.append(
            "a server that falsifies how many positions are filled: it shows when the rows are "
            "open, not before, and nobody is named"
        )
        own.append(HOLLOW)
    if round.operation == "post" and settings.placement == "peeling":
        most = 3 * settings.slots_per_leaf
        own.append(
            f"a sender whose one upload is read as several messages, at most {most}: seen as an "
            "excess over the uploads, by nobody in particular"
        )
    return uncovered_cases(round, *own)


def _refusal_risks(round: Round, settings: Settings) -> list[str]:
    message = (
        "a server that makes honest uploads fail their check, up to a share of "
        f"{settings.tolerated:g}: they are left out, and nobody is named"
    )
    if round.operation == "post":
        return [message]
    theirs = (
        f"positions that stay empty then: they are theirs, at least {round.min_leave} at a time"
    )
    return [message, theirs]
