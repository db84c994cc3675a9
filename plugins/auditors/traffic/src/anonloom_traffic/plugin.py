"""What this plugin offers: the auditor `traffic`."""

from anonloom.api import Method, hookimpl

ANONLOOM_API = 2


@hookimpl
def anonloom_register_auditors() -> list[Method]:
    """Name the auditor."""
    return [
        Method(
            name="traffic",
            target="anonloom_traffic.auditor:Traffic",
            summary="Who sent what, as the network and all servers but one can guess it.",
            paper="Serjantov and Danezis, Towards an information theoretic metric for anonymity, "
            "PET 2002; Diaz et al., Towards measuring anonymity, PET 2002; Danezis, Statistical "
            "disclosure attacks, SEC 2003",
        )
    ]
