"""The outlier handler keeps the promises of its kind."""

from anonloom_regroup.method import Regroup
from anonloom_testing import OutlierHandlerConformance


class TestRegroup(OutlierHandlerConformance):
    """Every check of `anonloom plugins check regroup`, as a test of its own."""

    method = Regroup


class TestSmallBlocks(OutlierHandlerConformance):
    """Blocks of a few classes, many rounds, no tolerance."""

    method = Regroup
    params = {"block": 20, "rounds": 4, "sweeps": 30, "tolerance": 0.0}
