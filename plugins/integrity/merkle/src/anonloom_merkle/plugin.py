"""What this package offers to Anonloom."""

from anonloom.api import Method, hookimpl

ANONLOOM_API = 2


@hookimpl
def anonloom_register_integrity_schemes() -> list[Method]:
    """Name the integrity scheme."""
    return [
        Method(
            name="merkle",
            target="anonloom_merkle.scheme:Merkle",
            summary="Trees over the rows, signed: proves single rows, ranges and growth.",
            paper="Devanbu, Gertz, Martel and Stubblebine, Authentic third-party data publication, "
            "DBSec 2000; Laurie, Messeri and Stradling, RFC 9162, 2021.",
            reads=frozenset(),
        )
    ]
