"""The auditor `distribution`: groups, columns and associations, original against release."""

from collections.abc import Sequence
from typing import ClassVar, Literal

import attrs

from anonloom import AuditInput, Auditor, Findings, Schema, StageContext, param
from anonloom.data import Need
from anonloom.errors import UsageError
from anonloom.kinds import GridRow
from anonloom.params import at_least, between
from anonloom.typing import FloatArray
from anonloom_charts import column_heat, figure_over_parameter
from anonloom_distribution.association import Associations, Correlation
from anonloom_distribution.figures import Figure, countable
from anonloom_distribution.groups import (
    MOST_FIGURES,
    MOST_RANGES,
    Group,
    parse_groups,
    problem_of,
    usual,
)
from anonloom_distribution.marginals import marginals
from anonloom_distribution.noise import Rows, Samples, over
from anonloom_distribution.results import MEANINGS, Result, not_assessable
from anonloom_distribution.tables import ORIGINAL, Tables
from anonloom_linkage.marginals import Reading

#: Groups of fewer rows are not shown where nothing was declared: they would show persons.
FEW_ROWS = 10


@attrs.frozen(kw_only=True)
class Distribution(Auditor):
    """Compares what a reader would compute from the original and from the release."""

    measures: ClassVar[Literal["risk", "utility", "cost"]] = "utility"
    needs: ClassVar[frozenset[Need]] = frozenset({"original"})

    groups: tuple[dict[str, object], ...] | None = param(
        help="Figures of groups: a list of mappings with 'by' (a column), 'of' (a number, or a "
        "category with 'value'), and 'edges' or 'ranges' of 'by'. By default the labels, sensitive "
        f"columns and numbers by each quasi-identifier, at most {MOST_FIGURES} figures.",
        default=None,
    )
    reading: Reading = param(
        help="Where a generalized cell counts: in the middle of its interval, or spread in equal "
        "parts over all that it covers.",
        default="midpoint",
    )
    scaled: bool = param(
        help="Whether counts are scaled up by what sampling left out.",
        default=True,
    )
    bins: int = param(
        help="Bins of a number for its distance: quantiles of the original.",
        default=20,
        check=between(2, MOST_RANGES),
    )
    correlation: Correlation = param(
        help="Association of two numbers: 'pearson' (of values) or 'spearman' (of ranks).",
        default="pearson",
    )
    samples: int = param(
        help="Random samples of the original that say what is noise.",
        default=10,
        check=at_least(2),
    )
    least_rows: int | None = param(
        help="Groups of fewer rows of the original are not shown; by default the least class that "
        f"the declared privacy admits, or {FEW_ROWS} where none is declared.",
        default=None,
        check=at_least(1),
    )

    def problem(self, schema: Schema) -> str | None:
        """Say which group cannot be made of such a table."""
        return problem_of(self.groups or (), schema)

    def audit(self, case: AuditInput, context: StageContext) -> Findings:
        """Compare groups, columns and associations, and do the same with random samples."""
        assert case.original is not None
        schema = case.original.schema
        wrong = self.problem(schema)
        if wrong is not None:
            raise UsageError(wrong)
        if not len(case.release):
            return Findings.of(not_assessable(name, "nothing is published") for name in MEANINGS)
        tables = Tables.of(case, self.scaled)
        least = self._least(case)
        groups, left_out = self._groups(tables, schema, least)
        figures = [Figure.of(tables, group, schema, self.reading, least) for group in groups]
        columns = marginals(tables, self.bins, self.reading)
        pairs = Associations.of(tables, self.correlation)
        own = pairs.matrix([column.sides[ORIGINAL] for column in tables.columns.values()])

        def associations(rows: Rows) -> FloatArray:
            cells = [column.sides[ORIGINAL][rows] for column in tables.columns.values()]
            return pairs.matrix(cells)

        samples = Samples.like(case, self.samples)
        null = over(
            samples,
            context,
            lambda rows: [column.of_sample(rows) for column in columns],
            associations,
            lambda rows: [figure.of_sample(rows) for figure in figures],
        )
        result = Result(
            self.reading, self.scaled, self.bins, self.correlation, tables, samples, least
        )
        return Findings.of(
            result.marginals(columns, null[0]),
            result.associations(pairs, own, null[1]),
            result.groups(figures, null[2], left_out),
        )

    def _least(self, case: AuditInput) -> int:
        if self.least_rows is not None:
            return self.least_rows
        demanded = case.demanded
        return demanded if demanded is not None and demanded > 1 else FEW_ROWS

    def _groups(self, tables: Tables, schema: Schema, least: int) -> tuple[list[Group], int]:
        """Return the figures to compute, and how many were left out."""
        if self.groups is not None:
            groups = parse_groups(self.groups)
            shown = [
                group
                for group in groups
                if group.by in tables.columns and (group.of is None or group.of in tables.columns)
            ]
            return shown, len(groups) - len(shown)
        groups = usual(schema, countable(tables, schema, least), list(tables.columns))
        return groups[:MOST_FIGURES], max(0, len(groups) - MOST_FIGURES)

    def summarize(self, grid: Sequence[GridRow]) -> Findings:
        """Show distances and deviations against the varied number, and by column and run."""
        noise = "random samples"
        lines = [
            figure_over_parameter(
                grid, "jsd_mean", "Mean Jensen-Shannon distance", {"jsd_null": noise}
            ),
            figure_over_parameter(
                grid, "group_deviation_mean", "Mean deviation of groups", {"group_null": noise}
            ),
            figure_over_parameter(
                grid,
                "association_change",
                "Mean change of associations",
                {"association_null": noise},
            ),
        ]
        maps = [
            column_heat(
                grid,
                "jsd.",
                name="jsd",
                title="Jensen-Shannon distance per column and run",
                meaning="0: the distribution of the original; 1: nothing in common with it.",
            ),
            column_heat(
                grid,
                "group_deviation.",
                name="group_deviation",
                title="Deviation per figure of groups and run",
                meaning="How far the figures are from the original's, as a share of those.",
                x="figure",
            ),
        ]
        return Findings.of([chart for chart in [*lines, *maps] if chart is not None])
