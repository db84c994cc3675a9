"""What this package offers to Anonloom."""

from anonloom.api import Method, hookimpl

ANONLOOM_API = 2


@hookimpl
def anonloom_register_integrity_schemes() -> list[Method]:
    """Name the integrity scheme."""
    return [
        Method(
            name="skip-list",
            target="anonloom_skip_list.scheme:SkipListSeal",
            summary="An authenticated skip list of the rows, signed: for tables that are updated.",
            paper="Pugh, Skip lists: a probabilistic alternative to balanced trees, CACM 1990; "
            "Goodrich and Tamassia, Efficient authenticated dictionaries with skip lists, 2000.",
            reads=frozenset(),
        )
    ]
