"""Signing: what servers say, and how clients and other servers know that they said it.

Every signature is over the kind of the statement, the round that it belongs to and the statement,
so that none can be shown in another place.
"""

import hashlib
from collections.abc import Sequence
from functools import lru_cache

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from anonloom_transport.codec import pack, packed_size, unpack
from anonloom_transport.engines import Entropy
from anonloom_transport.server_config import Identity

SIGNATURE_BYTES = 64


def new_identity(entropy: Entropy) -> Identity:
    """Return a new long-term key."""
    return identity_of(entropy.bytes(32))


def identity_of(secret: bytes) -> Identity:
    """Return a secret key with its public half."""
    key = Ed25519PrivateKey.from_private_bytes(secret)
    return Identity(secret, key.public_key().public_bytes_raw())


class Signer:
    """Signs with one long-term key."""

    def __init__(self, identity: Identity) -> None:
        self._key = Ed25519PrivateKey.from_private_bytes(identity.secret)

    def sign(self, kind: str, bound: bytes, statement: bytes) -> bytes:
        """Return a signature of a statement in a round."""
        return self._key.sign(_bytes_to_sign(kind, bound, hashlib.sha256(statement).digest()))


def verify_signature(
    pin: bytes, signature: bytes, kind: str, bound: bytes, statement: bytes
) -> bool:
    """Whether the owner of a public key signed a statement in a round."""
    return verify_hash_signature(pin, signature, kind, bound, hashlib.sha256(statement).digest())


def verify_hash_signature(
    pin: bytes, signature: bytes, kind: str, bound: bytes, digest: bytes
) -> bool:
    """Whether the owner of a public key signed the statement that has this hash."""
    try:
        _public(pin).verify(signature, _bytes_to_sign(kind, bound, digest))
    except (InvalidSignature, ValueError):
        return False
    return True


def _bytes_to_sign(kind: str, bound: bytes, digest: bytes) -> bytes:
    # Statements are signed by their hash, so that whoever has only that can check a signature.
    return pack(b"anonloom 1", kind.encode(), bound, digest)


@lru_cache(maxsize=64)
def _public(pin: bytes) -> Ed25519PublicKey:
    return Ed25519PublicKey.from_public_bytes(pin)


def write_signed(document: bytes, signatures: Sequence[bytes]) -> bytes:
    """Write a document with the signatures of all servers."""
    return pack(document, *signatures)


def signed_size(size: int, servers: int) -> int:
    """Return the bytes of a document of this size with the signatures of all servers."""
    return packed_size(size, *([SIGNATURE_BYTES] * servers))


def read_signed(data: bytes, kind: str, bound: bytes, pins: tuple[bytes, ...]) -> bytes | None:
    """Return a document that all servers have signed, or None."""
    try:
        return _read_signed(data, kind, bound, pins)
    except ValueError:
        return None


# Thousands of clients in one process are shown the same bytes: they are checked once. What is not
# genuine raises, so that nobody fills the memory with it.
@lru_cache(maxsize=16)
def _read_signed(data: bytes, kind: str, bound: bytes, pins: tuple[bytes, ...]) -> bytes:
    document, *signatures = unpack(data, 1 + len(pins))
    for pin, signature in zip(pins, signatures, strict=True):
        if not verify_signature(pin, signature, kind, bound, document):
            raise ValueError("one of the servers did not sign it")
    return document
