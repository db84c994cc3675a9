"""Channel: one server's side of what the servers of a round say to each other."""

import hashlib
import hmac
from collections.abc import Callable, Iterable

import attrs

from anonloom_transport.codec import pack
from anonloom_transport.engines import Envelope
from anonloom_transport.messages import MessageLog, SignedMessage
from anonloom_transport.rounds import Party
from anonloom_transport.server_config import ServerConfig
from anonloom_transport.server_group import ServerGroup
from anonloom_transport.signing import (
    SIGNATURE_BYTES,
    Signer,
    verify_hash_signature,
    verify_signature,
)

_NONCE = 32
_HASH = 32

#: Bytes of what a server tells of another's word: its hash, and the signature under it.
TOLD_BYTES = _HASH + SIGNATURE_BYTES

#: How the step ends in which servers commit to what they show in the next.
COMMIT = " commit"

#: A server says this when it gives up.
STOP = "stop"

#: Steps that may come before the round has a description; all others are bound to it.
OPENING = ("key", "sign notice", STOP)

_REASON = 300


def readable(said: bytes) -> str:
    """Return what another server said as one short line: it ends up in messages and logs."""
    text = said[:_REASON].decode(errors="replace")
    return "".join(character if character.isprintable() else "?" for character in text)


@attrs.frozen
class Contradiction:
    """Two different words of one server in one step, each with its signature: anybody can check."""

    step: str
    server: int
    one: SignedMessage
    other: SignedMessage


@attrs.define(eq=False)
class Channel:
    """Says words, hears words, and notices who says two different things.

    Attributes
    ----------
    binding
        What words are bound to: the hash of the round description, once there is one.
    stop_reason
        Why the round cannot go on.
    evidence
        What shows that a server has lied, to whoever asks.
    outbox
        Envelopes that wait to be carried.
    """

    round: ServerGroup
    config: ServerConfig
    binding: bytes = b""
    stop_reason: str = ""
    evidence: list[Contradiction] = attrs.field(factory=list, init=False, repr=False)
    outbox: list[Envelope] = attrs.field(factory=list, init=False, repr=False)
    messages: MessageLog = attrs.field(init=False, repr=False)
    signer: Signer = attrs.field(init=False, repr=False)
    _to: dict[str, int] = attrs.field(factory=dict, init=False, repr=False)
    _secret: bytes = attrs.field(default=b"", init=False, repr=False)
    _values: dict[str, bytes] = attrs.field(factory=dict, init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        self.messages = MessageLog(self.round.servers)
        self.signer = Signer(self.config.identity)

    @property
    def _self(self) -> Party:
        return self.round.everyone[self.config.index]

    # --- saying ---------------------------------------------------------------------------------

    def address(self, step: str, to: int) -> None:
        """Say the word of a step to one server only, also when it is said again."""
        self._to[step] = to

    def send(self, step: str, body: bytes) -> None:
        """Say a word, once, to all other servers or to the one to whom it is addressed."""
        if self.has_sent(step):
            return
        word = SignedMessage(body, self.signer.sign(f"word {step}", self.binding_of(step), body))
        self.messages.add(step, self.config.index, word)
        self._post(step, word)

    def _post(self, step: str, word: SignedMessage) -> None:
        to = self._to.get(step)
        for server in self.round.everyone:
            if server != self._self and to in (None, server.index):
                self.outbox.append(
                    Envelope(
                        sender=self._self,
                        receiver=server,
                        step=step,
                        round=self.round.digest,
                        body=word.signature + word.body,
                    )
                )

    def has_sent(self, step: str) -> bool:
        """Whether this server has said its word of a step."""
        return self.messages.of(step, self.config.index) is not None

    def resend(self) -> None:
        """Say everything again, for those who missed it."""
        for step, word in self.messages.steps(self.config.index):
            self._post(step, word)

    def drain(self) -> list[Envelope]:
        """Return what waits to be carried."""
        waiting, self.outbox = self.outbox, []
        return waiting

    def stop(self, reason: str) -> None:
        """Give up, and tell the others why."""
        if not self.stop_reason:
            self.stop_reason = reason
            self.send(STOP, reason.encode()[:_REASON])

    # --- hearing --------------------------------------------------------------------------------

    def receive(self, envelope: Envelope) -> str:
        """Take a word of another server; return why it is refused, or nothing."""
        sender, step = envelope.sender, envelope.step
        if sender not in self.round.everyone or sender == self._self:
            return "not from another server"
        if step not in OPENING and not self.binding:
            return "before the round has begun"
        word = SignedMessage(envelope.body[SIGNATURE_BYTES:], envelope.body[:SIGNATURE_BYTES])
        if not self.genuine(step, sender.index, word):
            return "not signed by its sender"
        if not self.messages.add(step, sender.index, word):
            before = self.messages.of(step, sender.index)
            assert before is not None
            self._keep(Contradiction(step, sender.index, before, word))
            self.stop(f"{sender} said two different things")
            return "another word of the same server"
        self._check_stop(sender.index)
        return ""

    def _keep(self, found: Contradiction) -> None:
        """Keep one proof per server and step: whoever goes on lying must not fill the memory."""
        kept = {(proof.step, proof.server) for proof in self.evidence}
        if (found.step, found.server) not in kept:
            self.evidence.append(found)

    def genuine(self, step: str, server: int, word: SignedMessage) -> bool:
        """Whether a server has signed a word of a step."""
        pin, bound = self.config.pins[server], self.binding_of(step)
        return verify_hash_signature(pin, word.signature, f"word {step}", bound, word.digest)

    def _check_stop(self, server: int) -> None:
        """Stop when a server has said that the round stops."""
        word = self.of(STOP, server)
        if word is not None and not self.stop_reason:
            reason = readable(word)
            own = server == self.config.index
            self.stop_reason = reason if own else f"server {server} stopped the round: {reason}"

    def restore(self, entries: Iterable[tuple[str, int, SignedMessage]]) -> None:
        """Take up a conversation again with all words that were said before."""
        for step, server, word in entries:
            self.messages.add(step, server, word)
        for server in (self.config.index, *range(self.round.servers)):
            self._check_stop(server)

    def all(self, step: str) -> tuple[bytes, ...] | None:
        """Return what all servers said in a step; None as long as one is missing."""
        return self.messages.all(step)

    @property
    def missing_messages(self) -> list[tuple[int, str]]:
        """Which servers have not said their word of the last step, and which step that is."""
        messages = [
            step for step, _ in self.messages.steps(self.config.index) if step not in self._to
        ]
        if not messages or self.stop_reason:
            return []
        missing = (
            index
            for index in range(self.round.servers)
            if self.messages.of(messages[-1], index) is None
        )
        return [(server, messages[-1]) for server in missing]

    def of(self, step: str, server: int) -> bytes | None:
        """Return what one server said in a step, or None."""
        word = self.messages.of(step, server)
        return None if word is None else word.body

    def binding_of(self, step: str) -> bytes:
        """Return what the word of a step is bound to."""
        return self.round.digest if step in OPENING else self.binding

    # --- all sign the same ----------------------------------------------------------------------

    def sign(
        self, kind: str, document: bytes, given: str, bound: bytes = b""
    ) -> list[bytes] | None:
        """Have all servers sign a document that follows from their words of a step.

        With its signature each server shows what it heard from whom. So a server that told
        different servers different things is named, and so is one that signs something else than
        what follows from the words.

        Parameters
        ----------
        bound
            What the signatures are bound to, where it is not the round description.

        Returns
        -------
        list or None
            The signatures, when all are there.
        """
        bound = bound or self.binding
        own = self.signer.sign(kind, bound, document)
        self.send(f"sign {kind}", own + self._heard_proofs(given))
        words = self.all(f"sign {kind}")
        if words is None:
            return None
        for server, word in enumerate(words):
            self._compare(server, word[SIGNATURE_BYTES:], given)
            if not self.stop_reason and not verify_signature(
                self.config.pins[server], word[:SIGNATURE_BYTES], kind, bound, document
            ):
                self.stop(f"server {server} signs something else than what all words give: {kind}")
        return None if self.stop_reason else [word[:SIGNATURE_BYTES] for word in words]

    def proof(self, step: str, server: int) -> bytes:
        """Return the proof of what a server has said to this one in a step."""
        word = self.messages.of(step, server)
        return b"" if word is None else word.digest + word.signature

    def contradicts(self, step: str, server: int, proof: bytes) -> bool:
        """Whether a server said something else to whoever has this proof than to this one."""
        word, digest, signature = self.messages.of(step, server), proof[:_HASH], proof[_HASH:]
        if word is None or word.digest == digest:
            return False
        pin, bound = self.config.pins[server], self.binding_of(step)
        return verify_hash_signature(pin, signature, f"word {step}", bound, digest)

    def _heard_proofs(self, step: str) -> bytes:
        """Write what every server said in a step, each with the proof that it said it."""
        return b"".join(digest + proof for digest, proof in self.messages.proofs(step))

    def _compare(self, server: int, told: bytes, step: str) -> None:
        """Stop when a server was told something else in a step than this one."""
        for other, (digest, _) in enumerate(self.messages.proofs(step)):
            piece = told[other * TOLD_BYTES : (other + 1) * TOLD_BYTES]
            if piece[:_HASH] == digest:
                continue
            if self.contradicts(step, other, piece):
                self.stop(f"server {other} said two different things")
            else:
                self.stop(f"server {server} accuses server {other} of what it did not say")

    # --- all show at once -----------------------------------------------------------------------

    def prepare(self, secret: bytes) -> None:
        """Set what nonces and coins are derived from."""
        self._secret = secret

    def derive(self, name: str) -> bytes:
        """Return 32 bytes that only this server can know before it shows them."""
        return hmac.digest(self._secret, name.encode(), "sha256")

    def exchange(
        self, name: str, value: Callable[[], bytes], subject: bytes
    ) -> tuple[bytes, ...] | None:
        """Show a value to the others when all have committed to theirs, so that none can adapt.

        With its value each server shows the commitments that it heard: whoever committed to
        different values before different servers is named.

        Parameters
        ----------
        value
            Computes this server's value; asked once.
        subject
            What the values are about; commitments are bound to it.

        Returns
        -------
        tuple or None
            The values of all, when all have shown them.
        """
        if not self.has_sent(name):
            if name not in self._values:
                self._values[name] = value()
            nonce = self.derive(f"nonce {name} {subject.hex()}")
            own = self._values[name]
            self.send(name + COMMIT, self._commitment(name, subject, self.config.index, nonce, own))
            if self.all(name + COMMIT) is None:
                return None
            self.send(name, nonce + self._heard_proofs(name + COMMIT) + own)
            del self._values[name]
        return self.exchange_result(name, subject)

    def exchange_result(self, name: str, subject: bytes) -> tuple[bytes, ...] | None:
        """Return what all have shown, if each showed what it had committed to."""
        commitments, words = self.all(name + COMMIT), self.all(name)
        if commitments is None or words is None:
            return None
        start = _NONCE + len(words) * TOLD_BYTES
        for server, (commitment, word) in enumerate(zip(commitments, words, strict=True)):
            nonce, value = word[:_NONCE], word[start:]
            self._compare(server, word[_NONCE:start], name + COMMIT)
            if self.stop_reason:
                return None
            expected = self._commitment(name, subject, server, nonce, value)
            if not hmac.compare_digest(expected, commitment):
                self.stop(f"server {server} shows something else than it committed to: {name}")
                return None
        return tuple(word[start:] for word in words)

    def _commitment(
        self, name: str, subject: bytes, server: int, nonce: bytes, value: bytes
    ) -> bytes:
        digest = hashlib.sha256(value).digest()
        parts = (name.encode(), self.binding, subject, server.to_bytes(4, "big"), nonce, digest)
        return hashlib.sha256(pack(b"anonloom commitment 1", *parts)).digest()

    # --- the end --------------------------------------------------------------------------------

    def forget(self) -> None:
        """Forget all secrets. Words are none: they have travelled."""
        self._secret = b""
        self._values.clear()
