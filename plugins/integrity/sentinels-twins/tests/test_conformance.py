"""The kit's checks of an integrity scheme."""

from anonloom.testing import IntegrityConformance
from anonloom_sentinels_twins.scheme import SentinelsTwins


class TestSentinelsTwins(IntegrityConformance):
    method = SentinelsTwins
    # The kit assigns hundreds of times; test_scheme tries the measure of likeness.
    params = {"likeness": False}
