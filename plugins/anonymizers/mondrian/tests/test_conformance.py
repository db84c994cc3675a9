"""Every way to cut keeps the promises of a partitioner."""

from anonloom_mondrian.mondrian import Mondrian
from anonloom_testing.partitioner import PartitionerConformance


class TestStrict(PartitionerConformance):
    method = Mondrian


class TestRelaxed(PartitionerConformance):
    method = Mondrian
    params = {"mode": "relaxed"}


class TestLeastLoss(PartitionerConformance):
    method = Mondrian
    params = {"per_bit": 0.0}


class TestWidest(PartitionerConformance):
    method = Mondrian
    params = {"cut": "widest"}


class TestWidestWithLeastLoss(PartitionerConformance):
    method = Mondrian
    params = {"cut": "widest", "ties": "best"}


class TestWidestAsWritten(PartitionerConformance):
    method = Mondrian
    params = {"cut": "widest", "ties": "left"}


class TestWidestRelaxed(PartitionerConformance):
    method = Mondrian
    params = {"cut": "widest", "mode": "relaxed"}
