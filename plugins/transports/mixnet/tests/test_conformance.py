"""The kit's checks of a transport, for both suites and two or three servers."""

import attrs

from anonloom_mixnet.transport import Mixnet
from anonloom_testing import TransportConformance
from anonloom_transport import Round


class TestMixnet(TransportConformance):
    method = Mixnet


class TestThreeServersWithoutTraps(TransportConformance):
    method = Mixnet
    params = {"traps": 0}
    servers = 3


class TestHybrid(TransportConformance):
    method = Mixnet
    params = {"traps": 1}

    def round(self, plan) -> Round:
        return attrs.evolve(super().round(plan), suite="mlkem768-x25519")
