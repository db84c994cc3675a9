"""The auditor keeps the promises of its kind."""

from anonloom_inference.auditor import Inference
from anonloom_testing import AuditorConformance


class TestInference(AuditorConformance):
    """Every check of `anonloom plugins check inference`, as a test of its own."""

    method = Inference
    risk_finding = "nearest_illness_risk"
