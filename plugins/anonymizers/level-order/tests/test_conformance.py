"""Every way to search keeps the promises of a partitioner."""

from anonloom_level_order.method import LevelOrder
from anonloom_testing.partitioner import PartitionerConformance


class TestBlocks(PartitionerConformance):
    method = LevelOrder


class TestOneSequence(PartitionerConformance):
    method = LevelOrder
    params = {"search": "none"}


class TestFull(PartitionerConformance):
    method = LevelOrder
    params = {"search": "full", "rounds": 3, "tried": 2}
