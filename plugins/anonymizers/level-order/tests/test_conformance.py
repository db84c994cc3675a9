"""The partitioner keeps the promises of its kind."""

from anonloom.testing import PartitionerConformance
from anonloom_level_order.partitioner import LevelOrder


class TestLevelOrder(PartitionerConformance):
    """Every check of `anonloom plugins check level-order`, as a test of its own."""

    method = LevelOrder
