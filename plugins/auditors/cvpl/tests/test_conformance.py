"""The kit's checks of the auditors."""

import pytest

from anonloom_cvpl import attribution
from anonloom_cvpl.auditor import Cvpl
from anonloom_cvpl.ensemble import Ensemble
from anonloom_cvpl.progressive import Progressive
from anonloom_testing import AuditorConformance


@pytest.fixture(autouse=True, scope="module")
def _few_resamples():
    """Resampled loadings are most of the work on small tables, and say nothing to the kit."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(attribution, "RESAMPLES", attribution.FEWEST)
        yield


class TestCvpl(AuditorConformance):
    """With its defaults."""

    method = Cvpl
    risk_finding = "linkage_excess"


class TestWithoutBlocks(AuditorConformance):
    """All pairs compared, without a projection."""

    method = Cvpl
    params = {
        "blocking": [],
        "projection": "none",
        "baselines": ["no-projection"],
        "attribution": False,
    }
    risk_finding = "linkage_excess"


class TestProgressive(AuditorConformance):
    """Bounds."""

    method = Progressive


class TestEnsemble(AuditorConformance):
    """Several attackers."""

    method = Ensemble
    params = {"draw": 2}
    risk_finding = "linkage_excess"
