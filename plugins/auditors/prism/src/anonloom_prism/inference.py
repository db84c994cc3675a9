"""The auditor `attribute-inference`: what can still be inferred of a sensitive value."""

from collections.abc import Sequence
from typing import ClassVar

import attrs

from anonloom import AuditInput, Findings, Schema, StageContext, Table, param
from anonloom.findings import NotAssessable, Question
from anonloom.params import all_of, at_least, between, distinct, not_empty
from anonloom_prism.attack_names import ATTACKERS, Attacker
from anonloom_prism.sensitive_column import sensitive_of, unclear
from anonloom_risk import Answers, RiskAuditor


@attrs.frozen(kw_only=True)
class AttributeInference(RiskAuditor):
    """Predicts critical values from what is published, and from a model's answers.

    The attack says what the release gives away about the people in it. The figures beside it say
    how well values are predicted at all, which may be known from the population.
    """

    question: ClassVar[Question] = "inference"
    #: Parameters with which `anonloom plugins check` tries it: forests on every table take long.
    example: ClassVar[dict[str, object]] = {
        "attackers": ["logistic-regression"],
        "repeats": 2,
        "deals": 1,
    }

    sensitive: str | None = param(
        help="The column whose values are inferred; by default the one with the role `sensitive`.",
        default=None,
    )
    critical: tuple[str | int | float | bool, ...] | None = param(
        help="Its critical values; by default all of them. Those named here are shown in the "
        "report by name, others not.",
        default=None,
        check=all_of(not_empty(), distinct()),
    )
    label: str | None = param(
        help="What a model is trained for whose answers the attacker sees; by default the column "
        "with the role `label`, if there is one.",
        default=None,
    )
    attackers: tuple[Attacker, ...] = param(
        help="What the attacker learns with; the best one counts.",
        default=ATTACKERS,
        check=all_of(not_empty(), distinct()),
    )
    share: float = param(
        help="Share of the people who judge; the attacker knows the values of the others.",
        default=0.3,
        check=between(0, 1, least_open=True, most_open=True),
    )
    repeats: int = param(
        help="How often the people are divided anew; intervals need two or more.",
        default=5,
        check=between(1, 1000),
    )
    deals: int = param(
        help="How often all this is repeated with values dealt anew among the people, to learn "
        "what chance gives.",
        default=3,
        check=between(1, 1000),
    )
    rows: int | None = param(
        help="Most rows that are used, drawn at random; null for all.",
        default=2000,
        check=at_least(20),
    )
    bins: int = param(
        help="Ranges of a sensitive number without critical values.",
        default=4,
        check=between(2, 100),
    )

    def problem(self, schema: Schema) -> str | None:
        """Say what is wrong with the columns, or None."""
        if unnamed := unclear(schema, self.sensitive, "infer"):
            return unnamed
        named = [sensitive_of(schema, self.sensitive), *([self.label] if self.label else [])]
        wrong = schema.publication_problem(named)
        if wrong is None and named[0] == self.label:
            return f"column '{self.label}' is the label: it is predicted by everybody"
        return wrong

    def assess(self, case: AuditInput, context: StageContext) -> Findings:
        """Return what the attack finds; nothing where it is not clear what to infer."""
        assert case.original is not None
        if self.problem(case.original.schema) is not None:
            return Findings()
        return super().assess(case, context)

    def attack(self, case: AuditInput, targets: Table, context: StageContext) -> Sequence[Answers]:
        """Name every target's critical value."""
        assert case.original is not None
        from anonloom_prism.memorizing_trees import answers

        sensitive = sensitive_of(case.original.schema, self.sensitive)
        return [answers(case, targets, sensitive, self.critical, self.bins, context)]

    def details(self, case: AuditInput, context: StageContext) -> Findings:
        """Predict with the original and with the release alike."""
        assert case.original is not None
        # Imported here: a pipeline that is only checked need not wait for scikit-learn.
        from anonloom_prism.attack import Plan
        from anonloom_prism.exposure import inference_findings, unknown
        from anonloom_prism.versions import InferenceTask

        schema = case.original.schema
        wrong = self.problem(schema)
        if wrong is not None:
            return unknown(wrong, self.sensitive or "")
        labels = schema.names_with_role("label")
        task = InferenceTask(
            sensitive=sensitive_of(schema, self.sensitive),
            critical=self.critical,
            label=self.label or (labels[0] if labels else None),
            rows=self.rows,
            bins=self.bins,
        )
        plan = Plan(
            attackers=self.attackers,
            repeats=self.repeats,
            deals=self.deals,
            share=self.share,
            workers=context.workers,
        )
        try:
            return inference_findings(plan, task, case, context)
        except NotAssessable as why:
            return unknown(str(why), task.sensitive)
