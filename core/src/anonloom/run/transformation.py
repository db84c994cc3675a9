"""The regions of a release as a file, and their replay on new rows.

A region is the part of the space that a method assigned to a class, or the extent of the class
where it assigned none. A new row belongs to the first region that holds it; a row that no region
holds is suppressed. A class publishes the smallest cells of its columns' forms that cover what the
earlier release published and the new rows: the same rows give the same cells again.
"""

from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anonloom.brief import short_repr
from anonloom.data.axis import Axis
from anonloom.data.builders import Breaks, Calendar, Prefix, Quantiles, Widths
from anonloom.data.cells import MOMENTS
from anonloom.data.classes import Classes
from anonloom.data.coding import Coded, code
from anonloom.data.points import collapse
from anonloom.data.release import Release
from anonloom.data.schema import Column, Schema
from anonloom.data.table import Table
from anonloom.data.text import normalize_column
from anonloom.data.unit import Unit
from anonloom.data.written import FromFile, HierarchySource, LeafTable, Tree
from anonloom.errors import DataError
from anonloom.params import Misfit, as_values, build
from anonloom.run.outcome import Outcome
from anonloom.run.regions import first_regions
from anonloom.spec.model import PipelineSpec

FORMAT = 1

_BUILDERS: dict[str, type[HierarchySource]] = {
    "rows": LeafTable,
    "breaks": Breaks,
    "widths": Widths,
    "prefix": Prefix,
    "calendar": Calendar,
}

_ENDS = ("lo", "hi", "least", "most")
_KEYS = frozenset({"columns", "regions", "privacy", "suppression"})


def describe(outcome: Outcome, spec: PipelineSpec) -> dict[str, Any] | None:
    """Return the regions of a run as plain data.

    None when its stages made no classes, or a mechanism changed cells: a replay would publish
    without that protection.
    """
    classes, table = outcome.stages.classes, outcome.stages.prepared
    if classes is None or table is None or not outcome.stages.replayable:
        return None
    if spec.publish.transformation:
        labels = outcome.release.classes
        if labels is None:
            return None
        # What is public speaks of published classes only, not of withheld ones.
        classes = classes.suppress(~np.isin(np.arange(len(classes)), labels))
    return {
        "format": FORMAT,
        "unit": spec.data.unit,
        "columns": [
            _column(column, table)
            for column in table.schema
            # Identifiers, too: new rows in which they come back are no persons.
            if column.published or column.role in ("person", "identifier")
        ],
        "privacy": [
            {"model": use.name, "parameters": as_values(use.method)} for use in spec.privacy
        ],
        "suppression": {"at_most": spec.suppression.at_most, "rows": spec.suppression.rows},
        "regions": {
            axis.name: _described(axis, at, table, classes) for at, axis in enumerate(table.axes)
        },
    }


def _column(column: Column, table: Table) -> dict[str, Any]:
    data = as_values(attrs.evolve(column, hierarchy=None, publish=None, key=None))
    data["publish"] = column.form if column.role == "quasi" else None
    source = column.generalization
    if isinstance(source, FromFile | Tree):
        source = source.table()
    elif isinstance(source, Quantiles):
        source = source.fitted(table.coded(column.name).axis.values)
    if source is not None:
        named = {cls: name for name, cls in _BUILDERS.items()}
        data["hierarchy"] = {"build": named[type(source)], **as_values(source)}
    return data


def _described(axis: Axis, at: int, table: Table, classes: Classes) -> dict[str, Any]:
    """Regions (`lo`, `hi`) and what was published (`least`, `most`) as places in a list of values.

    A list of values keeps the file small, and says what a place means without the original.
    """
    extents = classes.extents(table.codes[at : at + 1])
    ends = dict(zip(("least", "most"), (end[:, 0] for end in extents), strict=True))
    ends |= {"lo": ends["least"], "hi": ends["most"]}
    data: dict[str, Any] = {}
    if classes.regions is not None:
        ends |= {"lo": classes.regions.lo[:, at], "hi": classes.regions.hi[:, at]}
        if classes.regions.level is not None:
            data["level"] = classes.regions.level[:, at].tolist()
    if classes.global_recoding:
        ends |= {"least": ends["lo"], "most": ends["hi"]}
    used = np.unique(np.concatenate(list(ends.values())))
    members: list[NDArray[np.int32]] | None = None
    if axis.form == "set":
        if classes.global_recoding:
            # What was published is the whole region, whichever of its values occur in the class.
            ends_of = zip(ends["least"].tolist(), ends["most"].tolist(), strict=True)
            members = [np.arange(least, most + 1, dtype=np.int32) for least, most in ends_of]
        else:
            members = [np.unique(table.codes[at][classes.members(c)]) for c in range(len(classes))]
        used = np.unique(np.concatenate([used, *members]))
        data["members"] = [np.searchsorted(used, codes).tolist() for codes in members]
    values: list[Any] = axis.texts(used)
    if axis.type == "number":
        # As numbers, so that no digit depends on how a text is read.
        values = [None if code == axis.missing else float(axis.values[code]) for code in used]
    places = {name: np.searchsorted(used, end).tolist() for name, end in ends.items()}
    return {"values": values, **places, **data}


@short_repr
@attrs.frozen(eq=False)
class Transformation:
    """Regions that were read from a file."""

    schema: Schema
    regions: dict[str, dict[str, list[Any]]]
    privacy: list[dict[str, Any]]
    suppression: dict[str, Any]
    unit: Unit = "person"

    @classmethod
    def read(cls, data: Any) -> "Transformation":
        """Check the content of a `transformation.json`.

        Raises
        ------
        DataError
            When it is something else.
        """
        if not isinstance(data, dict) or data.get("format") != FORMAT or not data.keys() >= _KEYS:
            raise DataError(f"this is no transformation of format {FORMAT}")
        try:
            schema = Schema(tuple(_read_column(column) for column in data["columns"]))
            regions = {
                name: _read_region(data["regions"][name], schema[name]) for name in schema.quasi
            }
            lengths = {len(region[end]) for region in regions.values() for end in _ENDS}
            privacy = [_read_model(item) for item in data["privacy"]]
            suppression = _read_suppression(data["suppression"])
            found = cls(schema, regions, privacy, suppression, _read_unit(data))
        except (AttributeError, KeyError, TypeError, ValueError, OverflowError, Misfit) as error:
            raise DataError(f"the transformation is damaged ({type(error).__name__})") from None
        if not schema.quasi:
            raise DataError("the transformation is damaged: it has no quasi-identifier")
        if len(lengths) > 1:
            raise DataError("the transformation is damaged: its regions have different lengths")
        return found

    def apply(self, table: Table) -> tuple[Table, Release]:
        """Publish new rows by the same regions; rows in no region are suppressed.

        Returns
        -------
        table
            The new rows on axes that also hold the values of the regions.
        release
            What they publish.
        """
        replays = [_Replay.of(table, name, self.regions[name]) for name in table.schema.quasi]
        table = table.recoded([replay.coded for replay in replays])
        points = collapse(table.codes)
        found = first_regions(points.codes, [(replay.lo, replay.hi) for replay in replays])
        labels = found[points.point]
        labels[table.incomplete] = -1
        classes = Classes.from_labels(labels)
        used = np.unique(labels[labels >= 0])
        cells = [replay.cells(classes, used) for replay in replays]
        return table, Release.from_cells(table, classes, cells, truthful=True)


def _read_model(data: dict[str, Any]) -> dict[str, Any]:
    return {"model": str(data["model"]), "parameters": dict(data["parameters"])}


def _read_unit(data: dict[str, Any]) -> Unit:
    """Return what is counted; files of earlier versions counted persons without saying so."""
    unit = data.get("unit", "person")
    if unit == "record":
        return "record"
    if unit != "person":
        raise ValueError("a unit that is none")
    return "person"


def _read_suppression(data: dict[str, Any]) -> dict[str, Any]:
    limit, rows = data["at_most"], data["rows"]
    # Not a number is larger than no limit, and no limit would be exceeded.
    if type(limit) not in (int, float) or not 0 <= limit <= 1 or rows not in ("star", "drop"):
        raise ValueError("a limit that is none")
    return {"at_most": limit, "rows": rows}


def _read_region(data: dict[str, Any], column: Column) -> dict[str, list[Any]]:
    """Check that every value is one of the column, and every place one of the list of values."""
    values, ends = _list(data["values"]), {end: _list(data[end]) for end in _ENDS}
    _as_series(values, column)
    beside = {
        name: _list(data[name]) for name in ("members", "level") if data.get(name) is not None
    }
    if any(len(given) != len(ends["lo"]) for given in beside.values()):
        raise ValueError("not one for every region")
    if column.form == "set" and "members" not in beside:
        raise ValueError("no members")
    members = [_list(places) for places in beside.get("members", ())]
    places = [place for some in (*ends.values(), *members) for place in some]
    if not all(type(place) is int and 0 <= place < len(values) for place in places):
        raise ValueError("a place outside the list of values")
    if not all(type(level) is int and -1 <= level < 128 for level in beside.get("level", ())):
        raise ValueError("a level that is none")
    return dict(data)


def _list(value: Any) -> list[Any]:
    """Return a list; JSON's texts and mappings have a length and elements, too."""
    if not isinstance(value, list):
        raise TypeError("no list")
    return value


def _as_series(values: list[Any], column: Column) -> Any:
    """Return values of a region as the column holds them, missing ones as missing.

    Raises
    ------
    ValueError, TypeError
        When they are no values of such a column.
    """
    wanted = (int, float) if column.type == "number" else str
    if not all(value is None or isinstance(value, wanted) for value in values):
        raise TypeError(f"no {column.type}")
    ends = pd.Series(values, dtype=object)
    if column.type == "number":
        ends = ends.astype(float)
        if np.isinf(ends).any():
            raise ValueError("no number")
    elif column.type in MOMENTS:
        form = "%Y-%m-%d %H:%M:%S" if column.type == "time" else "%Y-%m-%d"
        ends = pd.to_datetime(ends, format=form)
    return ends


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
        if isinstance(source, LeafTable):
            source = LeafTable.checked(source.rows, "its hierarchy")
    return attrs.evolve(column, hierarchy=source, publish=publish)


@short_repr
@attrs.frozen(eq=False)
class _Replay:
    """One column of new rows, on an axis that also holds the values of the regions."""

    coded: Coded
    lo: NDArray[np.int64]
    hi: NDArray[np.int64]
    least: NDArray[np.int64]
    most: NDArray[np.int64]
    level: NDArray[np.int64] | None
    members: list[NDArray[np.int64]] | None

    @classmethod
    def of(cls, table: Table, name: str, region: dict[str, list[Any]]) -> "_Replay":
        column = table.schema[name]
        new = table.column(name)
        ends = _as_series(region["values"], column)
        if column.type in MOMENTS:
            ends = ends.astype(new.dtype)
        elif column.type != "number":
            new = new.astype(object)
            # An earlier version may have written them as they were in the data.
            ends = normalize_column(ends)[0]
        coded = code(pd.concat([new, ends], ignore_index=True).rename(name), column)
        of_ends = coded.codes[len(new) :].astype(np.int64)
        lo, hi, least, most = (of_ends[np.asarray(region[end], np.int64)] for end in _ENDS)
        level = None
        if region.get("level") is not None:
            level = np.asarray(region["level"], np.int64)
            lo, hi = _node_ends(coded.axis, lo, hi, level)
        members = None
        if coded.axis.form == "set":
            members = [of_ends[np.asarray(places, np.int64)] for places in region["members"]]
        return cls(Coded(coded.axis, coded.codes[: len(new)]), lo, hi, least, most, level, members)

    def cells(self, classes: Classes, used: NDArray[np.int64]) -> NDArray[np.object_]:
        """Return what every class publishes; `used` has the region of each."""
        axis, codes = self.coded.axis, self.coded.codes
        if self.members is not None:
            joined = [
                np.union1d(self.members[region], codes[classes.members(at)])
                for at, region in enumerate(used.tolist())
            ]
            return axis.publish_sets(joined)
        lo, hi = classes.extents(codes[None, :])
        lo = np.minimum(lo[:, 0], self.least[used])
        hi = np.maximum(hi[:, 0], self.most[used])
        return axis.publish(lo, hi, None if self.level is None else self.level[used])


def _node_ends(
    axis: Axis, lo: NDArray[np.int64], hi: NDArray[np.int64], level: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Widen regions that are nodes to all leaves that these nodes have among the new rows."""
    if axis.hierarchy is None:
        return lo, hi
    if level.max(initial=-1) >= len(axis.hierarchy.ancestors):
        raise DataError(
            f"the transformation is damaged: the hierarchy of column '{axis.name}' has "
            f"{len(axis.hierarchy.ancestors)} levels, and a region has a higher one"
        )
    known = (level >= 0) & (hi < axis.occurring)
    node = axis.node(lo[known], hi[known], level[known])
    lo, hi = lo.copy(), hi.copy()
    lo[known], hi[known] = axis.hierarchy.first[node], axis.hierarchy.last[node]
    return lo, hi
