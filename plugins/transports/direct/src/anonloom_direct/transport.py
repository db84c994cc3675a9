"""Transport direct: the honest baseline that hides nothing and says so."""

import attrs

from anonloom.kinds.engines import Clock, Entropy, Round
from anonloom.kinds.transport import Guarantees, Transport
from anonloom_direct.client import DirectClient
from anonloom_direct.server import DirectServer


@attrs.frozen(kw_only=True)
class Direct(Transport):
    """Sends every message in the clear to every server.

    It carries the same rounds as an anonymous transport, delivers under the same faults and costs
    next to nothing, so that experiments can tell what anonymity costs.
    """

    def client(self, round: Round, *, entropy: Entropy, clock: Clock) -> DirectClient:
        """Return the engine of one sender."""
        return DirectClient(round, entropy)

    def server(self, round: Round, index: int, *, entropy: Entropy, clock: Clock) -> DirectServer:
        """Return the engine of one server."""
        return DirectServer(round, index, clock)

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
