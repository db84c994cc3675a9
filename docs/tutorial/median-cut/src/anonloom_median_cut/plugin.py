"""What this distribution offers: the partitioner `median-cut`."""

from anonloom.api import Method, hookimpl

ANONLOOM_API = 2


@hookimpl
def anonloom_register_partitioners() -> list[Method]:
    """Name the partitioner."""
    return [
        Method(
            name="median-cut",
            target="anonloom_median_cut.partitioner:MedianCut",
            summary="Cuts classes in two at the median, as long as the guard allows it.",
            paper="",
            reads=frozenset({"quasi"}),
        )
    ]
