"""What this package offers to Anonloom."""

from anonloom.api import Method, hookimpl

ANONLOOM_API = 1


@hookimpl
def anonloom_register_transports() -> list[Method]:
    """Name the transport."""
    return [
        Method(
            name="dpf",
            target="anonloom_dpf.transport:Dpf",
            summary="Messages written into tables that are shared among servers: anonymous writing.",
            paper="Boyle, Gilboa, Ishai 2015 and 2016; Anonify",
        )
    ]
