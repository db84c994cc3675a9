"""Original, release and the release before sampling as cells of the same columns."""

from collections.abc import Sequence

import attrs
import numpy as np

from anonloom import AuditInput, Release, Table, short_repr
from anonloom.typing import FloatArray, IntArray
from anonloom_columns import Visible
from anonloom_linkage.aligned_columns import AlignedColumn, Cells, align_columns, shared_columns

ORIGINAL, RELEASE, BEFORE = range(3)

ROLES = frozenset({"quasi", "sensitive", "label", "other"})
#: A category with more values than this, and than half of the rows, is a text and not compared.
FEW_VALUES = 50


@short_repr
@attrs.frozen(eq=False)
class Tables:
    """What is compared.

    Attributes
    ----------
    columns
        The columns that all tables show, by name.
    sizes
        Rows of every table.
    weights
        For every table how many rows of the original each row stands for; None for one.
    names
        What the tables are called in charts.
    notes
        Which columns are not compared.
    shown
        What the release shows of every column.
    """

    columns: dict[str, AlignedColumn]
    sizes: tuple[int, ...]
    weights: tuple[FloatArray | None, ...]
    names: tuple[str, ...]
    notes: tuple[str, ...]
    shown: dict[str, Visible]

    @classmethod
    def of(cls, case: AuditInput, scaled: bool) -> "Tables":
        """Read the tables of a case."""
        original, release, before = case.original, case.release, case.before_sampling
        assert original is not None
        others = [release] if before is None else [release, before]
        shared = shared_columns(original, others, ROLES)
        texts = [name for name in shared if _is_text(original, name)]
        columns = align_columns(original, others, [name for name in shared if name not in texts])
        absent = [
            column.name
            for column in original.schema
            if column.role in ROLES and column.name not in shared
        ]
        return cls(
            columns={column.name: column for column in columns},
            sizes=(len(original), *(len(other) for other in others)),
            weights=weights_of(original, release, before)
            if scaled
            else (None,) * (1 + len(others)),
            names=("original", "anonymized")
            if before is None
            else ("original", "sampled", "anonymized"),
            notes=(
                *_not_compared(texts, "nearly every row has its own value"),
                *_not_compared(absent, "the release lacks them"),
            ),
            shown={column.name: _visible_values(column, release) for column in columns},
        )

    def cells(self, name: str, side: int) -> Cells:
        """Cell of every row of one table."""
        return self.columns[name].sides[side]

    @property
    def drawing_order(self) -> tuple[int, ...]:
        """The tables in the order in which they were made."""
        return (ORIGINAL, RELEASE) if len(self.sizes) == 2 else (ORIGINAL, BEFORE, RELEASE)


def _visible_values(column: AlignedColumn, release: Release) -> Visible:
    """Read what the release shows; a sensitive value may be written there in another case."""
    shown = Visible.of(column.axis, release.frame[column.name])
    single = np.unique(column.sides[RELEASE])
    values = single[single < column.axis.value_count].tolist()
    return attrs.evolve(shown, values=shown.values | frozenset(values))


def _is_text(original: Table, name: str) -> bool:
    axis = original.encode_column(name).axis
    return axis.type == "category" and axis.value_count > max(FEW_VALUES, len(original) // 2)


def _not_compared(names: Sequence[str], why: str) -> list[str]:
    names_text = ", ".join(f"'{name}'" for name in names)
    return [f"not compared, as {why}: {names_text}"] if names else []


def weights_of(
    original: Table, release: Release, before: Release | None
) -> tuple[FloatArray | None, ...]:
    """How many rows of the original a row of each table stands for.

    What suppression kept out is lost, and nobody stands for it. What a sampler left out is stood
    for by the rows of the same class that it kept; rows that never came to the stages (a sample
    that was drawn first, a table of another size) by all rows alike.
    """
    whole = release if before is None else before
    made = len(whole) + whole.dropped
    each = len(original) / made if made else 1.0
    if before is None:
        return None, np.full(len(release), each)
    return None, each * _rows_stood_for(release, before), np.full(len(before), each)


def _rows_stood_for(release: Release, before: Release) -> FloatArray:
    """Rows before sampling over rows after it, of every row's class."""
    overall = np.full(len(release), len(before) / max(len(release) + release.dropped, 1))
    if release.classes is None or before.classes is None:
        return overall
    inside = release.classes >= 0
    after = _sizes(release.classes)
    earlier = np.zeros_like(after)
    result = _sizes(before.classes)[: len(after)]
    earlier[: len(result)] = result
    if (after > earlier).any():
        # They are numbered otherwise.
        return overall
    ratio = np.divide(earlier, after, out=np.zeros(len(after)), where=after > 0)
    # Classes that were withheld after sampling are among the suppressed now.
    overall[inside] = ratio[release.classes[inside]]
    return overall


def _sizes(classes: IntArray) -> IntArray:
    return np.bincount(classes[classes >= 0]).astype(np.int64)
