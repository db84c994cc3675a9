"""The sources that read tables from files."""

from anonloom.api import ROLES, Method, hookimpl

ANONLOOM_API = 2


@hookimpl
def anonloom_register_sources() -> list[Method]:
    """Name the sources."""
    return [
        Method(
            name="csv",
            target="anonloom_tables.csv_source:Csv",
            summary="A text file with a header, its cells separated by , ; | or tabs.",
            reads=frozenset(ROLES),
        ),
        Method(
            name="parquet",
            target="anonloom_tables.parquet_source:Parquet",
            summary="A Parquet file.",
            reads=frozenset(ROLES),
        ),
    ]
