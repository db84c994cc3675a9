"""Transport: a base that makes engines over signed rounds."""

from abc import abstractmethod
from collections.abc import Sequence
from functools import lru_cache
from importlib.metadata import version
from typing import ClassVar

import attrs

from anonloom.kinds.engines import Clock, Entropy
from anonloom.kinds.rounds import Round
from anonloom.kinds.transport import Identity, Seat, Transport
from anonloom_rounds.client import RoundClient
from anonloom_rounds.notice import Notice, describe, read_notice
from anonloom_rounds.recording import Recorded
from anonloom_rounds.server import RoundServer
from anonloom_rounds.signing import new_identity


@attrs.frozen(kw_only=True)
class RoundTransport(Transport):
    """A transport whose engines derive from `RoundClient` and `RoundServer`."""

    #: The transport's name, and the distribution that it comes with.
    name: ClassVar[str]
    distribution: ClassVar[str]
    #: Whether its servers can count filled positions before anything is opened.
    counts: ClassVar[bool] = False

    @property
    def software(self) -> bytes:
        """What must be the same on all sides: transport, version and parameters."""
        fields = attrs.fields(type(self))
        parameters = [(field.name, getattr(self, field.name)) for field in fields]
        return describe(self.name, _version(self.distribution), parameters)

    @abstractmethod
    def make_client(self, notice: Notice, entropy: Entropy, invitation: bytes) -> RoundClient:
        """Return the engine of a sender in a round whose description was checked."""

    @abstractmethod
    def make_server(self, round: Round, seat: Seat, entropy: Recorded, clock: Clock) -> RoundServer:
        """Return the engine of a server that has not begun."""

    def problem(self, round: Round) -> str | None:
        """Say why the transport cannot carry such a round, or None."""
        if round.counted and not self.counts:
            return (
                f"transport '{self.name}' cannot count filled positions before they are opened: "
                "the round must not be counted"
            )
        return None

    def identity(self, entropy: Entropy) -> Identity:
        """Return a new long-term key for a server."""
        return new_identity(entropy)

    def client(
        self,
        notice: bytes,
        pins: Sequence[bytes],
        *,
        entropy: Entropy,
        clock: Clock,
        invitation: bytes = b"",
    ) -> RoundClient:
        """Return the engine of one sender; see `Transport.client`."""
        checked = read_notice(notice, tuple(pins), self.software)
        return self.make_client(checked, entropy, invitation)

    def server(
        self,
        round: Round,
        seat: Seat,
        *,
        entropy: Entropy,
        clock: Clock,
        saved: bytes | None = None,
    ) -> RoundServer:
        """Return the engine of one server; see `Transport.server`."""
        server = self.make_server(round, seat, Recorded(entropy), clock)
        if saved is not None:
            server.resume(saved)
        return server


@lru_cache
def _version(distribution: str) -> str:
    return version(distribution)
