"""Every variant of the partitioner keeps the promises of its kind."""

from anonloom.testing.partitioner import PartitionerConformance
from anonloom_k_member.k_member import KMember


class TestDefaults(PartitionerConformance):
    method = KMember


class TestAsWritten(PartitionerConformance):
    method = KMember
    params = {"start": "furthest", "measure": "height"}


class TestSmallCells(PartitionerConformance):
    method = KMember
    params = {"cell": 7}
