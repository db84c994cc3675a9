"""The partitioner keeps the promises of its kind, with and without cells."""

from anonloom_oka.oka import OnePassKMeans
from anonloom_testing.partitioner import PartitionerConformance


class TestDefaults(PartitionerConformance):
    method = OnePassKMeans


class TestSmallCells(PartitionerConformance):
    method = OnePassKMeans
    params = {"cell": 7}
