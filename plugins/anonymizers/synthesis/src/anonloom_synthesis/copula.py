"""Mechanism `copula`: rows that were nobody's, drawn from a Gaussian copula."""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom import Chart, Finding, Mechanism, Schema, StageContext, Table, param, short_repr
from anonloom.data import Role
from anonloom.errors import DataError, UsageError
from anonloom.lazy import lazy_module, pd
from anonloom.params import at_least, between
from anonloom.typing import FloatArray
from anonloom_synthesis.category_order import order_categories
from anonloom_synthesis.latent import Latent, correlations, normal_scores, shrink_correlations
from anonloom_synthesis.margins import Margin, SampledCells, margin_of
from anonloom_synthesis.resemblance import copies

special = lazy_module("scipy.special")

#: Roles that a synthetic row has. Whatever else a row has points to a person, or to none.
MODELLED: tuple[Role, ...] = ("quasi", "sensitive", "label", "other")

#: Rows that are drawn at a time.
_BATCH = 1 << 16


@attrs.frozen(kw_only=True)
class Copula(Mechanism):
    """Draws new rows with the columns' distributions and the correlations between them."""

    truthful: ClassVar[bool] = False

    correlation: float = param(
        help="Share of the correlations between columns that is retained; 0 draws every column "
        "for itself.",
        default=1.0,
        check=between(0, 1),
    )
    rows: int | None = param(
        help="How many rows to draw; by default as many as were learnt from.",
        default=None,
        check=at_least(1),
    )
    shared: int = param(
        help="How many persons must hold a value for it to be drawn as it is: rarer numbers, dates "
        "and times are blurred between their neighbours, rarer categories are not drawn.",
        default=2,
        check=at_least(1),
    )
    order: Literal["fitted", "declared"] = param(
        help="The order of categories: one in which they go with the other columns, or that of "
        "their hierarchy or else of their text.",
        default="fitted",
    )

    def protect(self, table: Table, context: StageContext) -> Table:
        """Return synthetic rows, which correspond to nobody.

        Raises
        ------
        UsageError
            When no column is published.
        DataError
            When there is no row to learn from, or no value of a column that may be drawn.
        """
        problem = self.problem(table.schema)
        if problem is not None:
            raise UsageError(f"copula: {problem}")
        if table.incomplete.all():
            raise DataError(
                "copula: every row is suppressed by a missing value ('missing: suppress'), so that "
                "there is nothing to learn from"
            )
        # A row that is not to be published is not to be learnt from either.
        learnt = table.take(~table.incomplete)
        schema = Schema(tuple(item for item in table.schema if item.role in MODELLED))
        margins = [margin_of(learnt, name, self.shared) for name in schema.names]
        if self.order == "fitted":
            margins = order_categories(
                margins, np.stack([normal_scores(m.codes) for m in margins], 1)
            )
        for margin in margins:
            _demand_values(margin, self.shared)
        model = Model.of(margins, self.correlation)
        count = len(learnt) if self.rows is None else self.rows
        drawn = model.draw(count, context)
        context.find(*_findings(model, drawn, len(table) - len(learnt)))
        frame = pd.DataFrame(
            {name: item.cells for name, item in zip(schema.names, drawn, strict=True)}, copy=False
        )
        return attrs.evolve(Table.build(frame, schema), origin=None)

    def problem(self, schema: Schema) -> str | None:
        """Say that there is nothing to draw."""
        if not schema.names_with_role(*MODELLED):
            roles = ", ".join(MODELLED)
            return f"no column has a role that a synthetic row can have ({roles})"
        return None


def _demand_values(margin: Margin, shared: int) -> None:
    """Refuse a column that would have to be left empty, and must not be."""
    column = margin.column
    if not margin.drawable and column.missing != "own":
        raise DataError(
            f"copula: column '{column.name}': no value is held by {shared} persons, so that none "
            f"can be drawn, and 'missing: {column.missing}' allows no gaps",
            hint="Drop the column, or lower 'shared'.",
        )


@short_repr
@attrs.frozen(eq=False)
class Model:
    """What was learnt: the margins, and the correlations of the variables behind them.

    Attributes
    ----------
    values, gaps
        For every margin the variable that decides on its value, and the one that decides whether
        it is missing; -1 for none, when there is nothing to decide.
    correlation
        Between all variables.
    gap_shares
        Share of missing cells of every margin.
    """

    margins: Sequence[Margin]
    values: tuple[int, ...]
    gaps: tuple[int, ...]
    correlation: FloatArray
    gap_shares: tuple[float, ...]

    @classmethod
    def of(cls, margins: Sequence[Margin], share: float) -> "Model":
        """Learn from the rows of the margins; of correlations a share is retained."""
        latents: list[Latent] = []

        def variable(codes: NDArray[np.int64], decides: bool) -> int:
            if decides:
                latents.append(Latent.of(codes))
            return len(latents) - 1 if decides else -1

        values = tuple(
            variable(margin.codes, margin.drawable and margin.levels > 1) for margin in margins
        )
        missing = [margin.codes < 0 for margin in margins]
        gaps = tuple(variable(gap.astype(np.int64), 0 < gap.mean() < 1) for gap in missing)
        matrix = shrink_correlations(correlations(latents), share) if latents else np.empty((0, 0))
        shares = tuple(float(gap.mean()) for gap in missing)
        return cls(margins, values, gaps, matrix, shares)

    def draw(self, count: int, context: StageContext) -> list[SampledCells]:
        """Draw the columns of so many rows."""
        root = np.linalg.cholesky(self.correlation) if len(self.correlation) else None
        parts: list[list[SampledCells]] = []
        for start in range(0, count, _BATCH):
            rows = min(_BATCH, count - start)
            uniform = np.empty((0, rows))
            if root is not None:
                uniform = special.ndtr(root @ context.rng.standard_normal((len(root), rows)))
            parts.append(self._columns(uniform, rows))
            context.progress(start + rows, count)
        return [_concatenate(column) for column in zip(*parts, strict=True)]

    def _columns(self, uniform: FloatArray, rows: int) -> list[SampledCells]:
        drawn = []
        for index, margin in enumerate(self.margins):
            gap, value = self.gaps[index], self.values[index]
            missing = np.full(rows, self.gap_shares[index] == 1.0)
            if gap >= 0:
                missing = uniform[gap] >= 1.0 - self.gap_shares[index]
            drawn.append(margin.draw(uniform[value] if value >= 0 else np.full(rows, 0.5), missing))
        return drawn


def _concatenate(parts: Sequence[SampledCells]) -> SampledCells:
    if len(parts) == 1:
        return parts[0]
    cells: list[Any] = [part.cells for part in parts]
    if isinstance(cells[0].dtype, pd.CategoricalDtype):
        cells = [pd.Series(pd.api.types.union_categoricals(cells))]
    return SampledCells(
        pd.concat(cells, ignore_index=True), np.concatenate([p.codes for p in parts])
    )


def _findings(model: Model, drawn: list[SampledCells], left_out: int) -> list[Finding | Chart]:
    names = [margin.column.name for margin in model.margins]
    share = copies([margin.codes for margin in model.margins], [item.codes for item in drawn])
    results: list[Finding | Chart] = [
        Finding(
            name="copies",
            value=share,
            better="lower",
            meaning="Share of the synthetic rows that equal a row of the original in every column.",
        ),
        Finding(
            name="withheld_values",
            value=sum(margin.withheld for margin in model.margins),
            meaning="Values of the original that too few persons hold to be drawn as they are.",
        ),
        Finding(
            name="left_out",
            value=left_out,
            meaning="Incomplete rows of the original that nothing was learnt from.",
        ),
    ]
    decided = [(name, index) for name, index in zip(names, model.values, strict=True) if index >= 0]
    if len(decided) > 1:
        index = [place for _, place in decided]
        labels = [name for name, _ in decided]
        matrix = model.correlation[np.ix_(index, index)].round(3).tolist()
        results.append(
            Chart(
                name="correlations",
                kind="heat",
                title="Correlations that rows are drawn with",
                data={"x": labels, "y": labels, "z": matrix},
                meaning="Between the normal variables behind the columns.",
            )
        )
    return results
