"""Attackers of a town: one finds the nearest row, another claims that who has one is inside."""

import attrs
import numpy as np

from anonloom_risk import Answers, NearestRows, RiskAuditor, align_evidence, right_rows


@attrs.frozen(kw_only=True)
class Linking(RiskAuditor):
    """Names the nearest row."""

    question = "linkability"

    def attack(self, case, targets, context):
        columns = align_evidence(case, targets)
        rows = NearestRows.of(columns, context.workers)
        return [
            Answers(
                name="nearest",
                right=right_rows(case, columns, rows.row, context.rng),
                score=rows.surprise,
                columns=tuple(column.name for column in columns),
                meaning="An attacker names the nearest row.",
            )
        ]


@attrs.frozen(kw_only=True)
class Presence(Linking):
    """Claims that everybody is inside of whom there is a row nearby."""

    question = "membership"

    def attack(self, case, targets, context):
        (answers,) = super().attack(case, targets, context)
        distance = NearestRows.of(align_evidence(case, targets), context.workers).distance
        inside = np.ones(len(targets))
        return [attrs.evolve(answers, name="nearby", right=inside, score=-distance)]
