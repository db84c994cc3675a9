"""The promises of every auditor."""

from anonloom.testing import AuditorConformance
from anonloom_utility.auditor import Utility


class TestUtility(AuditorConformance):
    method = Utility


class TestUtilityWithK(AuditorConformance):
    method = Utility
    params = {"k": 5}  # noqa: RUF012  # the kit declares it as a class variable
