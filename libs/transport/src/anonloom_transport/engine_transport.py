"""The contract of a transport that is made of engines."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence

from anonloom import Transport
from anonloom.kinds import Guarantees
from anonloom_transport.engines import ClientEngine, Clock, Entropy, Envelope, ServerEngine
from anonloom_transport.estimates import Estimate
from anonloom_transport.rounds import Round
from anonloom_transport.server_config import Identity, ServerConfig
from anonloom_transport.slots import SlotSecret


class EngineTransport(Transport):
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
        config: ServerConfig,
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

    def post_all(
        self, clients: Sequence[ClientEngine], messages: Sequence[bytes]
    ) -> Iterator[list[Envelope]]:
        """Let each client post its message; yield the envelopes of each."""
        return (client.post(message) for client, message in zip(clients, messages, strict=True))

    def deposit_all(
        self, clients: Sequence[ClientEngine], records: Iterable[tuple[SlotSecret, bytes]]
    ) -> Iterator[list[Envelope]]:
        """Let each client deposit its record; yield the envelopes of each."""
        return (
            client.deposit(secret, record)
            for client, (secret, record) in zip(clients, records, strict=True)
        )

    def spoil_all(
        self, clients: Sequence[ClientEngine], round: Round, entropy: Entropy
    ) -> Iterator[list[Envelope]]:
        """Let each client of a `post` do the worst that passes all checks; yield the envelopes.

        For experiments that ask what dishonest senders can destroy. Where nothing but a message
        of one's own can be spoiled, that is a message of random bytes.
        """
        return (client.post(entropy.bytes(round.message_size)) for client in clients)

    def corrupt_announcement(
        self, change: Callable[[tuple[bytes, ...]], tuple[bytes, ...]]
    ) -> Callable[[ServerEngine, ServerConfig], ServerEngine] | None:
        """Return what makes a server announce other keys than it drew, signed as its own.

        For the conformance kit: servers judge what each announces before anything is signed, and
        name the one whose keys nobody can use. None where servers announce no keys; for a
        `RoundTransport` the kit knows how.

        Parameters
        ----------
        change
            Makes the announced public keys out of those that the server drew.
        """
        return None
