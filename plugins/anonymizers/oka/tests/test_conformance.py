"""The partitioner keeps the promises of its kind, with and without cells."""

from anonloom.testing.partitioner import PartitionerConformance
from anonloom_oka.oka import OnePassKMeans


class TestDefaults(PartitionerConformance):
    method = OnePassKMeans


class TestSmallCells(PartitionerConformance):
    method = OnePassKMeans
    params = {"cell": 7}
