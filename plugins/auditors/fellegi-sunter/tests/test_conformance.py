"""The promises of every auditor, and those of one that measures risk."""

from anonloom_fellegi_sunter.auditor import FellegiSunter
from anonloom_testing import AuditorConformance
from anonloom_testing.tables import ORDINARY_TABLES, many_columns


class TestPosterior(AuditorConformance):
    method = FellegiSunter
    risk_finding = "linkage_excess_posterior"


class TestPositiveWeight(AuditorConformance):
    method = FellegiSunter
    risk_finding = "linkage_excess"


class TestBlocked(AuditorConformance):
    method = FellegiSunter
    params = {"blocking": {"age": 20}, "tolerance": {"age": 2}}
    tables = tuple(make for make in ORDINARY_TABLES if make is not many_columns)  # it has no age
    risk_finding = "linkage_excess_posterior"


class TestAllPairs(AuditorConformance):
    method = FellegiSunter
    params = {"blocking": [], "share_of_sd": 0.0}
    risk_finding = "linkage_excess_posterior"
