"""Every variant of the partitioner keeps the promises of its kind."""

from anonloom_k_member.k_member import KMember
from anonloom_testing.partitioner import PartitionerConformance


class TestDefaults(PartitionerConformance):
    method = KMember


class TestAsWritten(PartitionerConformance):
    method = KMember
    params = {"start": "furthest", "measure": "height"}


class TestSmallCells(PartitionerConformance):
    method = KMember
    params = {"cell": 7}
