"""What this distribution offers: the partitioner `k-member`."""

from anonloom.api import Method, hookimpl

ANONLOOM_API = 2


@hookimpl
def anonloom_register_partitioners() -> list[Method]:
    """Name the partitioner."""
    return [
        Method(
            name="k-member",
            target="anonloom_k_member.k_member:KMember",
            summary="Grows clusters of k rows greedily by the row that costs least.",
            paper="J.-W. Byun, A. Kamra, E. Bertino, N. Li: Efficient k-Anonymization Using "
            "Clustering Techniques. DASFAA 2007",
            reads=frozenset({"quasi"}),
        )
    ]
