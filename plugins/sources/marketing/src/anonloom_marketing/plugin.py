"""What this package offers to Anonloom."""

from anonloom.api import ROLES, Method, hookimpl

ANONLOOM_API = 2


@hookimpl
def anonloom_register_sources() -> list[Method]:
    """Name the source."""
    return [
        Method(
            name="marketing",
            target="anonloom_marketing.source:Marketing",
            summary="Simulated advertising touchpoints: demographics, channel, lag, purchase.",
            paper="V. Khvatov, A. Neyman: CVPL: A Geometric Framework for Post-Hoc Linkage Risk "
            "Assessment in Protected Tabular Data, sections 7.1 to 7.3 and appendix C",
            reads=frozenset(ROLES),
        )
    ]
