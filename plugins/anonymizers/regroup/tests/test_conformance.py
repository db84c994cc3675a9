"""The outlier handler keeps the promises of its kind."""

from anonloom.testing import OutlierHandlerConformance
from anonloom_regroup.outliers import Regroup


class TestRegroup(OutlierHandlerConformance):
    """Every check of `anonloom plugins check regroup`, as a test of its own."""

    method = Regroup
