"""What this package offers to Anonloom."""

from anonloom.api import Method, hookimpl

ANONLOOM_API = 2


@hookimpl
def anonloom_register_transports() -> list[Method]:
    """Name the transport."""
    return [
        Method(
            name="mixnet",
            target="anonloom_mixnet.transport:Mixnet",
            summary="A cascade of all servers, each shuffles; sealed until senders have looked.",
        )
    ]
