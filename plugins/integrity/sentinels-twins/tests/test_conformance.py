"""The kit's checks of an integrity scheme."""

from anonloom_sentinels_twins.scheme import SentinelsTwins
from anonloom_testing import IntegrityConformance


class TestSentinelsTwins(IntegrityConformance):
    method = SentinelsTwins
    # The kit assigns hundreds of times; test_scheme tries the measure of likeness.
    params = {"likeness": False}
