"""Auditor inference: what near published rows say about the value that an attacker wants."""

from collections.abc import Sequence
from typing import ClassVar

import attrs
import numpy as np

from anonloom import AuditInput, Findings, Release, Schema, StageContext, Table, param
from anonloom.findings import FindingBuilder, Question
from anonloom.params import all_of, between, distinct, not_empty
from anonloom_inference.neighbours import Neighbours
from anonloom_inference.secrets import Secret, hard_to_guess
from anonloom_inference.votes import most_supported
from anonloom_linkage.aligned_columns import AlignedColumn, shared_columns
from anonloom_linkage.features import Encoding
from anonloom_linkage.vectors import Vectors
from anonloom_risk import (
    Alike,
    Answers,
    RiskAuditor,
    align_evidence,
    alike_by_value,
    attainable,
    number_alike,
)
from anonloom_risk.nearest_rows import KNOWN, ORIGINAL, RELEASE, TARGETS

#: Where no column is sensitive, so many are taken for secrets.
MOST_SECRETS = 3
MEANING = "The attacker knows all other columns and names, as '{}', {}."
NEAREST = "the value of the published rows that are nearest to the person"
VOTE = "the value for which near published rows vote, nearer ones with more weight"


@attrs.frozen(kw_only=True)
class Inference(RiskAuditor):
    """Infers a secret value of people of whom the attacker knows all other columns.

    Two attackers for every secret: one believes the nearest row, one lets several near rows vote.
    An answer is surer the nearer the nearest row is, compared with people of the population; where
    it is not sure, the most frequent value of the population is named. Every value of a category
    counts as much as any other.
    """

    question: ClassVar[Question] = "inference"

    secrets: tuple[str, ...] | None = param(
        help="Columns whose values are inferred; by default those with the role `sensitive` or, "
        "where there are none, the three that are hardest to guess.",
        default=None,
        check=all_of(not_empty(), distinct()),
    )
    tolerance: float = param(
        help="Share of a number by which it may be missed; of a moment this share of the standard "
        "deviation.",
        default=0.05,
        check=between(0, 1),
    )

    def problem(self, schema: Schema) -> str | None:
        """Say what is wrong with the columns, or None."""
        return schema.publication_problem(self.secrets or ())

    def assess(self, case: AuditInput, context: StageContext) -> Findings:
        """Return what can be inferred of every secret; the same ones in every test."""
        assert case.original is not None
        secrets = self._secrets(case.original, case.release)
        if not secrets:
            finding = FindingBuilder(unfit="the release shows no column to infer from others")
            return Findings.of(finding("secrets", None, "Columns whose values are inferred."))
        return super(Inference, attrs.evolve(self, secrets=secrets)).assess(case, context)

    def attack(self, case: AuditInput, targets: Table, context: StageContext) -> Sequence[Answers]:
        """Name every target's secrets."""
        assert case.original is not None
        assert self.secrets is not None
        others: list[Release | Table] = [case.release, targets]
        others += [case.control] if case.control is not None else []
        names = shared_columns(case.original, others, KNOWN | {"sensitive"})
        columns = align_evidence(case, targets, names)
        vectors = Vectors.of(columns, Encoding(), (ORIGINAL, RELEASE), context.workers)
        return [
            answers
            for secret in columns
            if secret.name in self.secrets
            for answers in self._infer(secret, columns, vectors, context)
        ]

    def _infer(
        self,
        column: AlignedColumn,
        columns: Sequence[AlignedColumn],
        vectors: Vectors,
        context: StageContext,
    ) -> list[Answers]:
        secret = Secret.of(column, self.tolerance)
        known = [other for other in columns if other is not column]
        alike = Alike.of(number_alike(known, RELEASE)[0], column.sides[RELEASE], len(column))
        near = Neighbours.of(
            vectors.without(column.name), alike.first, context.rng, context.workers
        )
        values = secret.values[alike.cell][alike.group[near.rows]]
        named = {
            "nearest": (values[:, 0], NEAREST),
            "vote": (most_supported(secret, values, near.distances), VOTE),
        }
        at_best, own = (
            attainable(known, column.sides[ORIGINAL], len(column)),
            secret.of_rows(TARGETS),
        )
        usual = secret.values[np.bincount(column.sides[ORIGINAL]).argmax()]
        otherwise = secret.agree(np.full(len(own), usual), own).astype(float)
        weight = None if column.is_ordered else alike_by_value(column.sides[TARGETS])
        return [
            Answers(
                name=f"{attacker}_{column.name}",
                right=secret.agree(value, own).astype(float),
                score=near.surprise,
                columns=tuple(other.name for other in columns),
                meaning=MEANING.format(column.name, says),
                attainable=at_best,
                otherwise=otherwise,
                weight=weight,
            )
            for attacker, (value, says) in named.items()
        ]

    def _secrets(self, original: Table, release: Release) -> tuple[str, ...]:
        shown = shared_columns(original, [release], KNOWN | {"sensitive"})
        if len(shown) < 2:
            return ()
        if self.secrets is not None:
            return tuple(name for name in self.secrets if name in shown)
        sensitive = original.schema.names_with_role("sensitive")
        if not sensitive:
            return hard_to_guess(original, shown, MOST_SECRETS)
        return tuple(name for name in sensitive if name in shown)
