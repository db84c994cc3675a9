"""Mechanism `prism-projection`: only attributes that together give no critical value away."""

from typing import ClassVar, Literal

import attrs

from anonloom import Mechanism, Schema, StageContext, Table, param
from anonloom.errors import UsageError
from anonloom.params import all_of, at_least, between, distinct, each, not_empty
from anonloom_prism.correlations import Measure
from anonloom_prism.sensitive_column import sensitive_of, unclear


@attrs.frozen(kw_only=True)
class PrismProjection(Mechanism):
    """Drops the sensitive column and, of every sensitive correlation, at least one attribute.

    What goes is chosen as in `PrismSVC`: such that a linear support vector machine for the label
    loses least. Without a label as few columns as possible are dropped. Rows and the cells that are
    left stay as they are; labels stay.
    """

    truthful: ClassVar[bool] = True

    sensitive: str | None = param(
        help="The column that must not be inferred; by default the one with the role `sensitive`.",
        default=None,
    )
    critical: tuple[str | int | float | bool, ...] | None = param(
        help="Its critical values; by default all of them.",
        default=None,
        check=all_of(not_empty(), distinct()),
    )
    correlations: tuple[tuple[str, ...], ...] | None = param(
        help="Sets of columns that give critical values away; by default they are searched for.",
        default=None,
        check=each(all_of(not_empty(), distinct())),
    )
    measure: Measure = param(
        help="How a correlation is measured, see `sensitive-correlations`.", default="cramers-v"
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
    label: str | None = param(
        help="What the attributes should still be good for; by default the column with the role "
        "`label`, if there is one.",
        default=None,
    )
    max_attributes: int | None = param(
        help="Most attributes that are published; null for no limit.",
        default=None,
        check=at_least(1),
    )
    solver: Literal["auto", "exact", "greedy"] = param(
        help="How the attributes are chosen; `auto` is exact up to 40 of them.", default="auto"
    )
    node_limit: int = param(
        help="Most nodes of the exact search where sets are too many to be tried one by one; it "
        "then ends with the best set so far, and the run warns of it.",
        default=1000,
        check=at_least(1),
    )
    rows: int = param(
        help="Most points of the exact problem: distinct rows, or a sample of the rows that "
        "depends on nothing but what they hold.",
        default=400,
        check=at_least(10),
    )

    def protect(self, table: Table, context: StageContext) -> Table:
        """Return the table without what gives critical values away.

        Raises
        ------
        UsageError
            When the columns do not fit the table, or nothing can be searched for.
        """
        # Imported here: a pipeline that is only checked need not wait for scikit-learn.
        from anonloom_prism.projection import ProjectionTask, project

        table = table.with_all_columns()
        wrong = self.problem(table.schema)
        if wrong is not None:
            raise UsageError(f"prism-projection: {wrong}")
        task = ProjectionTask(
            sensitive=self.sensitive,
            critical=self.critical,
            correlations=self.correlations,
            measure=self.measure,
            threshold=self.threshold,
            size=self.size,
            alpha=self.alpha,
            label=self.label,
            max_attributes=self.max_attributes,
            solver=self.solver,
            node_limit=self.node_limit,
            rows=self.rows,
        )
        projection = project(task, table, context)
        context.find(*projection.findings())
        return table.without(projection.dropped_columns)

    def problem(self, schema: Schema) -> str | None:
        """Say what is wrong with the columns, or None."""
        if unnamed := unclear(schema, self.sensitive, "protect"):
            return unnamed
        sensitive, labels = sensitive_of(schema, self.sensitive), schema.names_with_role("label")
        listed_ones = {name for some in self.correlations or () for name in some}
        asked = [sensitive, *sorted(listed_ones), *([self.label] if self.label else [])]
        wrong = schema.publication_problem(asked)
        if wrong is not None:
            return wrong
        if self.label is None and len(labels) > 1:
            listed = ", ".join(f"'{name}'" for name in labels)
            return f"the role 'label' has {listed}: name the one to learn with 'label'"
        if sensitive in (*labels, self.label):
            return f"column '{sensitive}' is the label: it cannot be published and protected"
        kept = sorted(listed_ones & {*labels, self.label})
        if kept:
            return f"column '{kept[0]}' is a label: it stays, and breaks up no correlation"
        return None
