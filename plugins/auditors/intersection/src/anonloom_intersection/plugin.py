"""What this plugin offers: the auditor `intersection`."""

from anonloom.api import Method, hookimpl

ANONLOOM_API = 2


@hookimpl
def anonloom_register_auditors() -> list[Method]:
    """Name the auditor."""
    return [
        Method(
            name="intersection",
            target="anonloom_intersection.auditor:Intersection",
            summary="Whose sensitive values several releases give away together.",
            paper="Ganta, Kasiviswanathan and Smith, Composition attacks and auxiliary information "
            "in data privacy, KDD 2008 (intersection); Byun et al., Secure anonymization for "
            "incremental datasets, SDM 2006 (difference); Dobra and Fienberg, Bounds for cell "
            "entries in contingency tables, PNAS 2000 (register)",
            reads={"quasi", "sensitive"},
        )
    ]
