"""The servers of a study agree on its description, on secrets and on coins.

What servers say to each other between the rounds of a transport. A round's own words are the
transport's; these are bound to the study, and every server has one word per step here too.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence

import attrs

from anonloom.errors import TransportError
from anonloom_anonify.study import Study
from anonloom_transport import (
    MOST_SERVERS,
    Channel,
    Envelope,
    Lock,
    RecordedEntropy,
    SealingKey,
    ServerConfig,
    SignedMessage,
    StateVault,
    pack,
    read_signed,
    readable,
    unpack,
    write_signed,
)

_HEAD = b"anonloom study notice 1"

#: More parts than the description of a study has: a few, and something of each server.
_MOST_PARTS = 2 + MOST_SERVERS

#: Bytes of what a server announces of its share.
_HASH = 32

#: Longer than what any server has to say here: every word is kept to the end.
_LONGEST = 2**16


@attrs.define(eq=False)
class ServerAgreement:
    """One server among the others of a study.

    Attributes
    ----------
    notice
        The study with the servers' keys, signed by all of them; None before that.
    secret
        What all servers know and nobody else: the join keys and the salt of what is erased come
        from it. It dies with the study.
    refused
        What was refused, by reason.
    """

    study: Study
    config: ServerConfig
    _entropy: RecordedEntropy = attrs.field(repr=False)
    notice: bytes | None = attrs.field(default=None, init=False, repr=False)
    secret: bytes | None = attrs.field(default=None, init=False, repr=False)
    refused: Counter[str] = attrs.field(factory=Counter, init=False)
    channel: Channel = attrs.field(init=False, repr=False)
    state_vault: StateVault = attrs.field(init=False, repr=False)
    _key: SealingKey | None = attrs.field(default=None, init=False, repr=False)
    _share: bytes = attrs.field(default=b"", init=False, repr=False)
    _locks: tuple[Lock, ...] = attrs.field(default=(), init=False, repr=False)
    _announced: tuple[bytes, ...] = attrs.field(default=(), init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        if len(self.config.pins) != self.study.servers:
            raise TransportError(
                f"a study of {self.study.servers} servers needs the public key of each. "
                f"Got {len(self.config.pins)} instead."
            )
        self.channel = Channel(self.study, self.config)
        for server in range(self.study.servers):
            self.channel.address(f"share {server}", server)
        self.state_vault = StateVault(self.study, self.config.index, self.config.vault)

    @property
    def stop_reason(self) -> str:
        """Why the study cannot end; empty if it can."""
        return self.channel.stop_reason

    @property
    def missing_messages(self) -> list[tuple[int, str]]:
        """Which servers this one waits for, and for which word: for the operator's eyes."""
        if self.notice is None or self.secret is not None or self.stop_reason:
            return self.channel.missing_messages
        share = f"share {self.config.index}"
        others = (index for index in range(self.study.servers) if index != self.config.index)
        return [(index, share) for index in others if self.channel.of(share, index) is None]

    def meet(self) -> bool:
        """Announce a key, sign the study and share a secret; return whether that is done."""
        if self._key is None:
            self.state_vault.prepare(self._entropy)
            self.channel.prepare(self._entropy.bytes(32))
            self._key = SealingKey.draw(self.study.suite, self._entropy)
            self._share = self._entropy.bytes(32)
            versions = "; ".join(self.study.versions).encode()
            self.channel.send(
                "key", pack(versions, self._key.public, _share_commitment(self._share))
            )
        words = self.channel.all("key")
        if self.notice is None and words is not None and not self.stop_reason:
            self._sign_study(words)
        if self.notice is not None and self.secret is None and not self.stop_reason:
            self._share_secret()
        return self.secret is not None and not self.stop_reason

    def _sign_study(self, words: Sequence[bytes]) -> None:
        keys, announced = [], []
        for server, word in enumerate(words):
            try:
                versions, public, share = unpack(word, 3)
                keys.append(Lock.read(self.study.suite, public))
                if len(share) != _HASH:
                    raise ValueError("not the hash of a share")
                announced.append(share)
            except ValueError:
                self.channel.stop(f"server {server} announced a key that cannot be read")
                return
            own = "; ".join(self.study.versions)
            if versions != own.encode():
                self.channel.stop(
                    f"server {server} runs {readable(versions)}, and server {self.config.index} "
                    f"{own}: all must run the same"
                )
                return
        self._locks, self._announced = tuple(keys), tuple(announced)
        document = pack(_HEAD, self.study.encode(), *words)
        signatures = self.channel.sign("notice", document, "key", self.study.digest)
        if signatures is not None:
            self.notice = write_signed(document, signatures)
            self.channel.binding = hashlib.sha256(document).digest()

    def _share_secret(self) -> None:
        """Tell every other server a share, sealed: whoever sees the lines learns nothing."""
        assert self._key is not None
        own = self.config.index
        for server, lock in enumerate(self._locks):
            step = f"share {server}"
            if server != own and not self.channel.has_sent(step):
                self.channel.send(step, lock.seal(self._share, self._context(own, server)))
        shares = {own: self._share}
        for server in range(self.study.servers):
            word = self.channel.of(f"share {own}", server)
            if server == own:
                continue
            if word is None:
                return
            share = self._key.open(word, self._context(server, own))
            if share is None:
                self.channel.stop(f"server {server} sealed a share that cannot be opened")
                return
            # Servers with different shares would find different classes, and suspect each other.
            if _share_commitment(share) != self._announced[server]:
                self.channel.stop(f"server {server} sealed another share than it announced")
                return
            shares[server] = share
        text = pack(b"study", *(shares[index] for index in sorted(shares)))
        self.secret = hashlib.sha256(text).digest()

    def _context(self, sender: int, receiver: int) -> bytes:
        return pack(b"anonloom share 1", self.channel.binding, bytes([sender]), bytes([receiver]))

    def derive(self, name: str) -> bytes:
        """Return 32 bytes that the servers know, and nobody else."""
        assert self.secret is not None
        return hashlib.sha256(pack(b"derived", self.secret, name.encode())).digest()

    def toss_seed(self, name: str, subject: bytes) -> int | None:
        """Return a seed that all tossed together, about a subject; None as long as one is missing.

        Coins are committed to after the subject is fixed. The servers' secret goes in as well:
        whoever hears the coins must not learn what is drawn with them.
        """
        shown = self.channel.exchange(
            name, lambda: self.channel.derive(f"{name} {subject.hex()}"), subject
        )
        if shown is None:
            return None
        mixed = hashlib.sha256(pack(b"coins", self.derive(name), *shown)).digest()
        return int.from_bytes(mixed[:8], "big") >> 1

    def alike(self, step: str, digest: bytes, what: str) -> bool:
        """Say what this server found; return whether all found the same, and stop if not."""
        self.channel.send(step, digest)
        words, own = self.channel.all(step), self.config.index
        for server, word in enumerate(words or ()):
            if word != digest:
                self.channel.stop(
                    f"the servers do not agree on {what}: server {server} says something else "
                    f"than server {own}"
                )
        return words is not None and not self.stop_reason

    def signed_by_all(self, kind: str, document: bytes, step: str, what: str) -> bytes | None:
        """Return a document with the signatures of all servers; None as long as one is missing."""
        if not self.alike(step, hashlib.sha256(document).digest(), what):
            return None
        signatures = self.channel.sign(kind, document, step)
        return None if signatures is None else write_signed(document, signatures)

    def hear(self, envelope: Envelope) -> str:
        """Take another server's word; return why it is refused, or nothing."""
        if envelope.round != self.study.digest:
            return "not of this study"
        if envelope.receiver != self.study.everyone[self.config.index]:
            return "not for this server"
        if len(envelope.body) > _LONGEST:
            return "too long"
        return self.channel.receive(envelope)

    @property
    def entropy_log(self) -> tuple[bytes, ...]:
        """All that was drawn, to be saved."""
        return self._entropy.draws

    def replay(
        self, drawn: Iterable[bytes], words: Iterable[tuple[str, int, SignedMessage]]
    ) -> None:
        """Take up what was drawn and said before."""
        self._entropy.replay(drawn)
        self.channel.restore(words)

    def forget(self) -> None:
        """Destroy the study's key and forget every secret."""
        self.state_vault.destroy()
        self.secret, self._share, self._key = None, b"", None
        self._entropy.forget()
        self.channel.forget()


def _share_commitment(share: bytes) -> bytes:
    """Return what a server says of its share before it tells anybody."""
    return hashlib.sha256(pack(b"anonloom share announced 1", share)).digest()


def read_study(notice: bytes, pins: tuple[bytes, ...]) -> Study:
    """Read a study that all servers have signed.

    Raises
    ------
    TransportError
        When one of them has not, or it cannot be read.
    """
    try:
        document = unpack(notice, _MOST_PARTS)[0]
        head, encoded, *_ = unpack(document, _MOST_PARTS)
    except (ValueError, IndexError):
        raise TransportError("the study cannot be read") from None
    if head != _HEAD:
        raise TransportError("the study cannot be read")
    study = Study.decode(encoded)
    if len(pins) != study.servers or not read_signed(notice, "notice", study.digest, pins):
        raise TransportError("the study is not signed by all servers whose keys are known")
    return study


def binding_of(notice: bytes) -> bytes:
    """Return what signatures of a study are bound to."""
    return hashlib.sha256(unpack(notice)[0]).digest()
