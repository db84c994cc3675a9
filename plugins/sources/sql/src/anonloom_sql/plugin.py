"""What this package offers to Anonloom."""

from anonloom.api import ROLES, Method, hookimpl

ANONLOOM_API = 2


@hookimpl
def anonloom_register_sources() -> list[Method]:
    """Name the source."""
    return [
        Method(
            name="sql",
            target="anonloom_sql.source:Sql",
            summary="A table or a query of a database, by an SQLAlchemy URL; only read.",
            reads=frozenset(ROLES),
        )
    ]
