"""What this package offers to Anonloom."""

from anonloom.api import Method, hookimpl

ANONLOOM_API = 2


@hookimpl
def anonloom_register_transports() -> list[Method]:
    """Name the transport."""
    return [
        Method(
            name="direct",
            target="anonloom_direct.transport:Direct",
            summary="Every server gets every message, sealed on the way: no anonymity, a baseline.",
        )
    ]
