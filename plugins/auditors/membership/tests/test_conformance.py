"""The auditor keeps the promises of its kind."""

from anonloom_membership.auditor import Membership
from anonloom_testing import AuditorConformance


class TestMembership(AuditorConformance):
    """Every check of `anonloom plugins check membership`, as a test of its own."""

    method = Membership
    risk_finding = "risk"  # the finding that must be high on a planted risk and low on strangers
