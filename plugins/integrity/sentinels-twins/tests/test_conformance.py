"""The kit's checks of an integrity scheme."""

from anonloom_sentinels_twins.scheme import SentinelsTwins
from anonloom_sentinels_twins.testing import WorkCheckConformance


class TestSentinelsTwins(WorkCheckConformance):
    method = SentinelsTwins
    # The kit assigns hundreds of times; test_scheme tries the measure of likeness.
    params = {"likeness": False}
