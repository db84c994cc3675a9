"""Both partitioners keep the promises of their kind, with every important choice of parameters."""

from anonloom_full_domain.full_domain import FullDomain
from anonloom_full_domain.local_recoding import LocalRecoding
from anonloom_testing.partitioner import PartitionerConformance


class TestFullDomain(PartitionerConformance):
    method = FullDomain


class TestFullDomainWithSuppression(PartitionerConformance):
    method = FullDomain
    params = {"suppress_at_most": 0.3}


class TestFullDomainWithAnySuppression(PartitionerConformance):
    method = FullDomain
    params = {"suppress_at_most": 1.0}


class TestGreedyFullDomain(PartitionerConformance):
    method = FullDomain
    params = {"most_nodes": 1, "suppress_at_most": 0.1}


class TestLocalRecoding(PartitionerConformance):
    method = LocalRecoding


class TestLocalRecodingByLevels(PartitionerConformance):
    method = LocalRecoding
    params = {"rounds": "levels"}


class TestLocalRecodingThatSuppressesTheRest(PartitionerConformance):
    method = LocalRecoding
    params = {"rest": "suppress"}


class TestGreedyLocalRecoding(PartitionerConformance):
    method = LocalRecoding
    params = {"most_nodes": 1}
