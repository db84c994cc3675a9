"""Every way to grow the tree keeps the promises of a partitioner."""

from anonloom_tada.kl_tree import KLTree
from anonloom_testing.partitioner import PartitionerConformance


class TestOncePerPath(PartitionerConformance):
    method = KLTree


class TestReuse(PartitionerConformance):
    method = KLTree
    params = {"reuse": True}


class TestGini(PartitionerConformance):
    method = KLTree
    params = {"gain": "gini", "labels": {"outcome": 2.0}}


class TestClustering(PartitionerConformance):
    method = KLTree
    params = {"task": "clustering"}


class TestTellingConditions(PartitionerConformance):
    method = KLTree
    params = {"picture": "conditions", "reuse": True}
