"""What this distribution offers: the partitioner `level-order`."""

from anonloom.api import Method, hookimpl

ANONLOOM_API = 2


@hookimpl
def anonloom_register_partitioners() -> list[Method]:
    """Name the partitioner."""
    return [
        Method(
            name="level-order",
            target="anonloom_level_order.method:LevelOrder",
            summary="Orders rows by levels of their hierarchies and cuts the order optimally.",
            paper="Anonloom's own; see docs/level-order.md",
            reads=frozenset({"quasi"}),
        )
    ]
