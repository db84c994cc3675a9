"""What this plugin offers: the auditor `cvpl`."""

from anonloom.api import Method, hookimpl

ANONLOOM_API = 1

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
    ]
