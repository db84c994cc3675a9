"""What this package offers to Anonloom."""

from anonloom.api import Method, hookimpl

ANONLOOM_API = 1


@hookimpl
def anonloom_register_transports() -> list[Method]:
    """Name the transport."""
    return [
        Method(
            name="direct",
            target="anonloom_direct.transport:Direct",
            summary="Messages as they are, straight to every server: no anonymity, the baseline.",
        )
    ]
