"""What this package offers to Anonloom."""

from anonloom.api import Command, Method, hookimpl

ANONLOOM_API = 2

_PAPER = (
    "De Capitani di Vimercati, Foresti, Jajodia, Paraboschi, Sassi and Samarati, Sentinels and "
    "Twins: Effective Integrity Assessment for Distributed Computation, IEEE TPDS 34(1), 2023."
)


@hookimpl
def anonloom_register_integrity_schemes() -> list[Method]:
    """Name the integrity scheme."""
    return [
        Method(
            name="sentinels-twins",
            target="anonloom_sentinels_twins.scheme:SentinelsTwins",
            summary="Hidden controls among outsourced jobs show who omits work.",
            paper=_PAPER,
            reads=frozenset(),
        )
    ]


@hookimpl
def anonloom_register_auditors() -> list[Method]:
    """Name the auditor."""
    return [
        Method(
            name="outsourcing",
            target="anonloom_sentinels_twins.auditor:Outsourcing",
            summary="Campaigns of untrusted workers: what hidden controls notice, by formula and "
            "simulation.",
            paper=_PAPER,
            reads=frozenset({"quasi", "sensitive", "label", "other"}),
        )
    ]


@hookimpl
def anonloom_register_commands() -> list[Command]:
    """Name the command."""
    return [
        Command(
            name="outsource",
            target="anonloom_sentinels_twins.commands",
            summary="hide controls among jobs for others, and judge their answers",
        )
    ]
