"""The auditor `sensitive-correlations`: which attributes give critical values away (section 3)."""

from collections.abc import Sequence
from typing import ClassVar, Literal

import attrs

from anonloom import AuditInput, Auditor, Findings, Schema, StageContext, param
from anonloom.data import Need
from anonloom.findings import NotAssessable
from anonloom.params import all_of, at_least, between, distinct, not_empty
from anonloom_prism.correlations import Measure
from anonloom_prism.sensitive_column import sensitive_of, unclear


@attrs.frozen(kw_only=True)
class SensitiveCorrelations(Auditor):
    """Looks for sets of attributes from which critical values could be inferred."""

    measures: ClassVar[Literal["risk", "utility", "cost"]] = "risk"
    needs: ClassVar[frozenset[Need]] = frozenset()

    sensitive: str | None = param(
        help="The column whose values must not be inferred; by default the one with the role "
        "`sensitive`.",
        default=None,
    )
    critical: tuple[str | int | float | bool, ...] | None = param(
        help="Its critical values; by default all of them. Those named here are shown in the "
        "report by name, others as numbers.",
        default=None,
        check=all_of(not_empty(), distinct()),
    )
    attributes: tuple[str, ...] | None = param(
        help="Columns to look at; by default all published ones but labels.",
        default=None,
        check=all_of(not_empty(), distinct()),
    )
    table: Literal["release", "original"] = param(
        help="Where to look: in what is published, or in the table before any stage.",
        default="release",
    )
    measure: Measure = param(
        help="`cramers-v` of the values of a set in combination, `multiple-correlation` of its "
        "attributes added up, or what a cross-validated `classifier` gains.",
        default="cramers-v",
    )
    threshold: float = param(
        help="A set is a sensitive correlation from this figure on.",
        default=0.3,
        check=between(0, 1, least_open=True),
    )
    size: int = param(help="Most attributes of a set.", default=3, check=at_least(1))
    alpha: float | None = param(
        help="Chance of finding anything where there is nothing; null for no guard against chance.",
        default=0.05,
        check=between(0, 1, least_open=True, most_open=True),
    )
    bins: int = param(
        help="Ranges, about equally frequent, that a number is seen in.",
        default=4,
        check=between(2, 100),
    )
    levels: int = param(
        help="Most levels of a category; rarer values share the last one.",
        default=8,
        check=between(2, 100),
    )

    def problem(self, schema: Schema) -> str | None:
        """Say what is wrong with the columns, or None."""
        if unnamed := unclear(schema, self.sensitive, "protect"):
            return unnamed
        sensitive, named = sensitive_of(schema, self.sensitive), self.attributes or ()
        wrong = schema.publication_problem((sensitive, *named))
        if wrong is not None:
            return wrong
        if sensitive in named:
            return f"column '{sensitive}' is the sensitive one: it is no attribute to infer it from"
        labels = [name for name in named if name in schema.names_with_role("label")]
        if labels:
            return f"column '{labels[0]}' is a label: it is predicted, not asked for"
        pseudonyms = [
            name for name in (sensitive, *named) if name in schema.names_with_role("identifier")
        ]
        if pseudonyms:
            return f"column '{pseudonyms[0]}' is an identifier: pseudonyms tell nothing"
        return None

    def audit(self, case: AuditInput, context: StageContext) -> Findings:
        """Look at sets of attributes by growing size."""
        # Imported here: a pipeline that is only checked need not wait for scipy.
        from anonloom_prism.discovery import Question, eligible, search
        from anonloom_prism.results import findings, unknown

        original = case.original if self.table == "original" else None
        if self.table == "original" and original is None:
            return unknown("there is no original table", self.sensitive or "")
        # A mechanism may have dropped columns that the original has.
        schema = case.release.schema if original is None else original.schema
        frame = case.release.frame if original is None else original.frame
        wrong = self.problem(schema)
        if wrong is not None:
            return unknown(wrong, self.sensitive or "")
        sensitive = sensitive_of(schema, self.sensitive)
        question = Question(
            measure=self.measure,
            threshold=self.threshold,
            size=self.size,
            alpha=self.alpha,
            bins=self.bins,
            levels=self.levels,
        )
        names: Sequence[str] | None = self.attributes
        if names is None:
            names = eligible(frame, schema, sensitive, ())
        try:
            match = search(
                frame, schema, sensitive, self.critical, names, question, context.progress
            )
        except NotAssessable as why:
            return unknown(str(why), sensitive)
        named, people = self.critical is not None, bool(schema.names_with_role("person"))
        return findings(match, question, sensitive, named, people)
