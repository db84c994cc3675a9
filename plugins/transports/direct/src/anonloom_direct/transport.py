"""Transport direct: the honest baseline that hides nothing and says so."""

from typing import ClassVar

import attrs

from anonloom.kinds.engines import Clock, Entropy
from anonloom.kinds.rounds import Round
from anonloom.kinds.transport import Guarantees, Seat
from anonloom_direct.client import DirectClient
from anonloom_direct.server import DirectServer
from anonloom_rounds.notice import Notice
from anonloom_rounds.recording import Recorded
from anonloom_rounds.transport import RoundTransport


@attrs.frozen(kw_only=True)
class Direct(RoundTransport):
    """Tells every server everything, sealed on the way.

    It carries the same rounds as an anonymous transport, delivers under the same faults and costs
    next to nothing, so that experiments can tell what anonymity costs.
    """

    name: ClassVar[str] = "direct"
    distribution: ClassVar[str] = "anonloom-direct"

    def make_client(self, notice: Notice, entropy: Entropy, invitation: bytes) -> DirectClient:
        """Return the engine of one sender."""
        return DirectClient(notice, entropy, invitation)

    def make_server(
        self, round: Round, seat: Seat, entropy: Recorded, clock: Clock
    ) -> DirectServer:
        """Return the engine of one server."""
        return DirectServer(round, seat, self.software, entropy, clock)

    def guarantees(self, round: Round) -> Guarantees:
        """Return what such a round promises: delivery, and nothing else."""
        return Guarantees(
            honest_senders_min=1,
            colluding_servers=0,
            server_behaviour="follows",
            donors="honest: a dishonest one can send as often as it likes",
            eligibility="none: Sybils not excluded",
            presence_visible_to="the network and every server",
            presence_visible_when="from the upload on",
            presence_of_erased_visible=True,
            exclusion="possible",
            erasure_condition=(
                "every server deletes it as asked and nobody listened: all have seen it"
            ),
            post_quantum=False,
            delivery="every message that all servers confirmed, exactly once",
            lost_server="the round does not end",
            measured_or_argued="argued",
            not_covered=(
                "anonymity: every server and the network see who sent what",
                "confidentiality: nothing is encrypted",
                "authenticity: whoever controls the network can replace messages and receipts",
                "coercion",
            ),
        )
