"""What this package offers to Anonloom."""

from anonloom.api import ROLES, Method, hookimpl

ANONLOOM_API = 2


@hookimpl
def anonloom_register_sources() -> list[Method]:
    """Name the source."""
    return [
        Method(
            name="diabetes",
            target="anonloom_diabetes.source:Diabetes",
            summary="The diabetes prediction table where it is at hand, else a simulated one.",
            paper="S. Abdelwahab Gaballah et al.: Anonify: Decentralized Dual-level Anonymity "
            "for Medical Data Donation, section 6.1",
            reads=frozenset(ROLES),
        )
    ]
