"""Auditor singling-out: predicates from the release that match exactly one person."""

from collections.abc import Sequence
from typing import ClassVar

import attrs
import numpy as np

from anonloom import AuditInput, Findings, Schema, StageContext, Table, param
from anonloom.findings import Question
from anonloom.params import all_of, at_least, distinct, not_empty
from anonloom.typing import BoolArray
from anonloom_linkage.aligned_columns import AlignedColumn
from anonloom_risk import Answers, RiskAuditor, align_evidence
from anonloom_risk.nearest_rows import TARGETS
from anonloom_singling_out.families import (
    CELLS,
    GRIDS,
    NEIGHBOURS,
    coarse,
    conjunctions,
    univariate,
)
from anonloom_singling_out.parts import cell_parts, grid_parts, neighbour_parts, room
from anonloom_singling_out.predicates import Evidence, Matches
from anonloom_singling_out.singling_out_rate import predicate_findings

MEANINGS = {
    "univariate": "The attacker names one value, or the neighbourhood of one number, that only one "
    "person has.",
    "multivariate": "The attacker names values, intervals and published cells of several columns "
    "that only one person has together.",
}


@attrs.frozen(kw_only=True)
class SinglingOut(RiskAuditor):
    """Draws up predicates that match a published row, and counts whom of the original they isolate.

    A predicate isolates a person when it matches her, and nobody of the original who differs from
    her in any column attacked.
    """

    question: ClassVar[Question] = "singling out"

    columns: tuple[str, ...] | None = param(
        help="Columns that predicates are about; by default all published ones that are not "
        "sensitive.",
        default=None,
        check=all_of(not_empty(), distinct()),
    )
    predicates: int = param(
        help="Predicates about several columns of which it is counted how many single out.",
        default=500,
        check=at_least(1),
    )

    def problem(self, schema: Schema) -> str | None:
        """Say what is wrong with the columns, or None."""
        return schema.publication_problem(self.columns or ())

    def attack(self, case: AuditInput, targets: Table, context: StageContext) -> Sequence[Answers]:
        """Find for every target a predicate that isolates her."""
        columns = align_evidence(case, targets, self.columns)
        if not columns:
            nobody = np.zeros(len(targets))
            return [
                Answers(name=name, right=nobody, score=nobody, columns=(), meaning=meaning)
                for name, meaning in MEANINGS.items()
            ]
        evidence = draw_evidence(columns, context.rng)
        families = conjunctions(evidence.parts, context.rng)
        names = tuple(column.name for column in columns)
        single, several = isolate_by_one(evidence), evidence.surest(families)
        return (
            Answers(
                name="univariate",
                right=single.isolates.astype(float),
                score=single.bits,
                columns=names,
                meaning=MEANINGS["univariate"],
                attainable=_unique(evidence).astype(float),
            ),
            Answers(
                name="multivariate",
                right=several.isolates.astype(float),
                score=several.bits,
                columns=names,
                meaning=MEANINGS["multivariate"],
            ),
        )

    def details(self, case: AuditInput, context: StageContext) -> Findings:
        """Count how many predicates single out, as Anonymeter does."""
        if case.original is None:
            return Findings()
        columns = align_evidence(case, case.original, self.columns)
        if not columns:
            return Findings()
        evidence = draw_evidence(columns, context.rng)
        one, few = univariate(evidence.parts, CELLS), coarse(evidence.parts)
        return Findings.of(
            predicate_findings("univariate", evidence, one, context.rng),
            predicate_findings("multivariate", evidence, few, context.rng, self.predicates),
        )


def draw_evidence(columns: Sequence[AlignedColumn], rng: np.random.Generator) -> Evidence:
    """Divide every column in all ways."""
    parts = [
        [cell_parts(column), *neighbour_parts(column), *grid_parts(column, GRIDS)]
        for column in columns
    ]
    return Evidence.of(columns, parts, rng)


def isolate_by_one(evidence: Evidence) -> Matches:
    """Return for every target the surest predicate about one column that isolates her.

    An attacker gives many predicates: that others match her as well takes nothing back. What is
    rare, and far from other published values, is sure.
    """
    everybody = np.arange(len(evidence.own))
    bits = np.full(len(everybody), -np.inf)
    for way in (CELLS, NEIGHBOURS):
        for family in univariate(evidence.parts, way):
            column = evidence.columns[family[0][0]]
            keys = evidence.keys(family, TARGETS)
            isolated = evidence.isolated(family, everybody, keys)
            isolated &= evidence.published(family, keys) > 0
            sure = evidence.bits(family) + room(column)[column.sides[TARGETS]]
            bits = np.where(isolated, np.maximum(bits, sure), bits)
    return Matches(np.isfinite(bits), bits)


def _unique(evidence: Evidence) -> BoolArray:
    """Whether each target has a value that, of the original, only she and her twins have."""
    everybody = np.arange(len(evidence.own))
    result = np.zeros(len(everybody), bool)
    for family in univariate(evidence.parts, CELLS):
        result |= evidence.isolated(family, everybody, evidence.keys(family, TARGETS))
    return result & evidence.own
