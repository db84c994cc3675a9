"""Engines: the two sides of a transport as state machines without sockets.

An engine takes envelopes and yields envelopes. Who carries them is none of its affair: in
experiments and tests it is a driver inside one process, in deployment HTTP. Clock and entropy are
passed in, so that a whole protocol can be replayed step by step.

A round, both operations alike: the servers `begin` and sign the description of the round; clients
upload and hold a receipt of every server; the servers `close` and agree on what they accepted;
clients that are missing from the list object; the servers `settle`, after which everything lies
sealed and checked; the servers of a deposit may `count` filled positions, and positions may be
erased; the servers `open`.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

import attrs

from anonloom.errors import TransportError
from anonloom_transport.rounds import Party
from anonloom_transport.slots import SlotSecret

#: Bytes of an upload's id. Drawn at random: two senders never meet.
ID_BYTES = 16


class Entropy(Protocol):
    """Where keys, ids and coins come from."""

    def bytes(self, n: int, /) -> bytes:
        """Return `n` random bytes."""


class Clock(Protocol):
    """What tells an engine the time."""

    def now(self) -> float:
        """Return seconds; only differences and deadlines of the same clock mean anything."""


class Vault(Protocol):
    """Where a server holds the key of its saved state, apart from disks and backups.

    Erasing a record means destroying that key: what was saved can then be read by nobody.
    """

    def keep(self, name: str, key: bytes, /) -> None:
        """Keep a key."""

    def fetch(self, name: str, /) -> bytes | None:
        """Return a key, or None when it was destroyed or never kept."""

    def destroy(self, name: str, /) -> None:
        """Destroy a key for ever."""


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

    Promise: it acts only on what all servers have signed; it sends one message only, however often
    it is asked; `is_acknowledged` is true only when every server has confirmed exactly that
    message.
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
    def deposit(self, secret: SlotSecret, record: bytes) -> list[Envelope]:
        """Send a record to the position that is the secret's; raises as `post` does."""

    @abstractmethod
    def decoy(self) -> list[Envelope]:
        """Send what looks like a deposit and leaves nothing; raises as `post` does.

        Who has no position, or nothing to say, sends as everybody does: whether somebody is there
        must never depend on an answer.
        """

    @abstractmethod
    def receive(self, envelope: Envelope) -> list[Envelope]:
        """Take what a server sent; what does not belong here is ignored."""

    @abstractmethod
    def resend(self) -> list[Envelope]:
        """Return the same bytes for every server that has not confirmed them."""

    @property
    @abstractmethod
    def is_acknowledged(self) -> bool:
        """Whether every server has confirmed the message."""

    @property
    def stands(self) -> bool:
        """Whether this sender knows that her message counts: confirmed, or listed as accepted.

        Asked when the servers have shown what they accepted. Whoever does not stand in one phase
        stays away from the next: there she would be one more than came before.
        """
        return self.is_acknowledged


class ServerEngine(ABC):
    """One server in one round: it collects, closes, settles, counts, erases, opens.

    Promise: every message that was acknowledged to an honest sender is in `result` exactly once, or
    the round stops and says why; an upload counts once however often it comes, and other bytes
    under its id are refused; what is refused is counted by reason, and no reason names a sender;
    nothing that arrives makes `take` fail. Whoever drives the engine saves it before delivering
    what a call returned: then a server that is started again from what was saved goes on as if
    nothing had happened.
    """

    #: How many envelopes were refused, by reason.
    refusals: Counter[str]

    #: What a curious operator would write down: called with two byte strings whenever the server
    #: learns that they belong together. For audits only.
    on_link: Callable[[bytes, bytes], None] | None = None

    #: Called during long work with how much of how much of it is done: for whoever waits.
    on_progress: Callable[[int, int], None] | None = None

    @abstractmethod
    def begin(self) -> list[Envelope]:
        """Announce the server's key of this round."""

    @property
    @abstractmethod
    def notice(self) -> bytes | None:
        """The description of the round, signed by all servers; None before that."""

    @abstractmethod
    def receive(self, envelope: Envelope) -> list[Envelope]:
        """Take what a client or another server sent."""

    @property
    @abstractmethod
    def accepted_count(self) -> int:
        """Number of uploads that stand."""

    @property
    def left_out(self) -> int:
        """Number of those that were taken out again, because they failed a check."""
        return 0

    @property
    def senders(self) -> frozenset[bytes]:
        """Whose uploads stand, by the public halves of invitations; none where nobody needs one."""
        return frozenset()

    @abstractmethod
    def close(self) -> list[Envelope]:
        """End the collection and agree with the others on what was accepted.

        Asked again, it returns the same envelopes, for those that were lost; so do `settle`,
        `count` and `open`.

        Raises
        ------
        TransportError
            When there are fewer uploads than `min_batch`: the round stays as it is.
        """

    @abstractmethod
    def settle(self) -> list[Envelope]:
        """End the time for objections; put everything in its place, sealed, and check it.

        Raises
        ------
        TransportError
            Before all servers have agreed on what was accepted, or when the round has stopped.
        """

    def count(self, groups: Sequence[Sequence[int]]) -> list[Envelope]:
        """Learn how many positions of each group are filled, and nothing else.

        For a `deposit` that is `counted`, when everything is settled and nothing is open: what has
        too few records is then erased instead of opened. All servers must ask for the same groups,
        once; `counts` has the sums when all have shown their parts. Decoys count nowhere. A
        position that is erased counts like any other: who wants it left out leaves it out of its
        group.

        Raises
        ------
        TransportError
            When the round is not counted, before everything is settled, after `open`, when there
            is no such position or it is in two groups, or when other groups were asked for before.
        """
        raise TransportError("this transport cannot count")

    @property
    def counts(self) -> tuple[int, ...] | None:
        """Number of filled positions of each group; None before that, and after the end."""
        return None

    @abstractmethod
    def erase(self, positions: Iterable[int]) -> None:
        """Erase further positions of a `deposit` while everything is sealed.

        What the round planned to erase is erased without asking; this is for donors who withdraw.
        All servers must erase the same.

        Raises
        ------
        TransportError
            After `open`, or when there is no such position.
        """

    @abstractmethod
    def open(self) -> list[Envelope]:
        """Open what was not erased; it becomes public when all servers have.

        Raises
        ------
        TransportError
            Before everything is settled, or when the round has stopped.
        """

    @abstractmethod
    def resend(self) -> list[Envelope]:
        """Return what other servers may have missed, for those that were lost."""

    @property
    @abstractmethod
    def result(self) -> Sequence[bytes | None] | None:
        """What became public; None before that.

        Of a `post` all messages, in an order that says nothing about senders. Of a `deposit` one
        record per position, None where none is, where it was erased or where it is contested.
        """

    @property
    @abstractmethod
    def stop_reason(self) -> str:
        """Why the round cannot end, naming a server where that is proven; empty if it can."""

    @property
    def missing_messages(self) -> list[tuple[int, str]]:
        """Which servers this one waits for, and for which word: for the operator's eyes."""
        return []

    def abandon(self, reason: str) -> list[Envelope]:
        """Give up a round that has not ended: what was uploaded is destroyed and never opened.

        Whoever runs the servers asks for it when one of them is silent for too long. An engine
        that keeps nothing secret has nothing to destroy.
        """
        return []

    @abstractmethod
    def save(self) -> bytes:
        """Return all that a new engine needs to go on, readable with the vault's key only.

        When the round is over it holds public data only.
        """
