"""The kit's checks of a transport."""

from anonloom.testing import TransportConformance
from anonloom_direct.transport import Direct


class TestDirect(TransportConformance):
    method = Direct
