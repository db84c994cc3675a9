"""Transport dpf: messages written into tables of which every server sees a share only."""

from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar, Literal, cast

import attrs

from anonloom import param
from anonloom.kinds import Guarantees
from anonloom.params import between
from anonloom_dpf.client import DpfClient, deposit_together, post_together, spoil_together
from anonloom_dpf.costs import costs
from anonloom_dpf.layout import Settings
from anonloom_dpf.promises import guarantees
from anonloom_dpf.server import DpfServer, wrong_announcement
from anonloom_transport import (
    ClientEngine,
    Entropy,
    Envelope,
    Estimate,
    Notice,
    Round,
    RoundState,
    RoundTransport,
    SlotSecret,
)


@attrs.frozen(kw_only=True)
class Dpf(RoundTransport):
    """Anonymous writing with distributed point functions, for two to four servers.

    A sender writes into tables that are shared among the servers: each sees a key that tells
    nothing, adds its evaluation to its share, and only the sum of all shares is ever read. Two
    servers use the tree of Boyle, Gilboa and Ishai with keys that grow with the logarithm of the
    table; three or four use their square-root construction. Any number of servers short of all
    may put together what they know.
    """

    name: ClassVar[str] = "dpf"
    distribution: ClassVar[str] = "anonloom-dpf"
    counts: ClassVar[bool] = True

    placement: Literal["peeling", "paper"] = param(
        default="peeling",
        help=(
            "How messages of a post find room: `peeling` writes each three times and untangles "
            "collisions, `paper` writes it once into a table so large that few collide."
        ),
    )
    slots_per_leaf: int = param(
        default=2,
        check=between(1, 64),
        help=(
            "Slots of a post's tables that one key may change: more are cheaper to evaluate and "
            "check, and give a dishonest sender more to spoil."
        ),
    )
    tolerated: float = param(
        default=0.02,
        check=between(0, 0.25),
        help=(
            "Share of senders that may be dishonest: a post's tables are larger by what they can "
            "spoil, and a round in which more uploads fail their check is stopped."
        ),
    )
    success_rate: float = param(
        default=0.905,
        check=between(0.5, 0.999),
        help="With `placement: paper`, the share of messages that shall not collide.",
    )

    @property
    def settings(self) -> Settings:
        """What shapes a round."""
        return Settings(self.placement, self.slots_per_leaf, self.tolerated, self.success_rate)

    def problem(self, round: Round) -> str | None:
        """Say why the transport cannot carry such a round, or None."""
        if not 2 <= round.servers <= 4:
            return (
                f"transport 'dpf' works with 2, 3 or 4 servers. Got {round.servers} instead. "
                "Transport 'mixnet' takes two or more."
            )
        if round.counted and round.servers > 2:
            return (
                "transport 'dpf' counts filled positions with 2 servers only. Got "
                f"{round.servers} instead: the round must not be counted, or go over 'mixnet'."
            )
        return super().problem(round)

    def judge_keys(self, round: Round, keys: tuple[bytes, ...]) -> str:
        """Say what is wrong with what a server announced beside its key for uploads, or nothing."""
        return wrong_announcement(round, keys)

    def make_client(self, notice: Notice, entropy: Entropy, invitation: bytes) -> DpfClient:
        """Return the engine of one sender."""
        return DpfClient(notice, entropy, invitation, settings=self.settings)

    def make_server(self, state: RoundState) -> DpfServer:
        """Return this transport's part of one server."""
        return DpfServer(state, settings=self.settings)

    def post_all(
        self, clients: Sequence[ClientEngine], messages: Sequence[bytes]
    ) -> Iterator[list[Envelope]]:
        """Let each client post its message; keys are made for many at once."""
        return post_together(cast(Sequence[DpfClient], clients), messages)

    def deposit_all(
        self, clients: Sequence[ClientEngine], records: Iterable[tuple[SlotSecret, bytes]]
    ) -> Iterator[list[Envelope]]:
        """Let each client deposit its record; keys are made for many at once."""
        return deposit_together(cast(Sequence[DpfClient], clients), records)

    def spoil_all(
        self, clients: Sequence[ClientEngine], round: Round, entropy: Entropy
    ) -> Iterator[list[Envelope]]:
        """Let each client write noise into a leaf of every table; see `Transport.spoil_all`."""
        return spoil_together(cast(Sequence[DpfClient], clients), entropy)

    def guarantees(self, round: Round) -> Guarantees:
        """Return what such a round promises."""
        return guarantees(round, self.settings)

    def estimate(self, round: Round) -> Estimate | None:
        """Return what such a round will cost; None for one that cannot be carried."""
        if self.problem(round) is not None:
            return None
        return costs(round, self.settings, self.software).estimate()
