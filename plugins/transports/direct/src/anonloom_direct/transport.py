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
        """Return what such a round promises: delivery, and nothing that hides anybody."""
        hybrid = round.suite == "mlkem768-x25519"
        later = "traffic that is recorded now and opened with a quantum computer later"
        return Guarantees(
            honest_senders_min=1,
            colluding_servers=0,
            server_behaviour="detected after open" if round.servers > 1 else "follows",
            donors="contained: each adds a message of its own and touches no other",
            eligibility=(
                "one upload per invitation of the study"
                if round.authority
                else "none: Sybils not excluded"
            ),
            presence_visible_to="the network and every server",
            presence_visible_when="from the upload on",
            presence_of_erased_visible=True,
            exclusion="attributable",
            erasure_condition=(
                "every server destroys its round key and forgets it, for all have seen it; others "
                "could never read it"
            ),
            post_quantum=hybrid,
            delivery="every message that all servers confirmed, exactly once",
            lost_server="the round does not end, and nothing is opened",
            measured_or_argued="argued",
            not_covered=(
                "anonymity: every server sees who sent what, the network who takes part",
                "confidentiality from servers: uploads are sealed on the way only",
                "which server showed something else than all hold",
                "a server that refuses an honest sender before confirming",
                "coercion",
                *(() if hybrid else (later,)),
            ),
        )
