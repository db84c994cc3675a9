"""What this distribution offers: the outlier handler `regroup`."""

from anonloom.api import Method, hookimpl

ANONLOOM_API = 2


@hookimpl
def anonloom_register_outlier_handlers() -> list[Method]:
    """Name the outlier handler."""
    return [
        Method(
            name="regroup",
            target="anonloom_regroup.method:Regroup",
            summary="Moves and swaps rows between classes as long as the table loses less.",
            paper="Anonloom's own; see docs/level-order.md",
            reads=frozenset({"quasi"}),
        )
    ]
