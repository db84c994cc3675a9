"""What this package offers to Anonloom."""

from anonloom.api import Method, hookimpl

ANONLOOM_API = 2


@hookimpl
def anonloom_register_integrity_schemes() -> list[Method]:
    """Name the integrity scheme."""
    return [
        Method(
            name="digest",
            target="anonloom_digest.digest:Digest",
            summary="SHA-256 of every published file, signed with Ed25519.",
            paper="Josefsson and Liusvaara, Edwards-Curve Digital Signature Algorithm, "
            "RFC 8032, 2017.",
            reads=frozenset(),
        )
    ]
