"""Engines: the two sides of a transport as state machines without sockets.

An engine takes envelopes and yields envelopes. Who carries them is none of its affair: in
experiments and tests it is a driver inside one process, in deployment HTTP. Clock and entropy are
passed in, so that a whole protocol can be replayed step by step.
"""

import hashlib
import json
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal, Protocol

import attrs
from attrs.validators import ge, in_, instance_of, optional

from anonloom.errors import TransportError

#: Bytes of an upload's id. Drawn at random: two senders never meet.
ID_BYTES = 16

#: Bytes of the secret that a position's owner holds.
SECRET_BYTES = 16


class Entropy(Protocol):
    """Where keys, ids and coins come from."""

    def bytes(self, n: int, /) -> bytes:
        """Return `n` random bytes."""


class Clock(Protocol):
    """What tells an engine the time."""

    def now(self) -> float:
        """Return seconds; only differences and deadlines of the same clock mean anything."""


@attrs.frozen(order=True)
class Party:
    """Who sends or receives: a client or a server."""

    role: Literal["client", "server"] = attrs.field(validator=in_(("client", "server")))
    index: int = attrs.field(validator=[instance_of(int), ge(0)])

    def __str__(self) -> str:
        return f"{self.role} {self.index}"


def _tuple(slots: Iterable[bytes]) -> tuple[bytes, ...]:
    return tuple(slots)


@attrs.frozen(kw_only=True)
class Round:
    """What everybody who takes part in one round has to agree on.

    Attributes
    ----------
    id
        A name that no other round has.
    operation
        `post`: each sender, one message, unlinkably. `deposit`: a sealed record at a position.
    servers
        Number of servers.
    message_size
        Bytes of every message or record; longer and shorter ones are refused.
    min_batch
        Least number of senders; a round with fewer never closes.
    slots
        Of a deposit, the hash of each position's secret (see `slot_of`), in order of position.
    iteration
        Which of several rounds over the same slots this is.
    deadline
        Time after which uploads are refused; None for no such time.
    everyone
        The servers.
    digest
        Hash of all the above; every envelope is bound to it.
    """

    id: str = attrs.field(validator=instance_of(str))
    operation: Literal["post", "deposit"] = attrs.field(validator=in_(("post", "deposit")))
    servers: int = attrs.field(validator=[instance_of(int), ge(1)])
    message_size: int = attrs.field(validator=[instance_of(int), ge(1)])
    min_batch: int = attrs.field(validator=[instance_of(int), ge(1)])
    slots: tuple[bytes, ...] = attrs.field(default=(), converter=_tuple)
    iteration: int = attrs.field(default=0, validator=[instance_of(int), ge(0)])
    deadline: float | None = attrs.field(
        default=None, converter=attrs.converters.optional(float), validator=optional(ge(0))
    )
    everyone: tuple[Party, ...] = attrs.field(init=False, repr=False)
    digest: bytes = attrs.field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        if not self.id:
            raise ValueError("a round needs an id")
        if (self.operation == "deposit") != bool(self.slots):
            raise ValueError("a deposit has slots, and a post has none")
        if len(set(self.slots)) < len(self.slots):
            raise ValueError("two slots have the same secret")

    @everyone.default
    def _everyone(self) -> tuple[Party, ...]:
        return tuple(Party("server", index) for index in range(self.servers))

    @digest.default
    def _digest(self) -> bytes:
        described = [
            "anonloom round 1",
            self.id,
            self.operation,
            self.servers,
            self.message_size,
            self.min_batch,
            [slot.hex() for slot in self.slots],
            self.iteration,
            self.deadline,
        ]
        return hashlib.sha256(json.dumps(described).encode()).digest()


def slot_of(secret: bytes) -> bytes:
    """Return what is published of a position's secret."""
    return hashlib.sha256(b"anonloom slot 1\0" + secret).digest()


@attrs.frozen(kw_only=True)
class Envelope:
    """What travels.

    Attributes
    ----------
    sender
        Set by whoever delivers the envelope, from the channel by which it came; an engine may rely
        on it for servers, whose channels are authenticated, and for nothing else.
    step
        What the envelope is in the protocol: `upload`, `receipt`, or a transport's own word.
    round
        Digest of the round that it belongs to.
    upload
        Id of the upload that it concerns; empty between servers.
    """

    sender: Party
    receiver: Party
    step: str
    round: bytes = attrs.field(repr=False)
    upload: bytes = attrs.field(default=b"", repr=False)
    body: bytes = attrs.field(default=b"", repr=False)

    @property
    def size(self) -> int:
        """Bytes of what the network carries."""
        return len(self.round) + len(self.upload) + len(self.body)


class ClientEngine(ABC):
    """One sender in one round.

    Promise: it sends one message only, however often it is asked; `acknowledged` is true only when
    every server has confirmed exactly that message.
    """

    @abstractmethod
    def post(self, message: bytes) -> list[Envelope]:
        """Send the message of a `post` round.

        Raises
        ------
        TransportError
            When the message has not the round's size, the round is another operation, or another
            message was sent before.
        """

    @abstractmethod
    def deposit(self, position: int, secret: bytes, record: bytes) -> list[Envelope]:
        """Send a record to a position whose secret the sender holds; raises as `post` does."""

    @abstractmethod
    def take(self, envelope: Envelope) -> list[Envelope]:
        """Take what a server sent; what does not belong here is ignored."""

    @abstractmethod
    def again(self) -> list[Envelope]:
        """Return the same bytes for every server that has not confirmed them."""

    @property
    @abstractmethod
    def acknowledged(self) -> bool:
        """Whether every server has confirmed the message."""


class ServerEngine(ABC):
    """One server in one round: it collects, closes, erases, opens.

    Promise: every message that was acknowledged to an honest sender is in `result` exactly once;
    an upload counts once however often it comes, and other bytes under its id are refused; what is
    refused is counted by reason, and no reason names a sender; nothing that arrives makes `take`
    fail.
    """

    #: How many envelopes were refused, by reason.
    refused: Counter[str]

    @abstractmethod
    def take(self, envelope: Envelope) -> list[Envelope]:
        """Take what a client or another server sent."""

    @property
    @abstractmethod
    def accepted(self) -> int:
        """Number of uploads that stand."""

    @abstractmethod
    def close(self) -> list[Envelope]:
        """End the collection. The messages of a `post` become public when all servers have.

        Asked again, it returns the same envelopes, for those that were lost.

        Raises
        ------
        TransportError
            When there are fewer uploads than `min_batch`: the round stays as it is.
        """

    @abstractmethod
    def erase(self, positions: Iterable[int]) -> None:
        """Forget the records at these positions of a `deposit`, while everything is sealed.

        Raises
        ------
        TransportError
            Before `close`, after `open`, or when there is no such position.
        """

    @abstractmethod
    def open(self) -> list[Envelope]:
        """Open what was not erased; it becomes public when all servers have.

        Asked again, it returns the same envelopes, for those that were lost.

        Raises
        ------
        TransportError
            Before all servers have closed, or when the round has stopped.
        """

    @property
    @abstractmethod
    def result(self) -> Sequence[bytes | None] | None:
        """What became public; None before that.

        Of a `post` all messages, in an order that says nothing about senders. Of a `deposit` one
        record per position, None where none is or where it was erased.
        """

    @property
    @abstractmethod
    def stopped(self) -> str:
        """Why the round cannot end; empty as long as it can."""


def require_size(round: Round, message: bytes) -> None:
    """Refuse a message that is not of the round's size.

    Raises
    ------
    TransportError
        With both sizes.
    """
    if len(message) != round.message_size:
        raise TransportError(
            f"a message of this round must have {round.message_size} bytes. "
            f"Got {len(message)} instead."
        )


def require_operation(round: Round, operation: str) -> None:
    """Refuse what the round is not for.

    Raises
    ------
    TransportError
        Naming both operations.
    """
    if round.operation != operation:
        raise TransportError(f"this round is for '{round.operation}', not for '{operation}'")
