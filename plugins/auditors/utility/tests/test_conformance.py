"""The promises of every auditor."""

from anonloom_testing import AuditorConformance
from anonloom_utility.auditor import Utility


class TestUtility(AuditorConformance):
    method = Utility


class TestUtilityWithK(AuditorConformance):
    method = Utility
    params = {"k": 5}
