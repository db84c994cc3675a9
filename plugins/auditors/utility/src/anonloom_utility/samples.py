"""Original and release side by side, as vectors in one representation, from samples of both."""

from typing import Any

import attrs
import numpy as np

from anonloom import AuditInput, Release, StageContext, Table, short_repr
from anonloom.lazy import lazy_module
from anonloom.typing import IntArray
from anonloom_linkage.aligned_columns import AlignedColumn, align_columns, shared_columns
from anonloom_linkage.features import Encoding, column_features

sparse = lazy_module("scipy.sparse")

#: One sparse row of features per row of a table; scipy has no types.
Rows = Any

ROLES = frozenset({"quasi", "sensitive", "label", "other"})

#: Rows of each table that are looked at; shares are then known to half a percent.
MOST_ROWS = 10_000
#: A category with more values than this, and than half of the rows, is a text and not compared.
FEW_VALUES = 50
#: Values of a category that have a feature of their own.
MOST_VALUES = 64

ORIGINAL, RELEASE, SOURCES, CONTROL = range(4)


@attrs.frozen(eq=False)
class Feature:
    """The features of one column, those of the rows of every table."""

    name: str
    number: bool
    rows: tuple[Rows, ...]


@short_repr
@attrs.frozen(eq=False)
class SampledTables:
    """What the proxies are computed from.

    The tables are: a sample of the original, a sample of the release, the rows of the original that
    the latter came from (those of the former where that is not known), and the control table.

    Attributes
    ----------
    columns
        The columns of all tables in one representation.
    features
        The features of the columns that vary.
    rows
        Which rows of the original the first table has.
    truth
        Row of the original for every row of the second, -1 for none; None when known of none.
    labels
        Columns that are there to be predicted.
    assumptions
        What the figures assume, for the findings.
    """

    columns: tuple[AlignedColumn, ...]
    features: tuple[Feature, ...]
    rows: IntArray
    truth: IntArray | None
    labels: tuple[str, ...]
    assumptions: tuple[str, ...]

    @classmethod
    def of(
        cls, case: AuditInput, context: StageContext, predict: tuple[str, ...] | None = None
    ) -> "SampledTables":
        """Draw the samples and encode them; columns that only one table has are left out."""
        assert case.original is not None
        rows = _sample_rows(len(case.original), context)
        original = case.original.take(rows)
        of_release = _sample_rows(len(case.release), context)
        truth = case.truth if case.truth is not None else case.release.rows_in(case.original)
        truth = None if truth is None else np.asarray(truth)[of_release]
        if truth is not None and not (truth >= 0).any():
            truth = None
        sources = rows if truth is None else np.maximum(truth, 0)
        tables: list[Release | Table] = [
            case.release.take(of_release),
            case.original.take(sources),
        ]
        if case.control is not None:
            tables.append(case.control.take(_sample_rows(len(case.control), context)))
        names = list(shared_columns(original, tables, ROLES))
        texts = [name for name in names if _is_text(original, name)]
        columns = align_columns(original, tables, [name for name in names if name not in texts])
        encoding = Encoding(most_values=MOST_VALUES)
        features = []
        for column in columns:
            table, sides = column_features(column, encoding, (ORIGINAL,))
            if table.shape[1]:
                spread_out = sparse.csr_array(table)
                number = column.type == "number" and table.shape[1] == 1
                features.append(
                    Feature(column.name, number, tuple(spread_out[side] for side in sides))
                )
        labels = original.schema.names_with_role("label") if predict is None else predict
        return cls(
            columns,
            tuple(features),
            rows,
            truth,
            labels,
            _comparison_assumptions(case, names, texts),
        )

    def vectors(self, side: int, without: str = "") -> Rows:
        """Rows of one table over all columns but one."""
        kept = [feature.rows[side] for feature in self.features if feature.name != without]
        nothing = sparse.csr_array((len(self.columns[0].sides[side]), 0))
        return sparse.hstack(kept or [nothing], format="csr")


def _sample_rows(size: int, context: StageContext) -> IntArray:
    if size <= MOST_ROWS:
        return np.arange(size)
    return np.sort(context.rng.choice(size, MOST_ROWS, replace=False))


def _is_text(original: Table, name: str) -> bool:
    axis = original.encode_column(name).axis
    return axis.type == "category" and axis.value_count > max(FEW_VALUES, len(original) // 2)


def _comparison_assumptions(
    case: AuditInput, names: list[str], texts: list[str]
) -> tuple[str, ...]:
    """Say which columns are not compared, and whether samples are."""
    assert case.original is not None
    notes = []
    visible = case.original.schema.names_with_role("quasi", "sensitive", "label", "other")
    absent = [name for name in visible if name not in names]
    for some, why in (
        (texts, "nearly every row has its own value"),
        (absent, "the release lacks them"),
    ):
        if some:
            listed = ", ".join(f"'{name}'" for name in some)
            notes.append(f"not compared, as {why}: {listed}")
    if max(len(case.original), len(case.release)) > MOST_ROWS:
        notes.append(f"from random samples of {MOST_ROWS} rows")
    return tuple(notes)
