"""Layers: bytes of one size, sealed to one server for one purpose in one round.

A layer is `head || ChaCha20-Poly1305(key, zeros || inside)`. The head is a fresh encapsulation (see
`suites`), and the key is a keyed BLAKE2b of the shared secret over everything that the layer
belongs to: protocol version, round, phase, hop, suite, the server's public key and the head. So a
layer taken to another round, phase, hop or server does not open, and a head changed in any bit,
also in one that X25519 ignores, gives another key. The nonce is zero because a key seals once.

HPKE's one-shot interface would do the same but keeps the key to itself. A server that has to show
how one packet went on must reveal the key of this packet and of no other, without its private key;
so layers are made here, of the same primitives. (The upload as a whole still travels inside an HPKE
envelope to server 0.)

The sixteen zero bytes bind the ciphertext to its key: ChaCha20-Poly1305 alone does not promise that
no other key opens a ciphertext, and a server that could find one would show a false way.
"""

import hashlib
import hmac
from typing import Literal, get_args

import attrs
from attrs.validators import ge, in_, instance_of
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from anonloom_mixnet.suites import SUITES, Encapsulation, Suite
from anonloom_transport import Entropy

#: What a layer is for: taken off while mixing, taken off the signed list, or around one share.
Phase = Literal["mix", "peel", "share"]

#: Bytes of a layer's key, and of the mark by which a server knows a layer again.
KEY, MARK = 32, 16

_PROTOCOL = b"anonloom mixnet 1"
_PLACE_PERSON = b"loom mix place 1"
_LAYER_PERSON = b"loom mix layer 1"
_NONCE = bytes(12)
_ZEROS = bytes(16)
_AUTHENTICATION = 16


class UnopenedLayer(Exception):
    """A layer that does not open: sealed to somebody else, or changed on its way."""


@attrs.frozen(kw_only=True)
class Place:
    """Where a layer belongs; its key opens it nowhere else.

    Attributes
    ----------
    round
        Digest of the round.
    phase, hop
        Which layer of the packet it is, and of which server.
    suite
        Name of the suite.
    public
        The server's public key for this phase.
    """

    round: bytes = attrs.field(validator=instance_of(bytes), repr=False)
    phase: Phase = attrs.field(validator=in_(get_args(Phase)))
    hop: int = attrs.field(validator=[instance_of(int), ge(0)])
    suite: str = attrs.field(validator=in_(SUITES))
    public: bytes = attrs.field(validator=instance_of(bytes), repr=False)
    context: bytes = attrs.field(init=False, repr=False, eq=False)

    @context.default
    def _context(self) -> bytes:
        hashed = hashlib.blake2b(digest_size=32, person=_PLACE_PERSON)
        words = (_PROTOCOL, self.round, self.phase.encode(), self.suite.encode(), self.public)
        for word in words:
            hashed.update(len(word).to_bytes(4, "big") + word)
        hashed.update(self.hop.to_bytes(4, "big"))
        return hashed.digest()

    @property
    def kem(self) -> Suite:
        """The suite itself."""
        return SUITES[self.suite]


def overhead(suite: str) -> int:
    """Return how many bytes one layer adds."""
    return SUITES[suite].head_size + len(_ZEROS) + _AUTHENTICATION


def derive(place: Place, head: bytes, shared: bytes) -> tuple[bytes, bytes]:
    """Return the key of the layer with this head, and the mark by which it is known again."""
    out = hashlib.blake2b(
        place.context + head, key=shared, digest_size=KEY + MARK, person=_LAYER_PERSON
    ).digest()
    return out[:KEY], out[KEY:]


def decrypt(key: bytes, sealed: bytes) -> bytes:
    """Open what follows a layer's head, given the key.

    Raises
    ------
    UnopenedLayer
        When it was not sealed with this key.
    """
    if len(key) != KEY:
        raise UnopenedLayer
    try:
        opened = ChaCha20Poly1305(key).decrypt(_NONCE, sealed, None)
    except InvalidTag:
        raise UnopenedLayer from None
    if not hmac.compare_digest(opened[: len(_ZEROS)], _ZEROS):
        raise UnopenedLayer
    return opened[len(_ZEROS) :]


@attrs.frozen
class Layer:
    """A sealed layer with what its sender keeps: with it she can refute a server.

    Attributes
    ----------
    sealed
        What travels.
    ephemeral, kem
        See `Encapsulation`.
    """

    sealed: bytes = attrs.field(repr=False)
    ephemeral: bytes = attrs.field(repr=False)
    kem: bytes = attrs.field(repr=False)


class Sealer:
    """Seals layers to one server.

    Raises
    ------
    ValueError
        When the place's public key is malformed.
    """

    def __init__(self, place: Place) -> None:
        self.place = place
        self._encapsulate = place.kem.sender(place.public)

    def seal(self, inside: bytes, entropy: Entropy) -> Layer:
        """Seal with a key of its own."""
        made: Encapsulation = self._encapsulate(entropy)
        key, _ = derive(self.place, made.ciphertext, made.shared)
        sealed = ChaCha20Poly1305(key).encrypt(_NONCE, _ZEROS + inside, None)
        return Layer(made.ciphertext + sealed, made.ephemeral, made.kem)


@attrs.frozen
class OpenedLayer:
    """A layer taken off.

    Attributes
    ----------
    inside
        What it sealed.
    key
        Its key; revealed, it shows this layer and no other.
    mark
        A hash of the shared secret: the same for two layers only if their heads are the same.
    """

    inside: bytes = attrs.field(repr=False)
    key: bytes = attrs.field(repr=False)
    mark: bytes = attrs.field(repr=False)


class Opener:
    """Opens the layers that were sealed to one server.

    Raises
    ------
    ValueError
        When the private key is malformed or is not that of the place.
    """

    def __init__(self, place: Place, private: bytes) -> None:
        if not hmac.compare_digest(place.kem.public(private), place.public):
            raise ValueError("the private key does not belong to the public one")
        self.place = place
        self._head = place.kem.head_size
        self._decapsulate = place.kem.receiver(private)

    def open(self, sealed: bytes) -> OpenedLayer:
        """Take the layer off.

        Raises
        ------
        UnopenedLayer
            When it was sealed to somebody else or changed on its way.
        """
        head = sealed[: self._head]
        try:
            shared = self._decapsulate(head)
        except ValueError:
            raise UnopenedLayer from None
        key, mark = derive(self.place, head, shared)
        return OpenedLayer(decrypt(key, sealed[self._head :]), key, mark)
