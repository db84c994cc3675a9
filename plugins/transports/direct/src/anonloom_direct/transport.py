"""Transport direct: the honest baseline that hides nothing and says so."""

from typing import ClassVar

import attrs

from anonloom.kinds import Guarantees
from anonloom_direct.client import DirectClient
from anonloom_direct.costs import costs
from anonloom_direct.server import DirectServer
from anonloom_transport import (
    WRONG_PART,
    Entropy,
    Estimate,
    Notice,
    Round,
    RoundState,
    RoundTransport,
    delivery_guarantee,
    shared_guarantees,
    uncovered_cases,
)


@attrs.frozen(kw_only=True)
class Direct(RoundTransport):
    """Tells every server everything, sealed on the way.

    It carries the same rounds as an anonymous transport, delivers under the same faults and costs
    next to nothing, so that experiments can tell what anonymity costs.
    """

    name: ClassVar[str] = "direct"
    distribution: ClassVar[str] = "anonloom-direct"
    counts: ClassVar[bool] = True

    def make_client(self, notice: Notice, entropy: Entropy, invitation: bytes) -> DirectClient:
        """Return the engine of one sender."""
        return DirectClient(notice, entropy, invitation)

    def make_server(self, state: RoundState) -> DirectServer:
        """Return this transport's part of one server."""
        return DirectServer(state)

    def guarantees(self, round: Round) -> Guarantees:
        """Return what such a round promises: delivery, and nothing that hides anybody."""
        return Guarantees(
            honest_senders_min=1,
            colluding_servers=0,
            server_behaviour="detected after open" if round.servers > 1 else "follows",
            donors="contained: each adds a message of its own and touches no other",
            presence_of_erased_visible=round.operation == "deposit",
            exclusion="attributable",
            erasure_condition=(
                "every server destroys its round key and forgets it, for all have seen it"
            ),
            delivery=delivery_guarantee(round),
            measured_or_argued="delivery measured",
            not_covered=uncovered_cases(
                round,
                "anonymity: every server sees who sent what, the network who takes part",
                "confidentiality from servers: uploads are sealed on the way only",
                *((WRONG_PART,) if round.servers > 1 else ()),
            ),
            **shared_guarantees(round),
        )

    def estimate(self, round: Round) -> Estimate | None:
        """Return what such a round will cost; None for one that cannot be carried."""
        if self.problem(round) is not None:
            return None
        return costs(round, self.software).estimate()
