"""The auditor `learning`: what classifiers still learn from a release (section 6.2.3)."""

from collections.abc import Sequence
from typing import ClassVar, Literal

import attrs

from anonloom import AuditInput, Auditor, Findings, Schema, StageContext, param
from anonloom.data import Need
from anonloom.findings import NotAssessable
from anonloom.kinds import GridRow
from anonloom.params import all_of, at_least, between, distinct, not_empty
from anonloom_learning.names import ALL, Classifier
from anonloom_learning.overview import summary

#: Rows of the paper's table, which is used whole.
ROWS = 100_000


@attrs.frozen(kw_only=True)
class LearningAuditor(Auditor):
    """Trains classifiers on the original and on the release, and compares them."""

    measures: ClassVar[Literal["risk", "utility", "cost"]] = "utility"
    needs: ClassVar[frozenset[Need]] = frozenset({"original"})

    label: str | None = param(
        help="The column to predict; by default the one with the role `label`.", default=None
    )
    positive: str | int | float | bool | None = param(
        help="The value whose precision, recall and F1 are given; by default the rarer one of two, "
        "and of more values the plain mean over all of them.",
        default=None,
    )
    features: tuple[str, ...] | None = param(
        help="Columns to learn from; by default all published ones that are no label.",
        default=None,
        check=all_of(not_empty(), distinct()),
    )
    classifiers: tuple[Classifier, ...] = param(
        help="Which classifiers; by default all eight.",
        default=ALL,
        check=all_of(not_empty(), distinct()),
    )
    train: float = param(
        help="Share of the people whose rows are learned from; the others judge.",
        default=0.75,
        check=between(0, 1, least_open=True, most_open=True),
    )
    repeats: int = param(
        help="How often the people are divided anew; intervals need two or more.",
        default=5,
        check=at_least(1),
    )
    tested_on: Literal["own", "original"] = param(
        help="Models are judged by rows of the version that they learned from, as in the paper, or "
        "by original rows of people whom they have not seen.",
        default="own",
    )
    rows: int | None = param(
        help="Most rows of a version that are used, drawn at random; null for all.",
        default=ROWS,
        check=at_least(10),
    )

    def problem(self, schema: Schema) -> str | None:
        """Say what is wrong with the label or the features, or None."""
        labels = schema.names_with_role("label")
        if self.label is None and not labels:
            return "no column has the role 'label': name the one to predict with 'label'"
        if self.label is None and len(labels) > 1:
            listed = ", ".join(f"'{name}'" for name in labels)
            return f"the role 'label' has {listed}: name the one to predict with 'label'"
        label = labels[0] if self.label is None else self.label
        named = (label, *(self.features or ()))
        wrong = schema.publication_problem(named)
        if wrong is None and label in (self.features or ()):
            return f"column '{label}' is the label: it is no feature"
        pseudonyms = [name for name in named if name in schema.names_with_role("identifier")]
        if wrong is None and pseudonyms:
            return f"column '{pseudonyms[0]}' is an identifier: nothing is learned from pseudonyms"
        return wrong

    def audit(self, case: AuditInput, context: StageContext) -> Findings:
        """Fit every classifier on every version, and judge it."""
        assert case.original is not None
        # Imported here: a pipeline that is only checked need not wait for scikit-learn.
        from anonloom_learning.figures import Figures, unknown
        from anonloom_learning.trials import divide_people, run_trials
        from anonloom_learning.versions import Question, positive_text

        wrong = self.problem(case.original.schema)
        if wrong is not None:
            return unknown(self.classifiers, wrong)
        question = Question(
            label=self.label or case.original.schema.names_with_role("label")[0],
            positive=positive_text(self.positive),
            features=self.features,
            rows=self.rows,
            widths=self.tested_on == "own",
        )
        try:
            lesson = question.lesson(case, context.rng)
            repeats = divide_people(lesson, self.train, self.repeats, self.tested_on, context.rng)
        except NotAssessable as why:
            return unknown(self.classifiers, str(why))
        trials = run_trials(lesson, repeats, self.classifiers, context)
        return Figures.of(lesson, trials, self.train, self.tested_on).findings()

    def summarize(self, grid: Sequence[GridRow]) -> Findings:
        """Show accuracy per classifier and setting, and against the varied number."""
        return summary(grid)
