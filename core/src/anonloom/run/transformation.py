"""The regions of a release as a file, and their replay on new rows.

A region is what a class publishes on every axis. A new row falls into the first region whose cells
all cover it; a row that falls into none is suppressed. The result passes the same final check.
"""

from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anonloom.data.axis import Axis
from anonloom.data.builders import (
    Breaks,
    Calendar,
    FromFile,
    HierarchySource,
    LeafTable,
    Prefix,
    Quantiles,
    Tree,
    Widths,
    tree_rows,
)
from anonloom.data.classes import Classes
from anonloom.data.points import collapse
from anonloom.data.release import Release
from anonloom.data.schema import Column, Schema
from anonloom.data.table import Table
from anonloom.errors import DataError
from anonloom.params import Misfit, as_values, build
from anonloom.run.outcome import Outcome
from anonloom.spec.model import PipelineSpec

FORMAT = 1

_BUILDERS: dict[str, type[HierarchySource]] = {
    "rows": LeafTable,
    "breaks": Breaks,
    "widths": Widths,
    "prefix": Prefix,
    "calendar": Calendar,
}

#: Regions and points below which trying every pair is cheaper than dividing further.
_FEW = 256


def describe(outcome: Outcome, spec: PipelineSpec) -> dict[str, Any] | None:
    """Return the regions of a run as plain data; None when its stages made no classes."""
    classes, table = outcome.stages.classes, outcome.stages.prepared
    if classes is None or table is None:
        return None
    level = None
    if classes.regions is not None:
        lo, hi, level = classes.regions.lo, classes.regions.hi, classes.regions.level
    else:
        lo, hi = classes.extents(table.codes)
    cells = {
        axis.name: list(axis.publish(lo[:, at], hi[:, at], None if level is None else level[:, at]))
        for at, axis in enumerate(table.axes)
    }
    return {
        "format": FORMAT,
        "columns": [
            _column(column, table)
            for column in table.schema
            if column.published or column.role == "person"
        ],
        "privacy": [
            {"model": use.name, "parameters": as_values(use.method)} for use in spec.privacy
        ],
        "suppression": {"at_most": spec.suppression.at_most, "rows": spec.suppression.rows},
        "regions": cells,
    }


def _column(column: Column, table: Table) -> dict[str, Any]:
    data = as_values(attrs.evolve(column, hierarchy=None, publish=None, key=None))
    data["publish"] = column.form if column.role == "quasi" else None
    source = column.generalization
    if isinstance(source, FromFile):
        source = source.table()
    elif isinstance(source, Tree):
        source = LeafTable.checked(tree_rows(source.tree), "the tree")
    elif isinstance(source, Quantiles) and column.role == "quasi":
        axis = next(axis for axis in table.axes if axis.name == column.name)
        source = source.fitted(axis.values)
    named = {cls: name for name, cls in _BUILDERS.items()}
    if source is not None:
        data["hierarchy"] = {"build": named[type(source)], **as_values(source)}
    return data


@attrs.frozen(eq=False)
class Transformation:
    """Regions that were read from a file."""

    schema: Schema
    regions: dict[str, list[str | None]]
    privacy: list[dict[str, Any]]
    suppression: dict[str, Any]

    @classmethod
    def read(cls, data: Any) -> "Transformation":
        """Check the content of a `transformation.json`.

        Raises
        ------
        DataError
            When it is something else.
        """
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise DataError(f"this is no transformation of format {FORMAT}")
        try:
            schema = Schema(tuple(_read_column(column) for column in data["columns"]))
            regions = {name: list(data["regions"][name]) for name in schema.quasi}
            found = cls(schema, regions, list(data["privacy"]), dict(data["suppression"]))
        except (KeyError, TypeError, ValueError, Misfit) as error:
            raise DataError(f"the transformation is damaged ({type(error).__name__})") from None
        if len({len(cells) for cells in regions.values()}) > 1:
            raise DataError("the transformation is damaged: its regions have different lengths")
        return found

    def apply(self, table: Table) -> Release:
        """Publish new rows by the same regions; rows in no region are suppressed."""
        labels = self.assign(table)
        labels[table.incomplete] = -1
        classes = Classes.from_labels(labels)
        used = np.unique(labels[labels >= 0])
        cells = [
            np.array(self.regions[axis.name], object)[used] if len(used) else np.empty(0, object)
            for axis in table.axes
        ]
        return Release.from_cells(table, classes, cells, truthful=True)

    def assign(self, table: Table) -> NDArray[np.int64]:
        """Return the first region that covers each row, -1 for none."""
        points = collapse(table.codes)
        covers = [_Covers.of(axis, self.regions[axis.name]) for axis in table.axes]
        found = np.full(len(points), -1, np.int64)
        count = len(next(iter(self.regions.values()), []))
        if covers and count:
            everything = np.arange(count), np.arange(len(points))
            _match(covers, points.codes, *everything, found, depth=0)
        return found[points.point]


def _read_column(data: dict[str, Any]) -> Column:
    values = dict(data)
    hierarchy, publish = values.pop("hierarchy", None), values.pop("publish", None)
    # A value that was never seen lies in no region; it is not an error.
    values["unknown"] = "own-leaf" if hierarchy else "refuse"
    column = build(Column, {name: value for name, value in values.items() if value is not None})
    source = None
    if hierarchy is not None:
        parameters = {name: value for name, value in hierarchy.items() if name != "build"}
        source = build(_BUILDERS[hierarchy["build"]], parameters)
    return attrs.evolve(column, hierarchy=source, publish=publish)


@attrs.frozen(eq=False)
class _Covers:
    """What every region covers on one axis: an interval of codes, exact or with gaps."""

    lo: NDArray[np.int64]
    hi: NDArray[np.int64]
    gaps: dict[int, NDArray[np.bool_]]

    @classmethod
    def of(cls, axis: Axis, cells: list[str | None]) -> "_Covers":
        texts, inverse = pd.factorize(np.array(cells, object), use_na_sentinel=False)[::-1]
        lo = np.ones(len(texts), np.int64)
        hi = np.zeros(len(texts), np.int64)
        members: dict[int, NDArray[np.bool_]] = {}
        for at, text in enumerate(texts):
            cover = axis.read(None if pd.isna(text) else str(text))
            if cover is None or not len(cover.codes):
                continue
            lo[at], hi[at] = cover.codes[0], cover.codes[-1]
            if len(cover.codes) <= hi[at] - lo[at]:
                members[at] = np.isin(np.arange(axis.size), cover.codes)
        gaps = {
            region: members[text] for region, text in enumerate(inverse.tolist()) if text in members
        }
        return cls(lo[inverse], hi[inverse], gaps)

    def holds(self, regions: NDArray[np.int64], codes: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Whether each region covers each code, (regions x codes)."""
        inside = (codes >= self.lo[regions][:, None]) & (codes <= self.hi[regions][:, None])
        for at, region in enumerate(regions.tolist()):
            if region in self.gaps:
                inside[at] &= self.gaps[region][codes]
        return inside


def _match(
    covers: list[_Covers],
    codes: NDArray[np.int32],
    regions: NDArray[np.int64],
    points: NDArray[np.int64],
    found: NDArray[np.int64],
    depth: int,
) -> None:
    """Write the first covering region of every point into `found`, dividing the space."""
    if not len(regions) or not len(points):
        return
    axis = depth % len(covers)
    if len(regions) <= _FEW or len(points) <= _FEW or depth > 64:
        _match_all(covers, codes, regions, points, found)
        return
    place = codes[axis, points]
    middle = int(np.median(place))
    left = place <= middle
    cover = covers[axis]
    _match(covers, codes, regions[cover.lo[regions] <= middle], points[left], found, depth + 1)
    _match(covers, codes, regions[cover.hi[regions] > middle], points[~left], found, depth + 1)


def _match_all(
    covers: list[_Covers],
    codes: NDArray[np.int32],
    regions: NDArray[np.int64],
    points: NDArray[np.int64],
    found: NDArray[np.int64],
) -> None:
    step = max(1, 4_000_000 // len(regions))
    for start in range(0, len(points), step):
        some = points[start : start + step]
        held = np.ones((len(regions), len(some)), bool)
        for cover, column in zip(covers, codes, strict=True):
            held &= cover.holds(regions, column[some])
        hit = held.any(axis=0)
        found[some[hit]] = regions[held.argmax(axis=0)[hit]]
