"""Transport mixnet: a cascade of all servers over one batch of sealed packets."""

from typing import ClassVar

import attrs

from anonloom import param
from anonloom.kinds import Guarantees
from anonloom.params import between
from anonloom_mixnet.client import MixnetClient
from anonloom_mixnet.costs import costs
from anonloom_mixnet.packets import wrong_keys
from anonloom_mixnet.promises import guarantees
from anonloom_mixnet.server import MixnetServer
from anonloom_mixnet.traps import MOST_TRAPS
from anonloom_transport import (
    Entropy,
    Estimate,
    Notice,
    Round,
    RoundState,
    RoundTransport,
)


@attrs.frozen(kw_only=True)
class Mixnet(RoundTransport):
    """Packets in layers, through all servers one after the other, each of which shuffles.

    What comes out is still sealed. All servers sign the list of it and senders look for theirs,
    before the first of the inner layers is opened.
    """

    name: ClassVar[str] = "mixnet"
    distribution: ClassVar[str] = "anonloom-mixnet"
    counts: ClassVar[bool] = True

    traps: int = param(
        default=16,
        check=between(0, MOST_TRAPS),
        help=(
            "Packets of its own making that every server sends along, to notice that later hops "
            "drop or replace packets; each costs as much as a sender's."
        ),
    )

    def problem(self, round: Round) -> str | None:
        """Say why the transport cannot carry such a round, or None."""
        if round.servers < 2:
            return "transport 'mixnet' needs at least 2 servers: one alone would see who sent what"
        return super().problem(round)

    def judge_keys(self, round: Round, keys: tuple[bytes, ...]) -> str:
        """Say what is wrong with the keys for layers that a server announced, or nothing."""
        return wrong_keys(round.suite, keys)

    def make_client(self, notice: Notice, entropy: Entropy, invitation: bytes) -> MixnetClient:
        """Return the engine of one sender."""
        return MixnetClient(notice, entropy, invitation)

    def make_server(self, state: RoundState) -> MixnetServer:
        """Return this transport's part of one server."""
        return MixnetServer(state, traps=self.traps)

    def guarantees(self, round: Round) -> Guarantees:
        """Return what such a round promises."""
        return guarantees(round, self.traps)

    def estimate(self, round: Round) -> Estimate | None:
        """Return what such a round will cost; None for one that cannot be carried."""
        if self.problem(round) is not None:
            return None
        return costs(round, self.traps, self.software).estimate()
