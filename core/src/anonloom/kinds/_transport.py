"""Transport: how messages of many senders reach the servers, and what that hides."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal

import attrs

from anonloom._representation import short_repr
from anonloom.kinds._engines import ClientEngine, Clock, Entropy, Envelope, ServerEngine, Vault
from anonloom.kinds._estimates import Estimate
from anonloom.kinds._rounds import Erasure, Round
from anonloom.kinds._slots import SlotKey, SlotSecret


def _stated(words: str, default: Any = attrs.NOTHING, **more: Any) -> Any:
    """Declare a guarantee with the words that tell its value in a sentence."""
    return attrs.field(default=default, metadata={"words": words}, **more)


@short_repr
@attrs.frozen(kw_only=True)
class Guarantees:
    """What a transport promises, field by field, so that a swap can be told honestly.

    Attributes
    ----------
    honest_senders_min
        Among how many honest senders a message hides at least; 1 means that it does not hide.
    colluding_servers
        How many servers may put together all that they know without ending that.
    server_behaviour
        What the servers must do for it: they follow the protocol, or a server that does not is
        detected before anything is opened, detected after it, or detected and named.
    donors
        What the senders must do for delivery: all are honest, dishonest ones are contained up to a
        share, or detected.
    eligibility
        How often one person can send.
    presence_visible_to, presence_visible_when
        Who sees that a person took part, and from when on.
    presence_of_erased_visible
        Whether servers see which positions were filled, erased ones too, before `open`.
    exclusion
        Whether a server can leave a sender out unnoticed, or only so that it can be named.
    erasure_condition
        What must be true for an erased record to stay unknown.
    post_quantum
        Whether every layer that hides something withstands a quantum computer. Signatures hide
        nothing: they only have to hold as long as the round lasts.
    delivery
        Which messages arrive.
    lost_server
        What happens when a server is lost.
    measured_or_argued
        What stands behind these statements.
    not_covered
        What nobody should expect.
    """

    honest_senders_min: int = _stated("honest senders among whom a message hides: at least {}")
    colluding_servers: int = _stated("servers that may collude: {}")
    server_behaviour: Literal[
        "follows", "detected before open", "detected after open", "attributed"
    ] = _stated("a server that deviates: {}")
    donors: str = _stated("senders: {}")
    eligibility: str = _stated("eligibility: {}")
    presence_visible_to: str = _stated("taking part is visible to {}")
    presence_visible_when: str = _stated("taking part is visible {}")
    presence_of_erased_visible: bool = _stated(
        "servers see before opening which positions were filled: {}"
    )
    exclusion: Literal["possible", "attributable"] = _stated("leaving a sender out is {}")
    erasure_condition: str = _stated("an erased record stays unknown if {}")
    post_quantum: bool = _stated("what is hidden withstands a quantum computer: {}")
    delivery: str = _stated("delivery: {}")
    lost_server: str = _stated("when a server is lost, {}")
    measured_or_argued: str = _stated("evidence: {}")
    not_covered: tuple[str, ...] = _stated("not covered: {}", default=(), converter=tuple)

    def as_dict(self) -> dict[str, Any]:
        """Return the fields as the manifest holds them."""
        return {**attrs.asdict(self), "not_covered": list(self.not_covered)}

    def sentences(self) -> tuple[str, ...]:
        """Return every guarantee in words, in order."""
        return tuple(_told(field, getattr(self, field.name)) for field in attrs.fields(type(self)))


def _told(field: "attrs.Attribute[Any]", value: Any) -> str:
    return str(field.metadata["words"]).format(_written(value))


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return _listed(value) if value and isinstance(value, tuple) else str(value or "nothing")


def _listed(items: Sequence[str]) -> str:
    """Number what is listed: each item is a phrase with commas of its own."""
    if len(items) == 1:
        return items[0]
    return ", ".join(f"({number}) {item}" for number, item in enumerate(items, start=1))


def swap_sentence(name: str, before: Guarantees, other: str, after: Guarantees) -> str:
    """Say what changes when one transport takes the place of another.

    The sentence names every declared difference and claims nothing beyond: that two transports
    declare the same does not make them equally anonymous.

    Parameters
    ----------
    name, other
        Names of the transport that was used and of the one that takes its place.
    """
    changed = [
        f"{_told(field, getattr(after, field.name))} "
        f"(with {name}: {_written(getattr(before, field.name))})"
        for field in attrs.fields(Guarantees)
        if field.name != "not_covered" and getattr(before, field.name) != getattr(after, field.name)
    ]
    # Long lists: only what one of them names and the other does not.
    for words, these, those in (
        (f"not covered, and not named by {name}", after, before),
        (f"not covered by {name}, and not named here", before, after),
    ):
        alone = [item for item in these.not_covered if item not in those.not_covered]
        if alone:
            changed.append(f"{words}: {_listed(alone)}")
    if not changed:
        return f"With {other} instead of {name}, no declared guarantee changes."
    return f"With {other} instead of {name}: {'; '.join(changed)}."


@attrs.frozen
class Identity:
    """A server's long-term key: with it it signs, by it clients and other servers know it."""

    secret: bytes = attrs.field(repr=False)
    public: bytes


@attrs.frozen(kw_only=True)
class Seat:
    """What one server brings into a round.

    Attributes
    ----------
    index
        Which of the servers it is.
    identity
        Its own long-term key.
    pins
        The public keys of all servers, known from outside the round.
    vault
        Where the key of its saved state lies.
    slot_keys
        Of a deposit, what the reservation told of each position, in order of position.
    erasure
        Of a deposit, what will be erased, if the round plans that.
    invited
        Who may send, by the public halves of invitations: those who were there before. None for
        everybody who has one.
    """

    index: int
    identity: Identity = attrs.field(repr=False)
    pins: tuple[bytes, ...] = attrs.field(repr=False)
    vault: Vault = attrs.field(repr=False)
    slot_keys: tuple[SlotKey, ...] = attrs.field(default=(), repr=False)
    erasure: Erasure | None = attrs.field(default=None, repr=False)
    invited: frozenset[bytes] | None = attrs.field(default=None, repr=False)


class Transport(ABC):
    """Makes the engines of one round.

    Promise: every honest acknowledged message arrives exactly once, whatever the network drops,
    repeats, delays, reorders or corrupts; what the transport hides is what `guarantees` says.
    """

    @abstractmethod
    def identity(self, entropy: Entropy) -> Identity:
        """Return a new long-term key for a server."""

    @abstractmethod
    def client(
        self,
        notice: bytes,
        pins: Sequence[bytes],
        *,
        entropy: Entropy,
        clock: Clock,
        invitation: bytes = b"",
    ) -> ClientEngine:
        """Return the engine of one sender.

        Parameters
        ----------
        notice
            The round's description as some server handed it out.
        pins
            The servers' public keys, known from outside the round.
        invitation
            What entitles to send, in a round that asks for it.

        Raises
        ------
        TransportError
            When the description is not signed by all servers.
        """

    @abstractmethod
    def server(
        self,
        round: Round,
        seat: Seat,
        *,
        entropy: Entropy,
        clock: Clock,
        saved: bytes | None = None,
    ) -> ServerEngine:
        """Return the engine of one server, a new one or one that goes on from what was saved.

        Raises
        ------
        TransportError
            When what was saved cannot be read any more.
        """

    @abstractmethod
    def guarantees(self, round: Round) -> Guarantees:
        """Return what such a round promises."""

    def problem(self, round: Round) -> str | None:
        """Say why the transport cannot carry such a round, or None; asked before any engine is."""
        return None

    def estimate(self, round: Round) -> Estimate | None:
        """Return what such a round will cost when it is full, or None if that cannot be said.

        Asked before a round begins, of a plan whose slots may be made up; the first time it may
        take a second, because it tries how fast this machine is (see `estimates.Operation`).
        """
        return None

    # Many senders in one process: a transport may do for all at once what is slow one by one.

    def posting(
        self, clients: Sequence[ClientEngine], messages: Sequence[bytes]
    ) -> Iterator[list[Envelope]]:
        """Let each client post its message; yield the envelopes of each."""
        return (client.post(message) for client, message in zip(clients, messages, strict=True))

    def depositing(
        self, clients: Sequence[ClientEngine], records: Iterable[tuple[SlotSecret, bytes]]
    ) -> Iterator[list[Envelope]]:
        """Let each client deposit its record; yield the envelopes of each."""
        return (
            client.deposit(secret, record)
            for client, (secret, record) in zip(clients, records, strict=True)
        )

    def spoiling(
        self, clients: Sequence[ClientEngine], round: Round, entropy: Entropy
    ) -> Iterator[list[Envelope]]:
        """Let each client of a `post` do the worst that passes all checks; yield the envelopes.

        For experiments that ask what dishonest senders can destroy. Where nothing but a message
        of one's own can be spoiled, that is a message of random bytes.
        """
        return (client.post(entropy.bytes(round.message_size)) for client in clients)

    def misannouncing(
        self, change: Callable[[tuple[bytes, ...]], tuple[bytes, ...]]
    ) -> Callable[[ServerEngine, Seat], ServerEngine] | None:
        """Return what makes a server announce other keys than it drew, signed as its own.

        For the conformance kit: servers judge what each announces before anything is signed, and
        name the one whose keys nobody can use. None where servers announce no keys.

        Parameters
        ----------
        change
            Makes the announced public keys out of those that the server drew.
        """
        return None
