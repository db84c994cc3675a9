"""Every way to search keeps the promises of a partitioner."""

from anonloom.testing.partitioner import PartitionerConformance
from anonloom_level_order.method import LevelOrder


class TestBlocks(PartitionerConformance):
    method = LevelOrder


class TestOneSequence(PartitionerConformance):
    method = LevelOrder
    params = {"search": "none"}


class TestFull(PartitionerConformance):
    method = LevelOrder
    params = {"search": "full", "rounds": 3, "tried": 2}
