"""What this distribution offers: the auditor `singling-out`."""

from anonloom.api import Method, hookimpl

ANONLOOM_API = 2

PAPER = (
    "Giomi, Boenisch, Wehmeyer and Tasnadi, A Unified Framework for Quantifying Privacy Risk in "
    "Synthetic Data, PoPETs 2023; Cohen and Nissim, Towards Formalizing the GDPR's Notion of "
    "Singling Out, PNAS 2020"
)


@hookimpl
def anonloom_register_auditors() -> list[Method]:
    """Name the auditor."""
    return [
        Method(
            name="singling-out",
            target="anonloom_singling_out.auditor:SinglingOut",
            summary="Whom predicates isolate that are derived from the release.",
            paper=PAPER,
            reads=frozenset({"quasi", "sensitive", "label", "other"}),
        )
    ]
