"""What this distribution offers: the auditor `inference`."""

from anonloom.api import Method, hookimpl

ANONLOOM_API = 2

PAPER = (
    "Giomi, Boenisch, Wehmeyer and Tasnadi, A Unified Framework for Quantifying Privacy Risk in "
    "Synthetic Data, PoPETs 2023"
)


@hookimpl
def anonloom_register_auditors() -> list[Method]:
    """Name the auditor."""
    return [
        Method(
            name="inference",
            target="anonloom_inference.auditor:Inference",
            summary="Whose secret values near published rows give away.",
            paper=PAPER,
            reads=frozenset({"quasi", "sensitive", "label", "other"}),
        )
    ]
