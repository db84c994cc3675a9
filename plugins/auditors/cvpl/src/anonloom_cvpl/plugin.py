"""What this plugin offers: four auditors, and the command that makes a secret for one of them."""

from anonloom.api import Command, Method, hookimpl

ANONLOOM_API = 2

PAPER = (
    "Khvatov and Neyman, CVPL: A Geometric Framework for Post-Hoc Linkage Risk Assessment in "
    "Protected Tabular Data"
)
READS = {"quasi", "other", "label", "sensitive", "group"}


@hookimpl
def anonloom_register_auditors() -> list[Method]:
    """Name the auditors."""
    return [
        Method(
            name="cvpl",
            target="anonloom_cvpl.auditor:Cvpl",
            summary="How many records of the original can be linked to the release by similarity.",
            paper=PAPER,
            reads=READS,
        ),
        Method(
            name="cvpl-variants",
            target="anonloom_cvpl.variants:Variants",
            summary="The same attack with one operator changed at a time.",
            paper=PAPER,
            reads=READS,
        ),
        Method(
            name="cvpl-progressive",
            target="anonloom_cvpl.progressive:Progressive",
            summary="Bounds of the linkage rate that tighten step by step, within a time budget.",
            paper=PAPER,
            reads=READS,
        ),
        Method(
            name="cvpl-ensemble",
            target="anonloom_cvpl.ensemble:Ensemble",
            summary="Several attackers, drawn from a declared family by a committed secret.",
            paper=PAPER,
            reads=READS,
        ),
    ]


@hookimpl
def anonloom_register_commands() -> list[Command]:
    """Name the command."""
    return [
        Command(
            name="audit-secret",
            target="anonloom_cvpl.commands",
            summary="make the secret of an ensemble audit, and its commitment",
        )
    ]
