"""The kit's checks of a transport, with few and with many servers."""

from anonloom_direct.transport import Direct
from anonloom_testing import TransportConformance


class TestDirect(TransportConformance):
    method = Direct


class TestOneServer(TransportConformance):
    method = Direct
    servers = 1


class TestThreeServers(TransportConformance):
    method = Direct
    servers = 3
