"""Both modes of the partitioner keep the promises of their kind."""

from anonloom.testing.partitioner import PartitionerConformance
from anonloom_mondrian.mondrian import Mondrian


class TestStrict(PartitionerConformance):
    method = Mondrian


class TestStrictAsWritten(PartitionerConformance):
    method = Mondrian
    params = {"ties": "left"}


class TestRelaxed(PartitionerConformance):
    method = Mondrian
    params = {"mode": "relaxed"}
