"""Attacks that work, and attacks that must not be believed."""

import attrs
import numpy as np

from anonloom.findings import Findings
from anonloom_risk import Answers, NearestRows, RiskAuditor, align_evidence, right_rows


@attrs.frozen(kw_only=True)
class Nearest(RiskAuditor):
    """Names the nearest row."""

    question = "linkability"

    def attack(self, case, targets, context):
        columns = align_evidence(case, targets)
        rows = NearestRows.of(columns, context.workers)
        return [
            Answers(
                name="nearest",
                right=self.judge(right_rows(case, columns, rows.row, context.rng), case, targets),
                score=rows.surprise,
                columns=tuple(column.name for column in columns),
                meaning="An attacker names the nearest row.",
            )
        ]

    def judge(self, right, case, targets):
        return right


class Silent(Nearest):
    """Finds nobody."""

    def judge(self, right, case, targets):
        return np.zeros(len(right))


class Cheat(Nearest):
    """Looks up who is in the original, and calls that success."""

    def judge(self, right, case, targets):
        inside = set(zip(case.original.frame["age"], case.original.frame["income"], strict=True))
        people = zip(targets.frame["age"], targets.frame["income"], strict=True)
        return np.array([float(person in inside) for person in people])


class Presence(Nearest):
    """Claims that everybody is inside of whom there is a row nearby."""

    question = "membership"

    def attack(self, case, targets, context):
        columns = align_evidence(case, targets)
        rows = NearestRows.of(columns, context.workers)
        return [
            Answers(
                name="presence",
                right=np.ones(len(targets)),
                score=-rows.distance,
                columns=tuple(column.name for column in columns),
                meaning="An attacker claims that whoever has a row nearby is inside.",
            )
        ]


class Guess(Nearest):
    """Is right about those whom nobody can be wrong about, half of the time."""

    def attack(self, case, targets, context):
        answers = super().attack(case, targets, context)[0]
        half = np.where(np.arange(len(answers.right)) % 2 == 0, answers.right, 0.0)
        return [attrs.evolve(answers, right=half, attainable=np.full(len(half), 0.5))]


class Talkative(Nearest):
    """Says more than its attacks."""

    def details(self, case, context):
        from anonloom import Finding

        return Findings.of(Finding(name="more", value=1, meaning="There is more."))
