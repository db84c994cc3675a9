"""What core itself offers, through the same hooks as everybody's plugins."""

from anonloom.api import ROLES, Method, hookimpl

ANONLOOM_API = 2


@hookimpl
def anonloom_register_sources() -> list[Method]:
    """Name the sources."""
    return [
        Method(
            name="csv",
            target="anonloom.sources._csv:Csv",
            summary="A text file with a header, its cells separated by , ; | or tabs.",
            reads=frozenset(ROLES),
        ),
        Method(
            name="parquet",
            target="anonloom.sources._parquet:Parquet",
            summary="A Parquet file.",
            reads=frozenset(ROLES),
        ),
        Method(
            name="frame",
            target="anonloom.sources._frame:Frame",
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
