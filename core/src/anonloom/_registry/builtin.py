"""What core itself offers, through the same hooks as everybody's plugins."""

from anonloom.api import ROLES, Method, hookimpl

ANONLOOM_API = 2


@hookimpl
def anonloom_register_sources() -> list[Method]:
    """Name the sources."""
    return [
        Method(
            name="frame",
            target="anonloom.sources:Frame",
            summary="A pandas data frame, given from Python.",
            reads=frozenset(ROLES),
        ),
    ]


@hookimpl
def anonloom_register_collectors() -> list[Method]:
    """Name the collectors."""
    return [
        Method(
            name="curator",
            target="anonloom.kinds._curator:Curator",
            summary="One trusted curator holds the whole table and runs every stage on it.",
            reads=frozenset(ROLES),
        ),
    ]
