"""The kit's checks of a transport, for every number of servers, placement and suite."""

import attrs

from anonloom_dpf.transport import Dpf
from anonloom_testing import TransportConformance


class TestTwoServers(TransportConformance):
    method = Dpf


class TestThreeServers(TransportConformance):
    method = Dpf
    servers = 3


class TestFourServers(TransportConformance):
    method = Dpf
    servers = 4


class TestLeavesOfOneSlotAndNobodyDishonest(TransportConformance):
    method = Dpf
    params = {"slots_per_leaf": 1, "tolerated": 0.0}


class TestHybridSuite(TransportConformance):
    method = Dpf

    def round(self, plan):
        """Seal with X25519 and ML-KEM-768 together."""
        return attrs.evolve(super().round(plan), suite="mlkem768-x25519")


class TestPaper(TransportConformance):
    # So large that the few messages of the kit do not meet; what is lost when they do is tested
    # with the engine.
    method = Dpf
    params = {"placement": "paper", "success_rate": 0.999}


class TestPaperThatLoses(TransportConformance):
    method = Dpf
    params = {"placement": "paper"}
    expected_failures = {
        "check_acknowledged_messages_arrive": "messages that meet are lost: so the paper places them"
    }
