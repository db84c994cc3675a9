"""The classes of a release as a file, which a package can replay on new rows.

What the file says of a class is the smallest and the largest code of its rows and, where the method
assigned it a part of space, that region. A public file says less: the cells that the release shows,
and nothing that they do not tell.
"""

from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom import Classes, Column, Outcome, Release, Table
from anonloom.data import Axis
from anonloom.hierarchies import (
    Breaks,
    Calendar,
    FromFile,
    HierarchySource,
    LeafTable,
    Prefix,
    Quantiles,
    Tree,
    Widths,
)
from anonloom.params import as_values
from anonloom.spec import PipelineSpec
from anonloom_runner.published_cells import describe_cells, published_breaks

__all__ = [
    "HIERARCHY_BUILDERS",
    "TRANSFORMATION_FORMAT",
    "describe_axis",
    "describe_column",
]

#: Format of the file.
#: 2: starred rows lose their values; regions only where a method assigned them; groups by label.
TRANSFORMATION_FORMAT = 2

#: How the file names the ways to build a hierarchy.
HIERARCHY_BUILDERS: dict[str, type[HierarchySource]] = {
    "rows": LeafTable,
    "breaks": Breaks,
    "widths": Widths,
    "prefix": Prefix,
    "calendar": Calendar,
}


def describe(outcome: Outcome, spec: PipelineSpec) -> dict[str, Any] | None:
    """Return the classes of a run as plain data.

    None when its stages made no classes, or a mechanism changed cells: a replay would publish
    without that protection. None, too, when it is to be public and the cells do not tell what they
    cover: more than the cells is not for the public.
    """
    classes, table = outcome.collection.classes, outcome.collection.prepared
    if classes is None or table is None or not _replayable(spec, table):
        return None
    release = outcome.release
    regions: dict[str, Any] | None
    if spec.publish.transformation:
        regions = describe_cells(table, release)
        if regions is None:
            return None
    else:
        regions = {
            axis.name: describe_axis(axis, index, table, classes)
            for index, axis in enumerate(table.axes)
        }
    return {
        "format": TRANSFORMATION_FORMAT,
        "unit": spec.data.unit,
        "columns": [
            describe_column(column, table, release if spec.publish.transformation else None)
            for column in table.schema
            # Identifiers, too: new rows in which they come back are no persons.
            if column.is_published or column.role in ("person", "identifier")
        ],
        "privacy": [
            {"model": use.name, "parameters": as_values(use.method)} for use in spec.privacy
        ],
        "suppression": as_values(spec.suppression),
        "regions": regions,
    }


def _replayable(spec: PipelineSpec, table: Table) -> bool:
    """Whether the classes alone say how rows are published: no mechanism changed a cell."""
    declared = tuple(spec.data.schema)
    # A mechanism whose cells still cover the originals declares anew what it made coarser.
    return all(column in declared for column in table.schema) and all(
        use.method.truthful for use in spec.stages if use.runs_as == "mechanism"
    )


def describe_column(column: Column, table: Table, shown: Release | None) -> dict[str, Any]:
    """Describe a column; where `shown` is given, by nothing that this release does not show."""
    data = as_values(attrs.evolve(column, hierarchy=None, publish=None, key=None))
    data["publish"] = column.form if column.role == "quasi" else None
    source = column.generalization
    if isinstance(source, FromFile | Tree):
        source = source.table()
    elif isinstance(source, Quantiles) and shown is not None:
        source = published_breaks(source, column, table, shown)
    elif isinstance(source, Quantiles):
        source = source.breaks_over(table.encode_column(column.name).axis.values)
    if source is not None:
        named = {cls: name for name, cls in HIERARCHY_BUILDERS.items()}
        data["hierarchy"] = {"build": named[type(source)], **as_values(source)}
    return data


def describe_axis(axis: Axis, index: int, table: Table, classes: Classes) -> dict[str, Any]:
    """Extents (`least`, `most`) and regions (`lo`, `hi`) as places in a list of values.

    A list of values keeps the file small, and says what a place means without the original.
    """
    extents = classes.extents(table.codes[index : index + 1])
    ends = dict(zip(("least", "most"), (end[:, 0] for end in extents), strict=True))
    data: dict[str, Any] = {}
    if classes.regions is not None:
        ends |= {"lo": classes.regions.lo[:, index], "hi": classes.regions.hi[:, index]}
        if classes.regions.level is not None:
            data["level"] = classes.regions.level[:, index].tolist()
    if classes.published_regions is not None:
        ends |= {"least": ends["lo"], "most": ends["hi"]}
    used = np.unique(np.concatenate(list(ends.values())))
    members: list[NDArray[np.int32]] | None = None
    if axis.form == "set":
        if classes.published_regions is not None:
            # What was published is the whole region, whichever of its values occur in the class.
            ends_of = zip(ends["least"].tolist(), ends["most"].tolist(), strict=True)
            members = [np.arange(least, most + 1, dtype=np.int32) for least, most in ends_of]
        else:
            members = [
                np.unique(table.codes[index][classes.members(c)]) for c in range(len(classes))
            ]
        used = np.unique(np.concatenate([used, *members]))
        data["members"] = [np.searchsorted(used, codes).tolist() for codes in members]
    values: list[Any] = axis.texts(used)
    if axis.type == "number":
        # As numbers, so that no digit depends on how a text is read.
        values = [None if code == axis.missing else float(axis.values[code]) for code in used]
    places = {name: np.searchsorted(used, end).tolist() for name, end in ends.items()}
    return {"values": values, **places, **data}
