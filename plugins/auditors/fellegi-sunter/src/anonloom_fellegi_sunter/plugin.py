"""What this plugin offers: the auditor `fellegi-sunter`."""

from anonloom.api import Method, hookimpl

ANONLOOM_API = 2


@hookimpl
def anonloom_register_auditors() -> list[Method]:
    """Name the auditor."""
    return [
        Method(
            name="fellegi-sunter",
            target="anonloom_fellegi_sunter.auditor:FellegiSunter",
            summary="Who could be found again by probabilistic record linkage inside blocks.",
            paper="Fellegi and Sunter, A theory for record linkage, JASA 1969; "
            "Winkler, Using the EM algorithm for weight computation in the Fellegi-Sunter model "
            "of record linkage, ASA Survey Research Methods 1988",
            reads={"quasi", "sensitive", "label", "other", "person"},
        )
    ]
