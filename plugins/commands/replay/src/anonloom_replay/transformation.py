"""Classes that were read from a file, and their replay on new rows.

Every new row finds a class. It belongs to the first region that holds it; a row that none holds, or
any row where the method assigned no space, joins the class that it extends at the least loss. So
the regions are extended to all of the domain: the outermost reach to its ends, and what lies
between two belongs to the nearer one. Classes whose new rows the guard refuses are merged with
their nearest. A class publishes the smallest cells of its columns' forms that cover what the
earlier release published of it and the new rows.
"""

from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom import Classes, Guard, Release, Schema, Table, short_repr
from anonloom.errors import DataError
from anonloom.params import InvalidValue
from anonloom.spec import Suppression, Unit
from anonloom.typing import BoolArray, IntArray
from anonloom_columns import collapse
from anonloom_loss import hull, merge_until_admitted, nearest_to_rows
from anonloom_replay.columns import ReplayColumn
from anonloom_replay.file_format import (
    read_column,
    read_model,
    read_region,
    read_suppression,
    read_unit,
)
from anonloom_replay.regions import first_regions
from anonloom_runner.transformation import TRANSFORMATION_FORMAT

_KEYS = frozenset({"columns", "regions", "privacy", "suppression"})


@short_repr
@attrs.frozen(eq=False)
class Replay:
    """What new rows publish.

    Attributes
    ----------
    table
        The new rows on axes that also hold the values of the file.
    release
        What they publish.
    outside
        Complete rows that lie in no region of the earlier release.
    joined
        Rows that are in a class, inside its region or not.
    regions, reached, merged
        Classes of the file, those that have new rows, and how many classes were made of them.
    """

    table: Table
    release: Release
    outside: int
    joined: int
    regions: int
    reached: int
    merged: int


@attrs.frozen(eq=False)
class Transformation:
    """Classes that were read from a file."""

    schema: Schema
    regions: dict[str, dict[str, list[Any]]]
    privacy: list[dict[str, Any]]
    suppression: Suppression
    unit: Unit = "person"

    @classmethod
    def read(cls, data: Any) -> "Transformation":
        """Check the content of a `transformation.json`.

        Raises
        ------
        DataError
            When it is something else.
        """
        if (
            not isinstance(data, dict)
            or data.get("format") != TRANSFORMATION_FORMAT
            or not data.keys() >= _KEYS
        ):
            raise DataError(f"this is no transformation of format {TRANSFORMATION_FORMAT}")
        try:
            schema = Schema(tuple(read_column(column) for column in data["columns"]))
            regions = {
                name: read_region(data["regions"][name], schema[name]) for name in schema.quasi
            }
            privacy = [read_model(item) for item in data["privacy"]]
            rule = read_suppression(data["suppression"], schema)
            result = cls(schema, regions, privacy, rule, read_unit(data))
        except (
            AttributeError,
            KeyError,
            TypeError,
            ValueError,
            OverflowError,
            InvalidValue,
        ) as error:
            raise DataError(f"the transformation is damaged ({type(error).__name__})") from None
        if not schema.quasi:
            raise DataError("the transformation is damaged: it has no quasi-identifier")
        lengths = {
            len(region[name]) for region in regions.values() for name in region.keys() - {"values"}
        }
        if len(lengths) > 1:
            raise DataError("the transformation is damaged: its regions have different lengths")
        if lengths == {0}:
            raise DataError("the transformation is damaged: it has no class")
        return result

    def apply(self, table: Table, guard: Guard | None = None) -> Replay:
        """Publish new rows in the same classes, or in unions of them that the guard admits.

        Rows that miss what a column with `missing: suppress` demands are suppressed, and so are
        all rows where the guard refuses them as one class.
        """
        guard = Guard() if guard is None else guard
        columns = [ReplayColumn.of(table, name, self.regions[name]) for name in table.schema.quasi]
        table = table.with_quasi([column.coded for column in columns])
        points = collapse(table.codes)
        inside, joined = _find_classes(columns, points.codes, guard.demanded)
        labels = joined[points.point]
        labels[table.incomplete] = -1
        classes = Classes.from_labels(labels)
        used = np.unique(labels[labels >= 0])
        lo, hi = classes.extents(table.codes)
        for index, column in enumerate(columns):
            lo[:, index] = np.minimum(lo[:, index], column.least[used])
            hi[:, index] = np.maximum(hi[:, index], column.most[used])
        merged = merge_until_admitted(table, classes, guard, extents=(lo, hi))
        # The class that each class of the file has become; -1 where it is suppressed.
        group = merged.labels(len(table))[classes.rows[classes.starts]]
        kept = group >= 0
        used, group = used[kept], group[kept]
        first, last = hull(group, lo[kept], hi[kept])
        cells = [
            column.cells(first[:, index], last[:, index], merged, used, group)
            for index, column in enumerate(columns)
        ]
        return Replay(
            table=table,
            release=Release.from_cells(table, merged, cells, truthful=True),
            outside=int((~inside[points.point] & ~table.incomplete).sum()),
            joined=len(merged.rows),
            regions=len(columns[0].least),
            reached=len(classes),
            merged=len(merged),
        )


def _find_classes(
    columns: list[ReplayColumn], codes: NDArray[np.int32], company: int
) -> tuple[BoolArray, IntArray]:
    """Return which points lie in a region, and the class of every point."""
    least = np.stack([column.least for column in columns])
    most = np.stack([column.most for column in columns])
    if all(column.region is not None for column in columns):
        result = first_regions(codes, [column.region for column in columns if column.region])
        near = np.flatnonzero(result < 0)
    else:
        # Classes without regions may overlap: which of them holds a row is not the question.
        result = first_regions(codes, list(zip(least, most, strict=True)))
        near = np.arange(codes.shape[1])
    inside = result >= 0
    axes = [column.coded.axis for column in columns]
    result[near] = nearest_to_rows(axes, codes[:, near], least, most, company)
    return inside, result
