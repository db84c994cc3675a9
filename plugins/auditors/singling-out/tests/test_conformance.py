"""The auditor keeps the promises of its kind."""

from anonloom_singling_out.auditor import SinglingOut
from anonloom_testing import AuditorConformance


class TestSinglingOut(AuditorConformance):
    """Every check of `anonloom plugins check singling-out`, as a test of its own."""

    method = SinglingOut
    risk_finding = "multivariate_risk"
