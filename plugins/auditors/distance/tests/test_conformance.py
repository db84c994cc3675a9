"""The promises of every auditor, and those of one that measures risk."""

from anonloom_distance.auditor import Distance
from anonloom_testing import AuditorConformance


class TestDistance(AuditorConformance):
    method = Distance
    risk_finding = "identifiability_excess"


class TestGivenColumns(AuditorConformance):
    method = Distance
    params = {"columns": ["age", "region", "illness"], "categories": "hierarchical"}
    risk_finding = "identifiability_excess"


class TestSampledFrequencies(AuditorConformance):
    method = Distance
    params = {"records": 30, "categories": "frequency"}
    risk_finding = "identifiability_excess"
