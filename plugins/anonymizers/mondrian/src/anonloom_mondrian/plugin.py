"""What this distribution offers: the partitioner `mondrian`."""

from anonloom.api import Method, hookimpl

ANONLOOM_API = 2


@hookimpl
def anonloom_register_partitioners() -> list[Method]:
    """Name the partitioner."""
    return [
        Method(
            name="mondrian",
            target="anonloom_mondrian.mondrian:Mondrian",
            summary="Cuts classes where loss drops most, or on the widest axis, while both pass.",
            paper="K. LeFevre, D. J. DeWitt, R. Ramakrishnan: Mondrian Multidimensional "
            "K-Anonymity. ICDE 2006",
            reads=frozenset({"quasi"}),
        )
    ]
