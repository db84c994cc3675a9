"""What this distribution offers: the collector `delivery`."""

from anonloom.api import ROLES, Method, hookimpl

ANONLOOM_API = 2


@hookimpl
def anonloom_register_collectors() -> list[Method]:
    """Name the collector."""
    return [
        Method(
            name="delivery",
            target="anonloom_delivery.collector:Delivery",
            summary="Sends every row through a transport; the stages run on what arrives.",
            reads=ROLES,
            evidence={
                "trace": "collect: {collector: delivery, with: {transport: NAME, traced: true}}"
            },
        )
    ]
