"""The promises of every auditor."""

from anonloom.testing import AuditorConformance
from anonloom_distribution.auditor import Distribution


class TestDistribution(AuditorConformance):
    method = Distribution


class TestDistributionSpread(AuditorConformance):
    method = Distribution
    params = {
        "reading": "spread",
        "scaled": False,
        "correlation": "spearman",
        "samples": 2,
        "least_rows": 1,
    }
