"""Adversaries: servers that deviate and clients that send nonsense, for the in-process driver.

Each function returns what `Driver(..., corrupted={index: ...})` takes. An honest engine does the
work; around it what comes in and what goes out is changed, and signed anew with the server's own
identity: all that a server can do, and nothing that only another one could.
"""

import hashlib
from collections.abc import Callable, Iterable, Sequence

import attrs

from anonloom_transport import (
    OPENING,
    SIGNATURE_BYTES,
    Body,
    Channel,
    Corruption,
    Entropy,
    Envelope,
    Party,
    Round,
    RoundClient,
    RoundServer,
    ServerConfig,
    ServerEngine,
    SignedMessage,
    Signer,
    StateVault,
    Vault,
    When,
    always,
    pack,
    unpack,
    write_receipt,
    write_signed,
)

#: Returns what is said instead.
Change = Callable[[bytes], bytes]


def flip(said: bytes) -> bytes:
    """Change the last bit, or say something where nothing was said."""
    return said[:-1] + bytes([said[-1] ^ 1]) if said else b"x"


def share(of: float) -> When:
    """Concern a share of all uploads, the same ones whenever it is asked."""
    limit = int(of * 2**32)
    return lambda envelope: int.from_bytes(envelope.upload[:4], "big") < limit


class DeviatingServer(ServerEngine):
    """An honest engine in the hands of somebody who changes what comes and goes."""

    def __init__(self, honest: ServerEngine, config: ServerConfig) -> None:
        self.honest, self.config = honest, config
        self.refusals = honest.refusals
        self.signer = Signer(config.identity)

    def filter_incoming(self, envelope: Envelope) -> Envelope | list[Envelope]:
        """Return what the engine gets to see, or what is answered without it."""
        return envelope

    def filter_outgoing(self, envelope: Envelope) -> Iterable[Envelope]:
        """Return what is sent instead of what the engine sends."""
        return (envelope,)

    @property
    def binding(self) -> bytes:
        """What signatures are bound to once the round has begun."""
        notice = self.honest.notice
        return b"" if notice is None else hashlib.sha256(unpack(notice)[0]).digest()

    def replace_content(self, envelope: Envelope, said: bytes) -> Envelope:
        """Return a word with another content and this server's signature."""
        bound = envelope.round if envelope.step in OPENING else self.binding
        return attrs.evolve(
            envelope, body=self.signer.sign(f"word {envelope.step}", bound, said) + said
        )

    def _filter_all(self, envelopes: Iterable[Envelope]) -> list[Envelope]:
        return [changed for envelope in envelopes for changed in self.filter_outgoing(envelope)]

    # --- the contract ---------------------------------------------------------------------------

    @property
    def notice(self) -> bytes | None:
        """What the server hands out as the round's description."""
        return self.honest.notice

    @property
    def accepted_count(self) -> int:
        """What the honest engine says."""
        return self.honest.accepted_count

    @property
    def left_out(self) -> int:
        """What the honest engine says."""
        return self.honest.left_out

    @property
    def senders(self) -> frozenset[bytes]:
        """What the honest engine says."""
        return self.honest.senders

    @property
    def result(self) -> Sequence[bytes | None] | None:
        """What the honest engine says."""
        return self.honest.result

    @property
    def stop_reason(self) -> str:
        """What the honest engine says."""
        return self.honest.stop_reason

    def receive(self, envelope: Envelope) -> list[Envelope]:
        """Take what was sent, or not."""
        seen = self.filter_incoming(envelope)
        return seen if isinstance(seen, list) else self._filter_all(self.honest.receive(seen))

    def begin(self) -> list[Envelope]:
        """Begin."""
        return self._filter_all(self.honest.begin())

    def close(self) -> list[Envelope]:
        """Close."""
        return self._filter_all(self.honest.close())

    def settle(self) -> list[Envelope]:
        """Settle."""
        return self._filter_all(self.honest.settle())

    def count(self, groups: Sequence[Sequence[int]]) -> list[Envelope]:
        """Count."""
        return self._filter_all(self.honest.count(groups))

    @property
    def counts(self) -> tuple[int, ...] | None:
        """What the honest engine says."""
        return self.honest.counts

    def erase(self, positions: Iterable[int]) -> None:
        """Erase."""
        self.honest.erase(positions)

    def open(self) -> list[Envelope]:
        """Open."""
        return self._filter_all(self.honest.open())

    @property
    def missing_messages(self) -> list[tuple[int, str]]:
        """What the honest engine says."""
        return self.honest.missing_messages

    def abandon(self, reason: str) -> list[Envelope]:
        """Give up."""
        return self._filter_all(self.honest.abandon(reason))

    def resend(self) -> list[Envelope]:
        """Say everything again, changed as before."""
        return self._filter_all(self.honest.resend())

    def save(self) -> bytes:
        """Save the honest engine."""
        return self.honest.save()


# --- uploads that get lost ------------------------------------------------------------------------


def ignores(which: When = always) -> Corruption:
    """Make a server that does not take some uploads, and does not confirm them."""

    class IgnoringServer(DeviatingServer):
        def filter_incoming(self, envelope: Envelope) -> Envelope | list[Envelope]:
            return [] if envelope.step == "upload" and which(envelope) else envelope

    return IgnoringServer


def loses(which: When = always) -> Corruption:
    """Make a server that confirms some uploads and does not keep them."""

    class LosingServer(DeviatingServer):
        def filter_incoming(self, envelope: Envelope) -> Envelope | list[Envelope]:
            if envelope.step != "upload" or not which(envelope):
                return envelope
            body = Body.read(envelope.body, len(self.config.pins))
            receipt = write_receipt(self.signer, self.binding, envelope.upload, body.fingerprint)
            own, sender = envelope.receiver, envelope.sender
            return [
                attrs.evolve(envelope, sender=own, receiver=sender, step="receipt", body=receipt)
            ]

    return LosingServer


# --- words that are changed -----------------------------------------------------------------------


def lies(step: str, change: Change = flip, *, to: Iterable[int] | None = None) -> Corruption:
    """Make a server that says something else in a step, to all other servers or to some.

    Parameters
    ----------
    step
        The step as it travels; what is committed to first has a step that ends with ' commit'.
    change
        Makes what is said out of what would be honest.
    to
        The servers that hear it; all if None.
    """
    hearing = None if to is None else frozenset(to)

    class LyingServer(DeviatingServer):
        def filter_outgoing(self, envelope: Envelope) -> Iterable[Envelope]:
            receiver = envelope.receiver
            concerned = receiver.role == "server" and envelope.step == step
            if not concerned or (hearing is not None and receiver.index not in hearing):
                return (envelope,)
            return (self.replace_content(envelope, change(envelope.body[SIGNATURE_BYTES:])),)

    return LyingServer


def misannounces(change: Callable[[tuple[bytes, ...]], tuple[bytes, ...]]) -> Corruption:
    """Make a server that announces other keys to everybody, and signs what follows from them.

    Parameters
    ----------
    change
        Makes what is announced out of the key for uploads and the transport's own keys.
    """

    class MisannouncingServer(DeviatingServer):
        def begin(self) -> list[Envelope]:
            envelopes = super().begin()
            if isinstance(self.honest, RoundServer) and envelopes:
                # It believes in its keys itself: otherwise its signature would give it away.
                own = SignedMessage(
                    envelopes[0].body[SIGNATURE_BYTES:], envelopes[0].body[:SIGNATURE_BYTES]
                )
                self.honest.channel.messages.put("key", self.config.index, own)
                self.honest.state.judge_keys = lambda round, keys: ""
            return envelopes

        def filter_outgoing(self, envelope: Envelope) -> Iterable[Envelope]:
            if envelope.step != "key":
                return (envelope,)
            software, *keys = unpack(envelope.body[SIGNATURE_BYTES:])
            return (self.replace_content(envelope, pack(software, *change(tuple(keys)))),)

    return MisannouncingServer


def substitutes(step: str, change: Change = flip) -> Corruption:
    """Make a server that tells everybody the same wrong thing in a step."""
    return lies(step, change)


def equivocates(step: str, change: Change = flip, *, to: Iterable[int]) -> Corruption:
    """Make a server that says one thing in a step to some servers, and another to the rest."""
    return lies(step, change, to=to)


def miscomputes(name: str, change: Change = flip) -> Corruption:
    """Make a server that commits to a wrong value and shows it: a lie without a contradiction.

    Parameters
    ----------
    name
        What all show at once: the name given to `Channel.exchange`.
    """

    @attrs.define(eq=False)
    class MiscomputingChannel(Channel):
        def exchange(
            self, name_: str, value: Callable[[], bytes], subject: bytes
        ) -> tuple[bytes, ...] | None:
            wrong = (lambda: change(value())) if name_ == name else value
            return super().exchange(name_, wrong, subject)

    def corrupt(server: ServerEngine, config: ServerConfig) -> ServerEngine:
        assert isinstance(server, RoundServer)
        channel = MiscomputingChannel(server.round, config)
        for field in attrs.fields(Channel):
            setattr(channel, field.name, getattr(server.channel, field.name))
        server.state.channel = channel
        return server

    return corrupt


def contradicts(step: str, change: Change = flip) -> Corruption:
    """Make a server that says two different things to everybody, one after the other."""

    class ContradictingServer(DeviatingServer):
        def filter_outgoing(self, envelope: Envelope) -> Iterable[Envelope]:
            if envelope.receiver.role != "server" or envelope.step != step:
                return (envelope,)
            return (
                envelope,
                self.replace_content(envelope, change(envelope.body[SIGNATURE_BYTES:])),
            )

    return ContradictingServer


def stalls(step: str) -> Corruption:
    """Make a server that never says its word of a step; of `receipt`, that confirms nothing."""

    class StallingServer(DeviatingServer):
        def filter_outgoing(self, envelope: Envelope) -> Iterable[Envelope]:
            return () if envelope.step == step else (envelope,)

    return StallingServer


# --- what clients are shown -----------------------------------------------------------------------


def misdescribes(change: Callable[[Round], Round]) -> Corruption:
    """Make a server that shows clients another round description.

    It signs it itself and puts the signatures of the others, which are for another one, beside it.
    """

    class MisdescribingServer(DeviatingServer):
        @property
        def notice(self) -> bytes | None:
            if self.honest.notice is None:
                return None
            document, *signatures = unpack(self.honest.notice)
            head, described, *rest = unpack(document)
            other = change(Round.decode(described))
            changed = pack(head, other.encode(), *rest)
            signatures[self.config.index] = self.signer.sign("notice", other.digest, changed)
            return write_signed(changed, signatures)

    return MisdescribingServer


def shows_lists(change: Change, step: str = "accepted") -> Corruption:
    """Make a server that shows clients another list, signed by itself alone."""

    class MislistingServer(DeviatingServer):
        def filter_outgoing(self, envelope: Envelope) -> Iterable[Envelope]:
            if envelope.receiver.role != "client" or envelope.step != step:
                return (envelope,)
            document, *signatures = unpack(envelope.body)
            changed = change(document)
            signatures[self.config.index] = self.signer.sign(step, self.binding, changed)
            return (attrs.evolve(envelope, body=write_signed(changed, signatures)),)

    return MislistingServer


# --- keys that are kept ---------------------------------------------------------------------------


def keeps_key(copies: Vault) -> Corruption:
    """Make a server that copies the key of its saved state before it is destroyed."""

    class KeyKeepingServer(DeviatingServer):
        def begin(self) -> list[Envelope]:
            sent = super().begin()
            assert isinstance(self.honest, RoundServer)
            box = StateVault(self.honest.round, self.config.index, self.config.vault)
            key = self.config.vault.fetch(box.name)
            if key is not None:
                copies.keep(box.name, key)
            return sent

    return KeyKeepingServer


# --- clients --------------------------------------------------------------------------------------


def nonsense(client: RoundClient, size: int, entropy: Entropy) -> list[Envelope]:
    """Let a client seal random bytes of the right size: well wrapped, and wrong inside."""
    return client.send(b"nonsense", [entropy.bytes(size) for _ in client.notice.pins])


def garbage(round: Round, entropy: Entropy, steps: Iterable[str], sender: Party) -> list[Envelope]:
    """Return envelopes to all servers that nobody wrote: random bytes under known words."""
    return [
        Envelope(
            sender=sender,
            receiver=receiver,
            step=step,
            round=round.digest,
            upload=entropy.bytes(16),
            body=entropy.bytes(size),
        )
        for step in steps
        for receiver in round.everyone
        for size in (0, 64, 200)
    ]
