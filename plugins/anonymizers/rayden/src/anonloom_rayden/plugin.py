"""What this distribution offers: the partitioner `vp-tree` and the outlier handler `cof`."""

from anonloom.api import Method, hookimpl

ANONLOOM_API = 2

_PAPER = (
    "C. R. Haruna, M. G. Asante-Mensah, F. S. Doe, S. K. Amofa: Data Privacy and Utility "
    "Trade-Off: An Efficient K-Anonymization Algorithm with Low Information Loss. IJLTEMAS 2026"
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
            summary="Takes badly connected rows out of their classes and partitions them anew.",
            paper=_PAPER,
            reads=frozenset({"quasi"}),
        )
    ]
