"""What this distribution offers: the partitioner `one-pass-kmeans`."""

from anonloom.api import Method, hookimpl

ANONLOOM_API = 2


@hookimpl
def anonloom_register_partitioners() -> list[Method]:
    """Name the partitioner."""
    return [
        Method(
            name="one-pass-kmeans",
            target="anonloom_oka.oka:OnePassKMeans",
            summary="Puts every row to the closest centroid in one pass, then adjusts sizes.",
            paper="J.-L. Lin, M.-C. Wei: An Efficient Clustering Method for k-Anonymity. PAIS 2008",
            reads=frozenset({"quasi"}),
        )
    ]
