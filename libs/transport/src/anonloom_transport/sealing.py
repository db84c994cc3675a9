"""Sealing: envelopes that one server can open, in one round, under one upload id."""

from functools import lru_cache
from typing import Any

import attrs
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hpke
from cryptography.hazmat.primitives.asymmetric.mlkem import MLKEM768PrivateKey, MLKEM768PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey

from anonloom_transport.codec import pack
from anonloom_transport.engines import Entropy
from anonloom_transport.rounds import Round, Suite

_KEMS = {"x25519": hpke.KEM.X25519, "mlkem768-x25519": hpke.KEM.MLKEM768_X25519}
_SUITES = {
    name: hpke.Suite(kem, hpke.KDF.HKDF_SHA256, hpke.AEAD.CHACHA20_POLY1305)
    for name, kem in _KEMS.items()
}
_TAG = 16
_X25519 = 32
_MLKEM_SEED = 64

#: To see whether anything can be agreed on with a public key; secret from nobody.
_TRIAL = X25519PrivateKey.from_private_bytes(bytes(range(_X25519)))


def overhead(suite: Suite) -> int:
    """Bytes that sealing adds."""
    return _KEMS[suite].enc_length() + _TAG


@attrs.frozen
class SealingKey:
    """A server's key of one round; with it it opens what was sealed to it."""

    suite: Suite
    public: bytes
    _private: Any = attrs.field(repr=False)

    @classmethod
    def draw(cls, suite: Suite, entropy: Entropy) -> "SealingKey":
        """Return a new key."""
        x25519 = X25519PrivateKey.from_private_bytes(entropy.bytes(_X25519))
        public = x25519.public_key().public_bytes_raw()
        if suite == "x25519":
            return cls(suite, public, x25519)
        mlkem = MLKEM768PrivateKey.from_seed_bytes(entropy.bytes(_MLKEM_SEED))
        return cls(
            suite,
            mlkem.public_key().public_bytes_raw() + public,
            hpke.MLKEM768X25519PrivateKey(mlkem, x25519),
        )

    def open(self, sealed: bytes, context: bytes) -> bytes | None:
        """Return what was sealed in this context, or None when it cannot be opened."""
        try:
            return _SUITES[self.suite].decrypt(sealed, self._private, info=context)
        except (InvalidTag, ValueError):
            return None


@attrs.frozen
class Lock:
    """A server's public key of one round; with it anybody can seal to it."""

    suite: Suite
    _public: Any = attrs.field(repr=False)

    @classmethod
    def read(cls, suite: Suite, public: bytes) -> "Lock":
        """Read a public key.

        Raises
        ------
        ValueError
            When it is none of this suite.
        """
        x25519 = X25519PublicKey.from_public_bytes(public[-_X25519:])
        # A key of low order is refused here, where its server can be blamed: sealing would fail.
        _TRIAL.exchange(x25519)
        if suite == "x25519":
            if len(public) != _X25519:
                raise ValueError("not an X25519 key")
            return cls(suite, x25519)
        mlkem = MLKEM768PublicKey.from_public_bytes(public[:-_X25519])
        return cls(suite, hpke.MLKEM768X25519PublicKey(mlkem, x25519))

    def seal(self, content: bytes, context: bytes) -> bytes:
        """Seal something in a context; its ephemeral key comes from the system's randomness."""
        return _SUITES[self.suite].encrypt(content, self._public, info=context)


def context_of(round: Round, bound: bytes, server: int, upload: bytes) -> bytes:
    """Return what a sealed upload is bound to: it opens nowhere else."""
    before, after = _around(bound, round.operation, round.iteration, server, round.suite)
    return before + pack(upload) + after


# All uploads of a round have these in common.
@lru_cache(maxsize=64)
def _around(
    bound: bytes, operation: str, iteration: int, server: int, suite: str
) -> tuple[bytes, bytes]:
    before = pack(
        b"anonloom upload 1",
        bound,
        operation.encode(),
        iteration.to_bytes(8, "big"),
        server.to_bytes(4, "big"),
    )
    return before, pack(suite.encode())
