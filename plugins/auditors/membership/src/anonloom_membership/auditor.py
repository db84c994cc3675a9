"""The auditor `membership`: whether a release tells who is in the table at all."""

from collections.abc import Sequence
from typing import ClassVar

import attrs
import numpy as np

from anonloom import AuditInput, Findings, Schema, StageContext, Table, param
from anonloom.findings import AttackResult, FindingBuilder, NotAssessable, Question
from anonloom.params import all_of, distinct, not_empty
from anonloom.typing import BoolArray, FloatArray
from anonloom_linkage.aligned_columns import AlignedColumn, align_columns, shared_columns
from anonloom_membership.covering import Covering
from anonloom_membership.density_ratio import learn_density_ratio, quadratic
from anonloom_membership.nearness import Nearness
from anonloom_membership.roc import area_under_curve
from anonloom_membership.separation import WORST, Separation
from anonloom_membership.value_shares import value_evidence
from anonloom_risk import Answers, NearestRows, RiskAuditor, align_evidence
from anonloom_risk.assessment import NO_CONTROL
from anonloom_risk.coverage import is_generalized
from anonloom_risk.nearest_rows import CONTROL, KNOWN, ORIGINAL, RELEASE

#: Number of the control among the sides where there are no targets.
HELD_OUT = 2
#: People of the control from whom an attacker learns how near strangers are; all are compared with.
MOST_LEARNED = 1_500
#: From fewer nothing is learned: then she is claimed whom the release is nearer to than they are.
FEWEST_LEARNED = 50
#: People are claimed whose rows are in the release, or who look more like it than this share of the
#: known strangers. To claim almost everybody would say who is not in the table, and what little it
#: says of who is would drown in chance.
UNLIKE_STRANGERS = 0.4
#: Of a generalized release somebody is claimed only where so many times as many of the people
#: attacked have her evidence as of known strangers: almost everybody is covered by some class.
WORTH_A_CLAIM = 2.0

MEANING = (
    "An attacker with a person's whole record, and people of the same population, says that she "
    "is in the table where the release is nearer to her than it is to people who are not in it."
)
UNUSUAL = "the tenth of the people who are farthest from everybody else"
VALUES = (
    "How well single values tell who is in the table, column by column; .5 is chance. A synthetic "
    "table that repeats rare values of the original is above it, however far its rows are."
)


@attrs.frozen(kw_only=True)
class Membership(RiskAuditor):
    """Says of everybody how likely she is in the table, from how near the release is to her."""

    question: ClassVar[Question] = "membership"

    columns: tuple[str, ...] | None = param(
        help="Columns that the attacker knows; by default all that are published, the sensitive "
        "ones, too.",
        default=None,
        check=all_of(not_empty(), distinct()),
    )

    def problem(self, schema: Schema) -> str | None:
        """Say which of the columns cannot be compared because it is not published."""
        return schema.publication_problem(self.columns or ())

    def attack(self, case: AuditInput, targets: Table, context: StageContext) -> Sequence[Answers]:
        """Claim that people are in the table; the density ratio says how surely."""
        columns = self._columns(case, targets)
        score, isolation, claimed = _density_ratio(columns, len(targets), context)
        return [
            Answers(
                name="density_ratio",
                right=claimed.astype(float),
                score=score,
                columns=tuple(column.name for column in columns),
                meaning=MEANING,
                isolation=isolation,
            )
        ]

    def examine(
        self, result: AttackResult, inside: Answers, outside: Answers, context: StageContext
    ) -> Findings:
        """Return how well people are told apart, where false claims are rare, and who is worst."""
        worst = None
        if inside.isolation is not None and outside.isolation is not None:
            least = np.quantile(np.append(inside.isolation, outside.isolation), 1 - WORST)
            worst = (inside.isolation >= least, outside.isolation >= least)
        separation = Separation(inside.score, outside.score, worst, UNUSUAL)
        return separation.findings(result.name, FindingBuilder(unfit=result.reason), context.rng)

    def details(self, case: AuditInput, context: StageContext) -> Findings:
        """Return what single values tell, near or far."""
        finding = FindingBuilder()
        try:
            inside, outside = self._by_values(case, context.rng)
        except NotAssessable as why:
            return Findings.of(finding("values_auc", None, VALUES, lacking=str(why)))
        area = area_under_curve(inside, outside)
        beside = f"{len(inside):,} people inside, {len(outside):,} outside"
        return Findings.of(
            finding("values_auc", area.value, VALUES, interval=area.interval, assumptions=(beside,))
        )

    def _by_values(
        self, case: AuditInput, rng: np.random.Generator
    ) -> tuple[FloatArray, FloatArray]:
        """Score people of the original, and those of one half of the control by the other half."""
        if case.original is None or case.control is None or len(case.control) < 2:
            raise NotAssessable(NO_CONTROL)
        columns = align_columns(
            case.original, [case.release, case.control], self._names(case, case.control)
        )
        if is_generalized(columns, RELEASE):
            raise NotAssessable("cells of the release stand for several values")
        if not columns or not len(case.release):
            raise NotAssessable("there is nothing to compare")
        order = rng.permutation(len(case.control))
        known, strangers = np.array_split(order, 2)
        scores = [
            value_evidence(columns, people, RELEASE, HELD_OUT, known)
            for people in (
                [column.sides[ORIGINAL] for column in columns],
                [column.sides[HELD_OUT][strangers] for column in columns],
            )
        ]
        return scores[0], scores[1]

    def _columns(self, case: AuditInput, targets: Table) -> tuple[AlignedColumn, ...]:
        others = [targets] if case.control is None else [targets, case.control]
        return align_evidence(case, targets, self._names(case, *others))

    def _names(self, case: AuditInput, *others: Table) -> tuple[str, ...]:
        """Names of the columns that the attacker knows, where every table shows them."""
        assert case.original is not None
        names = shared_columns(case.original, [case.release, *others], KNOWN | {"sensitive"})
        return names if self.columns is None else tuple(n for n in names if n in self.columns)


def _density_ratio(
    columns: Sequence[AlignedColumn], number: int, context: StageContext
) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Say of every target how surely she is inside, how far from others, and who is claimed.

    Whoever knows more of his success claims fewer: those with the highest scores.
    """
    if not columns:
        return np.full(number, -np.inf), np.zeros(number), np.zeros(number, bool)
    known = len(columns[0].sides[CONTROL]) if len(columns[0].sides) > CONTROL else 0
    if known < FEWEST_LEARNED or not len(columns[0].sides[RELEASE]):
        nearest = NearestRows.of(columns, context.workers)
        return nearest.surprise, nearest.reference, nearest.surprise >= 0
    learned = context.rng.permutation(known)[:MOST_LEARNED]
    nearness = Nearness.of(columns, learned, context.rng, context.workers)
    logarithms, marks = nearness.evidence()
    evidence = [quadratic(logarithms), marks]
    generalized = is_generalized(columns, RELEASE)
    if generalized:
        counts, uncovered = Covering.of(columns, learned).evidence()
        evidence += [quadratic(counts), uncovered]
    unlabelled = np.arange(number + len(learned)) < number
    ratio = learn_density_ratio(np.column_stack(evidence), unlabelled)
    score, of_strangers = ratio[:number], ratio[number:]
    if generalized:
        claimed = score >= np.log(WORTH_A_CLAIM)
    else:
        least = np.quantile(of_strangers, UNLIKE_STRANGERS)
        claimed = (score >= least) | nearness.equal[:number, 0]
    return score, nearness.control[:number, 0], claimed
