"""The auditor keeps the promises of its kind."""

from anonloom_membership.auditor import Membership
from anonloom_testing import AuditorConformance


class TestMembership(AuditorConformance):
    """Every check of `anonloom plugins check membership`, as a test of its own.

    Without a control membership is not assessable: the attacks are judged, not one finding.
    """

    method = Membership
