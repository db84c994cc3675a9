"""Auditors that keep their promises, and those that break one."""

import attrs
import numpy as np
import pytest

from anonloom.data.findings import Chart, Finding, Findings
from anonloom.kinds.auditor import Auditor
from anonloom.testing import AuditorConformance, tables
from anonloom.testing.conduct import CONDUCT
from anonloom.testing.declaring import DECLARED

#: The tables that matter to the broken toys; the good ones meet all of them.
FEW = (tables.clinic, tables.one_row, tables.missing_values, tables.incomplete_rows)


@attrs.frozen(kw_only=True)
class Rarity(Auditor):
    """Mean of one over the size of the published class."""

    measures = "risk"
    needs = frozenset({"original"})

    def value(self, case):
        groups = case.release.groups()
        return float((1 / np.bincount(groups)[groups]).mean())

    def audit(self, case, run):
        return Findings.of(
            Finding(
                name="rarity",
                value=self.value(case),
                better="lower",
                meaning="Share that is found.",
                assumptions=("The target is in the release.",),
            )
        )


class RarityConformance(AuditorConformance):
    risk_finding = "rarity"


class BlamesNobody(Rarity):
    def value(self, case):
        return 0.0


class BlamesEverybody(Rarity):
    def value(self, case):
        return 1.0


class NoMeaning(Rarity):
    def audit(self, case, run):
        return Findings([attrs.evolve(f, meaning=" ") for f in super().audit(case, run)])


class NoAssumptions(Rarity):
    def audit(self, case, run):
        return Findings([attrs.evolve(f, assumptions=()) for f in super().audit(case, run)])


class Repeats(Rarity):
    def audit(self, case, run):
        return Findings.of(super().audit(case, run), super().audit(case, run))


class HiddenNeed(Rarity):
    needs = frozenset()

    def value(self, case):
        return super().value(case) * (len(case.original) > 0)


class ArrayChart(Rarity):
    def audit(self, case, run):
        chart = Chart(name="c", kind="bars", title="C", data={"labels": np.arange(3)}, meaning="M.")
        return Findings.of(super().audit(case, run), chart)


class SilentNan(Rarity):
    def audit(self, case, run):
        nothing = Finding(name="nothing", value=float("nan"), meaning="Nothing.")
        return Findings.of(super().audit(case, run), nothing)


class MeasuresNothing(Rarity):
    measures = "things"


GOOD = [(RarityConformance, Rarity)]

BROKEN = [
    (RarityConformance, BlamesNobody, "check_planted_risk_is_found"),
    (RarityConformance, BlamesEverybody, "check_independent_table_is_not_blamed"),
    (RarityConformance, NoMeaning, "check_findings_have_a_meaning"),
    (RarityConformance, NoAssumptions, "check_risk_says_its_assumptions"),
    (RarityConformance, Repeats, "check_returns_findings"),
    (RarityConformance, HiddenNeed, "check_copes_with_every_table"),
    (RarityConformance, ArrayChart, "check_findings_are_plain_data"),
    (RarityConformance, SilentNan, "check_figures_without_a_value_say_why"),
    (RarityConformance, MeasuresNothing, "check_says_what_it_measures"),
]


@pytest.mark.parametrize(("conformance", "cls"), GOOD, ids=lambda one: one.__name__)
def test_good_toys_pass_every_check(judged, conformance, cls):
    results = judged(conformance, cls)

    assert {} == results.failed
    assert len([result for result in results if result.status == "passed"]) >= len(results) - 3


@pytest.mark.parametrize(
    ("conformance", "cls", "check"), BROKEN, ids=[cls.__name__ for _, cls, _ in BROKEN]
)
def test_each_broken_toy_fails_exactly_the_check_that_it_breaks(judged, conformance, cls, check):
    found = judged(conformance, cls, tables=FEW).failed

    assert [check] == list(found), found


def test_every_check_is_broken_by_some_toy():
    """None of the checks passes whatever happens."""
    own = {
        check.__name__ for check in AuditorConformance.checks if check not in (*DECLARED, *CONDUCT)
    }

    assert set() == own - {check for _, _, check in BROKEN}
