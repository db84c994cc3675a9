"""The kit's checks of core's own source and of its collector."""

from anonloom.kinds._curator import Curator
from anonloom.sources import Frame
from anonloom_testing import CollectorConformance, SourceConformance


class TestFrame(SourceConformance):
    method = Frame

    def source(self, frame, folder):
        return Frame.of(frame)


class TestCurator(CollectorConformance):
    method = Curator
