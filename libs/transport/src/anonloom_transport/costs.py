"""Costs: what every round costs, to which a transport adds its own.

Sizes come from the code that writes what is sent, with contents of the right size that say nothing;
what servers say to each other beside it is counted by letting them say nothing.
"""

import hashlib
from collections.abc import Callable, Sequence
from functools import cache, partial

import attrs

from anonloom_transport.channel import Channel
from anonloom_transport.codec import cut, pack
from anonloom_transport.count_phase import COUNT_BYTES
from anonloom_transport.engines import ID_BYTES
from anonloom_transport.entropy import SystemEntropy
from anonloom_transport.estimates import Estimate, Operation, Work, microbenchmark, seconds
from anonloom_transport.invitations import PROOF_BYTES
from anonloom_transport.microbench import run_microbench, size_of
from anonloom_transport.notice import Notice
from anonloom_transport.rounds import Erasure, Round, Suite
from anonloom_transport.sealing import SealingKey, overhead
from anonloom_transport.server_config import ServerConfig
from anonloom_transport.signing import (
    SIGNATURE_BYTES,
    Signer,
    new_identity,
    verify_signature,
    write_signed,
)
from anonloom_transport.slots import SLOT_BYTES
from anonloom_transport.uploads import HASH_BYTES, MARK_BYTES, body_size, read_held
from anonloom_transport.vault import MemoryVault

#: Entries of a list that is read to see what one costs.
_ENTRIES = 256


@attrs.frozen(kw_only=True)
class Costs:
    """What a transport adds to the costs of a full round.

    Attributes
    ----------
    software
        What the transport calls itself; see `RoundTransport.software`.
    contents
        Bytes that a sender seals to each server.
    keys
        Public keys that each server announces beside the one for uploads: some of the right size.
    words, exchanges
        Bytes that all servers together say in each further step: outright, or with a commitment.
    documents
        Bytes of each further document that all servers sign and show to senders.
    server_work, sender_work
        What the busiest server does and what a sender does beyond uploads and words.
    memory
        Bytes that a server holds at the peak, beside uploads and lists.
    """

    round: Round
    software: bytes
    contents: tuple[int, ...]
    keys: tuple[bytes, ...] = attrs.field(default=(), repr=False)
    words: tuple[int, ...] = ()
    exchanges: tuple[int, ...] = ()
    documents: tuple[int, ...] = ()
    server_work: Work = attrs.field(factory=Work, repr=False)
    sender_work: Work = attrs.field(factory=Work, repr=False)
    memory: int = 0

    def estimate(self) -> Estimate:
        """Return what the round costs."""
        return Estimate(
            upload_bytes=self.upload_bytes,
            download_bytes=self.download_bytes,
            server_bytes=-(-self.spoken_bytes // self.round.servers),
            server_cpu=seconds(self.work_of_server),
            sender_cpu=seconds(self.work_of_sender),
            server_memory=self.server_memory,
        )

    # --- bytes ----------------------------------------------------------------------------------

    @property
    def _envelope(self) -> int:
        """Bytes of an envelope about an upload, without its body."""
        return len(self.round.digest) + ID_BYTES

    @property
    def upload_bytes(self) -> int:
        """What a sender sends to all servers."""
        inside = MARK_BYTES + (PROOF_BYTES if self.round.authority else 0)
        sealed = (inside + size + overhead(self.round.suite) for size in self.contents)
        return sum(self._envelope + body_size(self.round.servers, size) for size in sealed)

    @property
    def _sealing_key(self) -> bytes:
        return SealingKey.draw(self.round.suite, SystemEntropy()).public

    @property
    def notice_bytes(self) -> int:
        """The signed description of the round."""
        servers = self.round.servers
        pins = (new_identity(SystemEntropy()).public,) * servers
        keys = ((self._sealing_key, *self.keys),) * servers
        document = Notice(self.round, self.software, keys, pins).document
        return _signed_size(servers, len(document))

    @property
    def download_bytes(self) -> int:
        """What a sender receives: one description; receipts and lists of all servers."""
        servers = self.round.servers
        lists = (self.round.capacity * ID_BYTES, *self.documents)
        shown = sum(self._envelope + _signed_size(servers, size) for size in lists)
        return self.notice_bytes + servers * (self._envelope + SIGNATURE_BYTES + shown)

    @property
    def spoken_bytes(self) -> int:
        """What all servers together say to each other."""
        servers, spoken = self.round.servers, _step_bytes(self.round.servers)
        shown = list(self.exchanges)
        messages = [
            servers * len(pack(self.software, self._sealing_key, *self.keys)),
            servers * self.round.capacity * (ID_BYTES + HASH_BYTES),
            servers * len(pack()),  # nobody objects
            servers * SIGNATURE_BYTES,  # of the result
            *self.words,
        ]
        if self.round.slots:
            messages.append(servers * len(Erasure((), b"").commitment))
        if self.round.counted:
            # At most: every position could be a group of its own.
            messages.append(servers * HASH_BYTES)
            shown.append(servers * COUNT_BYTES * len(self.round.slots))
        # Signed by all: the description, what was accepted, what was admitted, what is shown.
        documents = 3 + len(self.documents)
        return (
            len(messages) * spoken.word
            + documents * spoken.signature
            + len(shown) * spoken.exchange
            + (servers - 1) * (sum(messages) + sum(shown))
        )

    # --- work -----------------------------------------------------------------------------------

    @property
    def work_of_server(self) -> Work:
        """What the first server does, who has most to do."""
        taking = (self.contents, self.round.suite, bool(self.round.authority))
        each = Work({_words(*taking): 1, _upload(*taking): self.round.capacity})
        return each + self.server_work

    @property
    def work_of_sender(self) -> Work:
        """What a sender does, who has read nothing before."""
        taking = (self.contents, self.round.suite, bool(self.round.authority))
        lists = 1 + len(self.documents)
        listed = self.round.capacity + sum(self.documents) // ID_BYTES
        each = Work(
            {_send_operation(*taking): 1, CHECK: self.round.servers * (1 + lists), LOOK: listed}
        )
        return each + Work({READ_SLOT: len(self.round.slots)}) + self.sender_work

    @property
    def server_memory(self) -> int:
        """What a server holds of uploads and lists, and what the transport adds."""
        suite, invited = self.round.suite, bool(self.round.authority)
        kept = run_microbench(self.contents, suite, invited).held
        listed = self.round.servers * _listed_bytes()
        slots = len(self.round.slots) * 4 * SLOT_BYTES
        return self.round.capacity * (kept + listed) + slots + self.memory


def _signed_size(servers: int, document: int) -> int:
    return document + len(write_signed(b"", [bytes(SIGNATURE_BYTES)] * servers))


# --- what servers say ---------------------------------------------------------------------------


@attrs.frozen
class _StepBytes:
    """Bytes that all servers together send for one step in which they have nothing to say."""

    word: int
    signature: int
    exchange: int


@cache
def _step_bytes(servers: int) -> _StepBytes:
    """Let so many servers talk about nothing."""
    entropy = SystemEntropy()
    described = Round(
        id="nothing", operation="post", servers=servers, message_size=1, min_batch=1, capacity=1
    )
    identities = [new_identity(entropy) for _ in range(servers)]
    pins = tuple(identity.public for identity in identities)
    channels = [
        Channel(
            described,
            ServerConfig(index=index, identity=identity, pins=pins, vault=MemoryVault()),
            described.digest,
        )
        for index, identity in enumerate(identities)
    ]
    return _StepBytes(
        word=_bytes_sent(channels, lambda channel: channel.send("word", b"")),
        signature=_bytes_sent(channels, lambda channel: channel.sign("document", b"", "word")),
        exchange=_bytes_sent(channels, lambda channel: channel.exchange("value", bytes, b"")),
    )


def _bytes_sent(channels: Sequence[Channel], act: Callable[[Channel], object]) -> int:
    """Return the bytes that are sent until all have heard each other."""
    total = 0
    for _ in range(2):  # to commit, and to show
        for channel in channels:
            act(channel)
        for envelope in [envelope for channel in channels for envelope in channel.drain()]:
            channels[envelope.receiver.index].receive(envelope)
            total += envelope.size
    return total


# --- operations ---------------------------------------------------------------------------------


def _operation_name(what: str, contents: tuple[int, ...], suite: Suite, invited: bool) -> str:
    invitation = ", with an invitation" if invited else ""
    return f"{what} of a round with contents of {contents} bytes, {suite}{invitation}"


def _words(contents: tuple[int, ...], suite: Suite, invited: bool) -> Operation:
    """All that servers say, whatever the number of uploads."""
    result = partial(run_microbench, contents, suite, invited)
    return Operation(_operation_name("words", contents, suite, invited), lambda: result().words)


def _upload(contents: tuple[int, ...], suite: Suite, invited: bool) -> Operation:
    """Opening and confirming an upload, and agreeing on it."""
    result = partial(run_microbench, contents, suite, invited)
    return Operation(
        _operation_name("an upload", contents, suite, invited), lambda: result().upload
    )


def _send_operation(contents: tuple[int, ...], suite: Suite, invited: bool) -> Operation:
    """Sealing an upload to all servers, and checking their receipts."""
    result = partial(run_microbench, contents, suite, invited)
    return Operation(_operation_name("a sender", contents, suite, invited), lambda: result().sender)


def _check() -> Callable[[], object]:
    identity = new_identity(SystemEntropy())
    signature = Signer(identity).sign("trial", b"", b"")
    return lambda: verify_signature(identity.public, signature, "trial", b"", b"")


def _hashes(width: int) -> bytes:
    """Return hashes, in rising order."""
    hashed = (
        hashlib.sha512(index.to_bytes(8, "big")).digest()[:width] for index in range(_ENTRIES)
    )
    return b"".join(sorted(hashed))


def _read_slots() -> Callable[[], object]:
    described = Round(
        id="trial",
        operation="deposit",
        servers=2,
        message_size=1,
        min_batch=1,
        slots=tuple(cut(_hashes(SLOT_BYTES), SLOT_BYTES)),
    )
    written = described.encode()
    return lambda: {slot: index for index, slot in enumerate(Round.decode(written).slots)}


def _look() -> Callable[[], object]:
    document = _hashes(ID_BYTES)
    return lambda: frozenset(cut(document, ID_BYTES))


#: Checking a signature.
CHECK = Operation("check a signature", microbenchmark(_check))
#: Reading one position of a round's description.
READ_SLOT = Operation("read a slot of a description", microbenchmark(_read_slots, _ENTRIES))
#: Reading one entry of a list in which a sender looks for herself.
LOOK = Operation("read an entry of a list", microbenchmark(_look, _ENTRIES))


@cache
def _listed_bytes() -> int:
    """Bytes that one entry of a server's list takes, as it travels and as it is compared."""
    written = _hashes(ID_BYTES + HASH_BYTES)
    return (len(written) + size_of(read_held(written))) // _ENTRIES
