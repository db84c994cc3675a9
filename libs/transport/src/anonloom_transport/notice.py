"""Notice: the description of a round with the keys of all servers, signed by all of them."""

import hashlib
from collections.abc import Callable, Sequence
from functools import lru_cache

import attrs

from anonloom.errors import TransportError
from anonloom_transport.codec import pack, unpack
from anonloom_transport.rounds import MOST_SERVERS, Round
from anonloom_transport.sealing import Lock
from anonloom_transport.signing import read_signed

_HEAD = b"anonloom notice 1"

#: More parts than a description has: a few, and something of each server.
_MOST_PARTS = 4 + MOST_SERVERS

#: More keys than any transport's servers announce.
MOST_KEYS = 16

#: Says what is wrong with the transport's own keys of one server in a round, or nothing.
KeyJudge = Callable[[Round, tuple[bytes, ...]], str]


def wrong_keys(round: Round, announced: Sequence[tuple[bytes, ...]], judge: KeyJudge) -> str:
    """Say which server announced keys that cannot be used, and why; nothing if all can be.

    Asked by every server before it signs the description, and by every client before it uses it:
    what was signed could be blamed on nobody any more, and every sender would fail.
    """
    for server, keys in enumerate(announced):
        wrong = _wrong_lock(round, keys) or judge(round, keys[1:])
        if wrong:
            return f"server {server} announced keys that cannot be used: {wrong}"
    return ""


def _wrong_lock(round: Round, keys: tuple[bytes, ...]) -> str:
    try:
        Lock.read(round.suite, keys[0])
    except (ValueError, IndexError):
        return f"uploads cannot be sealed with a key of the suite '{round.suite}'"
    return ""


# Compared by hash: keys of servers cannot be, and a round may have a million slots.
@attrs.frozen(eq=False)
class Notice:
    """What clients act on.

    Attributes
    ----------
    round
        The plan.
    software
        Which transport with which parameters, in which version.
    keys
        Every server's public keys of this round: first the one that uploads are sealed with, then
        the transport's own.
    pins
        The servers' long-term public keys.
    binding
        Hash of it all; envelopes, receipts and every word of a server are bound to it.
    """

    round: Round
    software: bytes
    keys: tuple[tuple[bytes, ...], ...] = attrs.field(repr=False)
    pins: tuple[bytes, ...] = attrs.field(repr=False)
    binding: bytes = attrs.field(init=False, repr=False)
    locks: tuple[Lock, ...] = attrs.field(init=False, repr=False)

    @binding.default
    def _digest(self) -> bytes:
        return hashlib.sha256(self.document).digest()

    @locks.default
    def _locks(self) -> tuple[Lock, ...]:
        return tuple(Lock.read(self.round.suite, keys[0]) for keys in self.keys)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Notice) and self.binding == other.binding

    def __hash__(self) -> int:
        return hash(self.binding)

    @property
    def document(self) -> bytes:
        """What is signed."""
        keys = (pack(*keys) for keys in self.keys)
        return pack(_HEAD, self.round.encode(), self.software, pack(*self.pins), *keys)


# Clients in one process share what they read; each has its own copy elsewhere.
@lru_cache(maxsize=16)
def read_notice(data: bytes, pins: tuple[bytes, ...], software: bytes, judge: KeyJudge) -> Notice:
    """Read what some server handed out as the round's description.

    Raises
    ------
    TransportError
        When it is not signed by all servers, is for other software, or holds keys that cannot be
        used.
    """
    try:
        described = unpack(unpack(data, _MOST_PARTS)[0], _MOST_PARTS)[1]
    except (ValueError, IndexError):
        raise TransportError("the round description cannot be read") from None
    # Signatures first: what only one server says is not even read.
    document = read_signed(data, "notice", hashlib.sha256(described).digest(), pins)
    if document is None:
        raise TransportError("the round description is not signed by all servers")
    round = Round.decode(described)
    if round.servers != len(pins):
        raise TransportError("the round description is not signed by all servers")
    try:
        _, _, message, pinned, *keys = unpack(document, _MOST_PARTS)
        announced = tuple(tuple(unpack(own, MOST_KEYS)) for own in keys)
        known = tuple(unpack(pinned, MOST_SERVERS))
    except ValueError:
        raise TransportError("the round description cannot be read") from None
    if message != software:
        raise TransportError(
            f"the servers run {message.decode(errors='replace')}, and this client "
            f"{software.decode(errors='replace')}: both must be the same"
        )
    if len(announced) != round.servers:
        raise TransportError("the round description cannot be read")
    wrong = wrong_keys(round, announced, judge)
    if wrong:
        raise TransportError(wrong)
    notice = Notice(round, message, announced, pins)
    if known != pins or notice.document != document:
        raise TransportError("the round description is not signed by all servers")
    return notice


def describe(name: str, version: str, parameters: Sequence[tuple[str, object]]) -> bytes:
    """Name the software of a transport, so that different ones refuse each other."""
    message = ", ".join(f"{key}={value!r}" for key, value in parameters)
    return f"{name} {version} ({message})".encode()
