"""The promises of every auditor, and those of one that measures risk."""

from anonloom.testing import AuditorConformance
from anonloom_disclosure.auditor import Disclosure


class TestDisclosure(AuditorConformance):
    method = Disclosure
    risk_finding = "prosecutor_max"


class TestShareAtRisk(AuditorConformance):
    method = Disclosure
    params = {"threshold": 0.1}
    risk_finding = "records_at_risk"
