"""What this distribution offers: the partitioner `vp-tree` and the outlier handler `cof`."""

from anonloom.api import Method, hookimpl

ANONLOOM_API = 1

_PAPER = (
    "RAYDEN: a hybrid k-anonymization algorithm of VP-tree partitioning and connectivity-based "
    "outlier handling"
)


@hookimpl
def anonloom_register_partitioners() -> list[Method]:
    """Name the partitioner."""
    return [
        Method(
            name="vp-tree",
            target="anonloom_rayden.vptree:VpTree",
            summary="Cuts classes by the distance of their rows from one of them.",
            paper=_PAPER,
            reads=frozenset({"quasi"}),
        )
    ]


@hookimpl
def anonloom_register_outlier_handlers() -> list[Method]:
    """Name the outlier handler."""
    return [
        Method(
            name="cof",
            target="anonloom_rayden.cof:Cof",
            summary="Takes rows that are badly connected with their class and partitions them anew.",
            paper=_PAPER,
            reads=frozenset({"quasi"}),
        )
    ]
