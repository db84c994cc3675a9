"""Adversaries: servers that deviate between the rounds of a study, for the campaign in process.

Each function returns what `Campaign(..., corrupted={index: ...})` takes. An honest server does the
work; what it says is changed, and signed anew with its own identity: all that a server can do, and
nothing that only another one could. A server that computes something else is given another `Work`;
one that deviates within a round is made by `anonloom_testing.transport.adversaries`.
"""

from collections.abc import Callable, Iterable

import attrs

from anonloom_anonify.aggregator import Aggregator
from anonloom_anonify.hall import Corruption
from anonloom_testing.transport.adversaries import Change, flip
from anonloom_transport import SIGNATURE_BYTES, Conversation, Envelope, Vault

#: Returns what is sent instead of a word.
Outgoing = Callable[[Conversation, Envelope], Iterable[Envelope]]


@attrs.define(eq=False)
class _Changed(Conversation):
    """A conversation in which others hear something else than what was said."""

    outgoing: Outgoing = attrs.field(kw_only=True)

    def drain(self) -> list[Envelope]:
        return [sent for word in super().drain() for sent in self.outgoing(self, word)]


def saying(outgoing: Outgoing) -> Corruption:
    """Make a server whose words are changed on their way out."""

    def corrupt(server: Aggregator) -> Aggregator:
        honest = server.council.talk
        talk = _Changed(honest.round, honest.seat, outgoing=outgoing)
        for field in attrs.fields(Conversation):
            setattr(talk, field.name, getattr(honest, field.name))
        server.council.talk = server.history.talk = talk
        return server

    return corrupt


def _resigned(talk: Conversation, word: Envelope, said: bytes) -> Envelope:
    signature = talk.signer.sign(f"word {word.step}", talk.bound_of(word.step), said)
    return attrs.evolve(word, body=signature + said)


def lies(step: str, change: Change = flip, *, to: Iterable[int] | None = None) -> Corruption:
    """Make a server that says something else in a step, to all other servers or to some.

    Parameters
    ----------
    step
        The step as it travels: `classes`, `sign classes`, `coins 1 commit`, `release 2`.
    change
        Makes what is said out of what would be honest.
    to
        The servers that hear it; all if None.
    """
    hearing = None if to is None else frozenset(to)

    def outgoing(talk: Conversation, word: Envelope) -> tuple[Envelope, ...]:
        if word.step != step or (hearing is not None and word.receiver.index not in hearing):
            return (word,)
        return (_resigned(talk, word, change(word.body[SIGNATURE_BYTES:])),)

    return saying(outgoing)


def contradicts(step: str, change: Change = flip) -> Corruption:
    """Make a server that says two different things to everybody, one after the other."""

    def outgoing(talk: Conversation, word: Envelope) -> tuple[Envelope, ...]:
        if word.step != step:
            return (word,)
        return word, _resigned(talk, word, change(word.body[SIGNATURE_BYTES:]))

    return saying(outgoing)


def stalls(step: str) -> Corruption:
    """Make a server that never says its word of a step."""
    return saying(lambda talk, word: () if word.step == step else (word,))


def forges(step: str, change: Change = flip) -> Corruption:
    """Make a server whose words of a step are changed after they were signed."""
    return saying(
        lambda talk, word: (
            (attrs.evolve(word, body=change(word.body)),) if word.step == step else (word,)
        )
    )


def keeps_key(copies: Vault) -> Corruption:
    """Make a server that copies the key of its saved state before it is destroyed."""

    def corrupt(server: Aggregator) -> Aggregator:
        def outgoing(talk: Conversation, word: Envelope) -> tuple[Envelope, ...]:
            key = server.seat.vault.fetch(server.council.box.name)
            if key is not None:
                copies.keep(server.council.box.name, key)
            return (word,)

        return saying(outgoing)(server)

    return corrupt
