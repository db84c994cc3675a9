"""Transport: a base that makes engines over signed rounds."""

from abc import abstractmethod
from collections.abc import Sequence
from functools import lru_cache
from importlib.metadata import version
from typing import ClassVar

import attrs

from anonloom_transport.begin_phase import no_keys
from anonloom_transport.client import RoundClient
from anonloom_transport.engine_transport import EngineTransport
from anonloom_transport.engines import Clock, Entropy
from anonloom_transport.notice import Notice, describe, read_notice
from anonloom_transport.recorded_entropy import RecordedEntropy
from anonloom_transport.rounds import Round
from anonloom_transport.server import RoundServer
from anonloom_transport.server_config import Identity, ServerConfig
from anonloom_transport.signing import new_identity
from anonloom_transport.state import RoundState
from anonloom_transport.strategy import ServerStrategy


@attrs.frozen(kw_only=True)
class RoundTransport(EngineTransport):
    """A transport whose clients derive from `RoundClient`, and whose servers are `RoundServer`s."""

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
    def make_server(self, state: RoundState) -> ServerStrategy:
        """Return the transport's part of a server that has not begun."""

    def judge_keys(self, round: Round, keys: tuple[bytes, ...]) -> str:
        """Say what is wrong with a server's own keys of a round, or nothing.

        Asked of what each server announced beyond the key that uploads are sealed with: by all
        servers before they sign it, and by every client. It comes from another party: any number,
        any length, any bytes. What would make a client or server fail later has to be refused
        here, where its server is named. A transport whose servers draw no keys has none.
        """
        return no_keys(round, keys)

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
        """Return the engine of one sender; see `EngineTransport.client`."""
        checked = read_notice(notice, tuple(pins), self.software, self.judge_keys)
        return self.make_client(checked, entropy, invitation)

    def server(
        self,
        round: Round,
        config: ServerConfig,
        *,
        entropy: Entropy,
        clock: Clock,
        saved: bytes | None = None,
    ) -> RoundServer:
        """Return the engine of one server; see `EngineTransport.server`."""
        state = RoundState(
            round, config, self.software, RecordedEntropy(entropy), clock, self.judge_keys
        )
        server = RoundServer(state, self.make_server(state))
        if saved is not None:
            server.resume(saved)
        return server


@lru_cache
def _version(distribution: str) -> str:
    return version(distribution)
