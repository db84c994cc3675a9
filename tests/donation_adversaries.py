"""Adversaries: servers that deviate between the rounds of a study, for the campaign in process.

Each function returns what `Campaign(..., corrupted={index: ...})` takes. An honest server does the
work; what it says is changed, and signed anew with its own identity: all that a server can do, and
nothing that only another one could. A server that computes something else is given another `Work`;
one that deviates within a round is made by `anonloom_testing.transport.adversaries`.
"""

from collections.abc import Callable, Iterable

import attrs

from anonloom_anonify.aggregator import Aggregator
from anonloom_anonify.study_servers import Corruption
from anonloom_testing.transport.adversaries import Change, flip
from anonloom_transport import SIGNATURE_BYTES, Channel, Envelope, Vault

#: Returns what is sent instead of a word.
Outgoing = Callable[[Channel, Envelope], Iterable[Envelope]]


@attrs.define(eq=False)
class _TamperedChannel(Channel):
    """A conversation in which others hear something else than what was said."""

    outgoing: Outgoing = attrs.field(kw_only=True)

    def drain(self) -> list[Envelope]:
        return [sent for word in super().drain() for sent in self.outgoing(self, word)]


def tamper(outgoing: Outgoing) -> Corruption:
    """Make a server whose words are changed on their way out."""

    def corrupt(server: Aggregator) -> Aggregator:
        honest = server.agreement.channel
        channel = _TamperedChannel(honest.round, honest.config, outgoing=outgoing)
        for field in attrs.fields(Channel):
            setattr(channel, field.name, getattr(honest, field.name))
        server.agreement.channel = server.round_log.channel = channel
        return server

    return corrupt


def _sign_again(channel: Channel, word: Envelope, said: bytes) -> Envelope:
    signature = channel.signer.sign(f"word {word.step}", channel.binding_of(word.step), said)
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

    def rewrite(channel: Channel, word: Envelope) -> tuple[Envelope, ...]:
        if word.step != step or (hearing is not None and word.receiver.index not in hearing):
            return (word,)
        return (_sign_again(channel, word, change(word.body[SIGNATURE_BYTES:])),)

    return tamper(rewrite)


def contradicts(step: str, change: Change = flip) -> Corruption:
    """Make a server that says two different things to everybody, one after the other."""

    def rewrite(channel: Channel, word: Envelope) -> tuple[Envelope, ...]:
        if word.step != step:
            return (word,)
        return word, _sign_again(channel, word, change(word.body[SIGNATURE_BYTES:]))

    return tamper(rewrite)


def stalls(step: str) -> Corruption:
    """Make a server that never says its word of a step."""
    return tamper(lambda channel, word: () if word.step == step else (word,))


def forges(step: str, change: Change = flip) -> Corruption:
    """Make a server whose words of a step are changed after they were signed."""
    return tamper(
        lambda channel, word: (
            (attrs.evolve(word, body=change(word.body)),) if word.step == step else (word,)
        )
    )


def keeps_key(copies: Vault) -> Corruption:
    """Make a server that copies the key of its saved state before it is destroyed."""

    def corrupt(server: Aggregator) -> Aggregator:
        def rewrite(channel: Channel, word: Envelope) -> tuple[Envelope, ...]:
            key = server.config.vault.fetch(server.agreement.state_vault.name)
            if key is not None:
                copies.keep(server.agreement.state_vault.name, key)
            return (word,)

        return tamper(rewrite)(server)

    return corrupt
