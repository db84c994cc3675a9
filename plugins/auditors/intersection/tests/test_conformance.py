"""The promises of every auditor, and those of one that measures risk."""

from anonloom_intersection.auditor import Intersection
from anonloom_testing import AuditorConformance


class TestIntersection(AuditorConformance):
    method = Intersection
    risk_finding = "disclosed"
