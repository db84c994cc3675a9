"""Auditors that keep their promises, and those that break one."""

import attrs
import numpy as np
from kit_toy_tests import ToyTests

from anonloom import Auditor, Chart, Finding, Findings
from anonloom.findings import AttackResult, PrivateRows
from anonloom_risk import Answers, NearestRows, RiskAuditor, align_evidence, right_rows
from anonloom_testing import AuditorConformance


#: The tables that matter to the broken toys; the good ones meet all of them.
@attrs.frozen(kw_only=True)
class Rarity(Auditor):
    """Mean of one over the size of the published class."""

    measures = "risk"
    needs = frozenset({"original"})

    def value(self, case):
        groups = case.release.groups()
        return float((1 / np.bincount(groups)[groups]).mean())

    def audit(self, case, context):
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
    def audit(self, case, context):
        return Findings([attrs.evolve(f, meaning=" ") for f in super().audit(case, context)])


class NoAssumptions(Rarity):
    def audit(self, case, context):
        return Findings([attrs.evolve(f, assumptions=()) for f in super().audit(case, context)])


class Repeats(Rarity):
    def audit(self, case, context):
        return Findings.of(super().audit(case, context), super().audit(case, context))


class HiddenNeed(Rarity):
    needs = frozenset()

    def value(self, case):
        return super().value(case) * (len(case.original) > 0)


class ArrayChart(Rarity):
    def audit(self, case, context):
        chart = Chart(name="c", kind="bars", title="C", data={"labels": np.arange(3)}, meaning="M.")
        return Findings.of(super().audit(case, context), chart)


class BentChart(Rarity):
    def audit(self, case, context):
        rows = [["a", 1], ["b"]]
        data = {"columns": ["name", "value"], "rows": rows}
        chart = Chart(name="c", kind="table", title="C", data=data, meaning="M.")
        return Findings.of(super().audit(case, context), chart)


class SilentNan(Rarity):
    def audit(self, case, context):
        nothing = Finding(name="nothing", value=float("nan"), meaning="Nothing.")
        return Findings.of(super().audit(case, context), nothing)


class MeasuresNothing(Rarity):
    measures = "things"


@attrs.frozen(kw_only=True)
class Nearest(RiskAuditor):
    """Names the nearest row."""

    question = "linkability"

    def attack(self, case, targets, context):
        columns = align_evidence(case, targets)
        rows = NearestRows.of(columns, context.workers)
        right = right_rows(case, columns, rows.row, context.rng)
        return self.answers(case, right, rows.surprise)

    def answers(self, case, right, score):
        return [Answers(name="nearest", right=right, score=score, columns=(), meaning="Nearest.")]


class NearestConformance(AuditorConformance):
    risk_finding = "nearest_risk"
    blamed_at_most = 0.3


class FindsNobody(Nearest):
    def answers(self, case, right, score):
        return super().answers(case, 0 * right, score)


class SkipsTheSelfTests(Nearest):
    def assess(self, case, context):
        return Findings(
            [
                attrs.evolve(item, success=0.95, baseline=0.1, exposed=0)
                if isinstance(item, AttackResult)
                else item
                for item in super().assess(case, context).items
                if not isinstance(item, PrivateRows)
            ]
        )


class OneOfTwoNames(Nearest):
    def assess(self, case, context):
        found = super().assess(case, context)
        items = [
            attrs.evolve(item, name="other")
            if isinstance(item, AttackResult) and item.risk < 0.5
            else item
            for item in found.items
        ]
        return Findings(items)


class MoreThanEverybody(Nearest):
    def assess(self, case, context):
        return Findings(
            [
                attrs.evolve(item, success=1.5)
                if isinstance(item, AttackResult) and item.risk > 0.5
                else item
                for item in super().assess(case, context).items
            ]
        )


class ListsNobody(Nearest):
    def assess(self, case, context):
        found = super().assess(case, context).items
        return Findings([item for item in found if not isinstance(item, PrivateRows)])


class TestToys(ToyTests):
    inapplicable = 8  # checks of attacks do not concern auditors without one, nor these those
    good = [(RarityConformance, Rarity), (NearestConformance, Nearest)]
    broken = [
        (RarityConformance, BlamesNobody, "check_planted_risk_is_found"),
        (RarityConformance, BlamesEverybody, "check_independent_table_is_not_blamed"),
        (RarityConformance, NoMeaning, "check_findings_have_a_meaning"),
        (RarityConformance, NoAssumptions, "check_risk_says_its_assumptions"),
        (RarityConformance, Repeats, "check_returns_findings"),
        (RarityConformance, HiddenNeed, "check_copes_with_every_table"),
        (RarityConformance, ArrayChart, "check_findings_are_plain_data"),
        (RarityConformance, BentChart, "check_charts_have_the_form_of_their_kind"),
        (RarityConformance, SilentNan, "check_figures_without_a_value_say_why"),
        (RarityConformance, MeasuresNothing, "check_says_what_it_measures"),
        (AuditorConformance, FindsNobody, "check_attacks_find_a_copy"),
        (AuditorConformance, SkipsTheSelfTests, "check_attacks_blame_no_strangers"),
        (AuditorConformance, MoreThanEverybody, "check_attacks_are_shares_of_everybody"),
        (AuditorConformance, OneOfTwoNames, "check_attacks_are_the_same_whatever_the_tables_are"),
        (AuditorConformance, ListsNobody, "check_attacks_list_who_is_exposed"),
    ]
    on_tables = True
