"""The partitioner keeps the promises of its kind."""

from anonloom_median_cut.partitioner import MedianCut
from anonloom_testing import PartitionerConformance


class TestMedianCut(PartitionerConformance):
    """Every check of `anonloom plugins check median-cut`, as a test of its own."""

    method = MedianCut
