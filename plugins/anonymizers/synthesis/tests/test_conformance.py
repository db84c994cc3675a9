"""The mechanism keeps the promises of its kind, with every important setting."""

from anonloom_synthesis.copula import Copula
from anonloom_testing import MechanismConformance


class TestDefaults(MechanismConformance):
    method = Copula


class TestLittleRetained(MechanismConformance):
    method = Copula
    params = {"correlation": 0.6, "order": "declared"}


class TestOtherNumberOfRows(MechanismConformance):
    method = Copula
    params = {"rows": 250, "correlation": 0}


class TestSharedByMany(MechanismConformance):
    method = Copula
    params = {"shared": 10}


class TestObservedValuesOnly(MechanismConformance):
    method = Copula
    params = {"shared": 1}
    expected_failures = {
        "check_origin_is_honest": "of a single row every value may be drawn: it is drawn again"
    }
