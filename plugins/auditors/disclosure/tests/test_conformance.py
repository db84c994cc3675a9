"""The promises of every auditor, and those of one that measures risk."""

from anonloom_disclosure.auditor import Disclosure
from anonloom_testing import AuditorConformance


class TestDisclosure(AuditorConformance):
    method = Disclosure
    risk_finding = "prosecutor_max"


class TestShareAtRisk(AuditorConformance):
    method = Disclosure
    params = {"threshold": 0.1}
    risk_finding = "records_at_risk"
