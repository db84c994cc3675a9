"""Suites: the key encapsulations that a layer can rest on.

`x25519` is a Diffie-Hellman exchange with a fresh ephemeral key per layer. `mlkem768-x25519` adds
an encapsulation to an ML-KEM-768 key; whoever wants the layer's key needs both secrets.

Private keys and ephemeral keys are made from the entropy that is passed in. There is one exception:
`cryptography` lets nobody choose the coins of an ML-KEM encapsulation, so these come from the
system's randomness in every run, and packets of that suite are no two times the same.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable

import attrs
from cryptography.hazmat.primitives.asymmetric.mlkem import MLKEM768PrivateKey, MLKEM768PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey

from anonloom_transport import Entropy

#: Bytes of an X25519 key, public or private, and of what an exchange yields.
POINT = 32

#: Bytes of ML-KEM-768: the seed of a private key, a public key, a ciphertext.
KEM_SEED, KEM_PUBLIC, KEM_CIPHERTEXT = 64, 1184, 1088

#: To see whether anything can be agreed on with a public key; secret from nobody.
_TRIAL = X25519PrivateKey.from_private_bytes(bytes(range(POINT)))


@attrs.frozen
class Encapsulation:
    """What an encapsulation yields.

    Attributes
    ----------
    ciphertext
        Travels in the open, at the head of the layer.
    shared
        What sender and receiver then share.
    ephemeral
        The sender's private X25519 key of this layer; with it she can show what she shared.
    kem
        What the sender says to have encapsulated with ML-KEM; empty in the suite without.
    """

    ciphertext: bytes = attrs.field(repr=False)
    shared: bytes = attrs.field(repr=False)
    ephemeral: bytes = attrs.field(repr=False)
    kem: bytes = attrs.field(repr=False)


class Suite(ABC):
    """One way to share a secret with the owner of a public key."""

    #: As the round names it.
    name: str
    #: Bytes of a private key as it is stored, of a public key, and of a layer's head.
    private_size: int
    public_size: int
    head_size: int
    #: Whether a sender can show to others what she and the receiver share.
    provable: bool

    def generate(self, entropy: Entropy) -> bytes:
        """Draw a private key."""
        return entropy.bytes(self.private_size)

    @abstractmethod
    def public(self, private: bytes) -> bytes:
        """Return the public key of a private one."""

    @abstractmethod
    def sender(self, public: bytes) -> Callable[[Entropy], Encapsulation]:
        """Return the function that encapsulates to a public key.

        Raises
        ------
        ValueError
            When that is no public key of the suite, or one of low order.
        """

    @abstractmethod
    def receiver(self, private: bytes) -> Callable[[bytes], bytes]:
        """Return the function from a layer's head to the shared secret.

        The function raises `ValueError` for a point of low order: all receivers would share the
        same secret with its sender.
        """

    @abstractmethod
    def recompute_head(self, public: bytes, ephemeral: bytes, kem: bytes) -> tuple[bytes, bytes]:
        """Return the X25519 part of the head that an ephemeral key makes, and the shared secret.

        Raises
        ------
        ValueError
            When the ephemeral key or the part of ML-KEM is malformed.
        """


class _X25519(Suite):
    name = "x25519"
    private_size = POINT
    public_size = POINT
    head_size = POINT
    provable = True

    def public(self, private: bytes) -> bytes:
        return X25519PrivateKey.from_private_bytes(private).public_key().public_bytes_raw()

    def sender(self, public: bytes) -> Callable[[Entropy], Encapsulation]:
        point = X25519PublicKey.from_public_bytes(public)
        # A point of low order is refused here, where its server can be named: sealing would fail.
        _TRIAL.exchange(point)

        def encapsulate(entropy: Entropy) -> Encapsulation:
            ephemeral = entropy.bytes(POINT)
            key = X25519PrivateKey.from_private_bytes(ephemeral)
            return Encapsulation(
                key.public_key().public_bytes_raw(), key.exchange(point), ephemeral, b""
            )

        return encapsulate

    def receiver(self, private: bytes) -> Callable[[bytes], bytes]:
        exchange = X25519PrivateKey.from_private_bytes(private).exchange
        load = X25519PublicKey.from_public_bytes

        def decapsulate(head: bytes) -> bytes:
            return exchange(load(head))

        return decapsulate

    def recompute_head(self, public: bytes, ephemeral: bytes, kem: bytes) -> tuple[bytes, bytes]:
        if kem:
            raise ValueError("there is no ML-KEM in this suite")
        key = X25519PrivateKey.from_private_bytes(ephemeral)
        shared = key.exchange(X25519PublicKey.from_public_bytes(public))
        return key.public_key().public_bytes_raw(), shared


class _Hybrid(Suite):
    """Keys, heads and secrets are those of ML-KEM followed by those of X25519."""

    name = "mlkem768-x25519"
    private_size = KEM_SEED + POINT
    public_size = KEM_PUBLIC + POINT
    head_size = KEM_CIPHERTEXT + POINT
    # ML-KEM is deterministic in a message that `cryptography` does not hand out.
    provable = False

    def public(self, private: bytes) -> bytes:
        kem = MLKEM768PrivateKey.from_seed_bytes(private[:KEM_SEED])
        return kem.public_key().public_bytes_raw() + X25519.public(private[KEM_SEED:])

    def sender(self, public: bytes) -> Callable[[Entropy], Encapsulation]:
        kem = MLKEM768PublicKey.from_public_bytes(public[:KEM_PUBLIC])
        exchange = X25519.sender(public[KEM_PUBLIC:])

        def encapsulate(entropy: Entropy) -> Encapsulation:
            secret, ciphertext = kem.encapsulate()
            point = exchange(entropy)
            return Encapsulation(
                ciphertext + point.ciphertext, secret + point.shared, point.ephemeral, secret
            )

        return encapsulate

    def receiver(self, private: bytes) -> Callable[[bytes], bytes]:
        decapsulate_kem = MLKEM768PrivateKey.from_seed_bytes(private[:KEM_SEED]).decapsulate
        exchange = X25519PrivateKey.from_private_bytes(private[KEM_SEED:]).exchange
        load = X25519PublicKey.from_public_bytes

        def decapsulate(head: bytes) -> bytes:
            return decapsulate_kem(head[:KEM_CIPHERTEXT]) + exchange(load(head[KEM_CIPHERTEXT:]))

        return decapsulate

    def recompute_head(self, public: bytes, ephemeral: bytes, kem: bytes) -> tuple[bytes, bytes]:
        if len(kem) != POINT:
            raise ValueError("a secret of ML-KEM-768 has 32 bytes")
        point, shared = X25519.recompute_head(public[KEM_PUBLIC:], ephemeral, b"")
        return point, kem + shared


X25519: Suite = _X25519()
HYBRID: Suite = _Hybrid()

#: Every suite by its name.
SUITES = {suite.name: suite for suite in (X25519, HYBRID)}
