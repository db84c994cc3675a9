"""The classes of a release as a file, and their replay on new rows.

What the file says of a class is the smallest and the largest code of its rows and, where the method
assigned it a part of space, that region. A public file says less: the cells that the release shows,
and nothing that they do not tell.

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
import pandas as pd
from numpy.typing import NDArray

from anonloom._representation import short_repr
from anonloom._run.merge import hull, merge_until_admitted
from anonloom._run.nearest import nearest_to_rows
from anonloom._run.outcome import Outcome
from anonloom._run.published_cells import describe_cells, shown_breaks
from anonloom._run.regions import first_regions
from anonloom._spec.model import PipelineSpec, Suppression
from anonloom.cells import MOMENTS
from anonloom.data._axis import Axis
from anonloom.data._classes import Classes
from anonloom.data._coding import EncodedColumn, encode
from anonloom.data._distinct_rows import collapse
from anonloom.data._hierarchy import STAR
from anonloom.data._hierarchy_builders import Breaks, Calendar, Prefix, Quantiles, Widths
from anonloom.data._hierarchy_files import FromFile, HierarchySource, LeafTable, Tree
from anonloom.data._release import Release
from anonloom.data._schema import Column, Schema
from anonloom.data._table import Table
from anonloom.data._text import normalize_column
from anonloom.data._unit import Unit
from anonloom.errors import DataError
from anonloom.kinds._guard import Guard
from anonloom.params import InvalidValue, as_values, build

#: 2: starred rows lose their values; regions only where a method assigned them; groups by label.
FORMAT = 2

_BUILDERS: dict[str, type[HierarchySource]] = {
    "rows": LeafTable,
    "breaks": Breaks,
    "widths": Widths,
    "prefix": Prefix,
    "calendar": Calendar,
}

_EXTENT = ("least", "most")
_REGION = ("lo", "hi")
_KEYS = frozenset({"columns", "regions", "privacy", "suppression"})
_MOMENT_FORMS = {"date": "%Y-%m-%d", "time": "%Y-%m-%d %H:%M:%S"}


def describe(outcome: Outcome, spec: PipelineSpec) -> dict[str, Any] | None:
    """Return the classes of a run as plain data.

    None when its stages made no classes, or a mechanism changed cells: a replay would publish
    without that protection. None, too, when it is to be public and the cells do not tell what they
    cover: more than the cells is not for the public.
    """
    classes, table = outcome.collection.classes, outcome.collection.prepared
    if classes is None or table is None or not outcome.stages.replayable:
        return None
    release = outcome.release
    regions: dict[str, Any] | None
    if spec.publish.transformation:
        regions = describe_cells(table, release)
        if regions is None:
            return None
    else:
        regions = {
            axis.name: _described(axis, index, table, classes)
            for index, axis in enumerate(table.axes)
        }
    return {
        "format": FORMAT,
        "unit": spec.data.unit,
        "columns": [
            _column(column, table, release if spec.publish.transformation else None)
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


def _column(column: Column, table: Table, shown: Release | None) -> dict[str, Any]:
    """Describe a column; where `shown` is given, by nothing that this release does not show."""
    data = as_values(attrs.evolve(column, hierarchy=None, publish=None, key=None))
    data["publish"] = column.form if column.role == "quasi" else None
    source = column.generalization
    if isinstance(source, FromFile | Tree):
        source = source.table()
    elif isinstance(source, Quantiles) and shown is not None:
        source = shown_breaks(source, column, table, shown)
    elif isinstance(source, Quantiles):
        source = source.breaks_over(table.encode_column(column.name).axis.values)
    if source is not None:
        named = {cls: name for name, cls in _BUILDERS.items()}
        data["hierarchy"] = {"build": named[type(source)], **as_values(source)}
    return data


def _described(axis: Axis, at: int, table: Table, classes: Classes) -> dict[str, Any]:
    """Extents (`least`, `most`) and regions (`lo`, `hi`) as places in a list of values.

    A list of values keeps the file small, and says what a place means without the original.
    """
    extents = classes.extents(table.codes[at : at + 1])
    ends = dict(zip(_EXTENT, (end[:, 0] for end in extents), strict=True))
    data: dict[str, Any] = {}
    if classes.regions is not None:
        ends |= {"lo": classes.regions.lo[:, at], "hi": classes.regions.hi[:, at]}
        if classes.regions.level is not None:
            data["level"] = classes.regions.level[:, at].tolist()
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
class Replayed:
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
        if not isinstance(data, dict) or data.get("format") != FORMAT or not data.keys() >= _KEYS:
            raise DataError(f"this is no transformation of format {FORMAT}")
        try:
            schema = Schema(tuple(_read_column(column) for column in data["columns"]))
            regions = {
                name: _read_region(data["regions"][name], schema[name]) for name in schema.quasi
            }
            privacy = [_read_model(item) for item in data["privacy"]]
            rule = _read_suppression(data["suppression"], schema)
            result = cls(schema, regions, privacy, rule, _read_unit(data))
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

    def apply(self, table: Table, guard: Guard | None = None) -> Replayed:
        """Publish new rows in the same classes, or in unions of them that the guard admits.

        Rows that miss what a column with `missing: suppress` demands are suppressed, and so are
        all rows where the guard refuses them as one class.
        """
        guard = Guard() if guard is None else guard
        replays = [_Replay.of(table, name, self.regions[name]) for name in table.schema.quasi]
        table = table.with_quasi([replay.coded for replay in replays])
        points = collapse(table.codes)
        inside, joined = _joined(replays, points.codes, guard.demanded)
        labels = joined[points.point]
        labels[table.incomplete] = -1
        classes = Classes.from_labels(labels)
        used = np.unique(labels[labels >= 0])
        lo, hi = classes.extents(table.codes)
        for index, replay in enumerate(replays):
            lo[:, index] = np.minimum(lo[:, index], replay.least[used])
            hi[:, index] = np.maximum(hi[:, index], replay.most[used])
        merged = merge_until_admitted(table, classes, guard, extents=(lo, hi))
        # The class that each class of the file has become; -1 where it is suppressed.
        group = merged.labels(len(table))[classes.rows[classes.starts]]
        kept = group >= 0
        used, group = used[kept], group[kept]
        first, last = hull(group, lo[kept], hi[kept])
        cells = [
            replay.cells(first[:, index], last[:, index], merged, used, group)
            for index, replay in enumerate(replays)
        ]
        return Replayed(
            table=table,
            release=Release.from_cells(table, merged, cells, truthful=True),
            outside=int((~inside[points.point] & ~table.incomplete).sum()),
            joined=len(merged.rows),
            regions=len(replays[0].least),
            reached=len(classes),
            merged=len(merged),
        )


def _joined(
    replays: "list[_Replay]", codes: NDArray[np.int32], company: int
) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Return which points lie in a region, and the class of every point."""
    least = np.stack([replay.least for replay in replays])
    most = np.stack([replay.most for replay in replays])
    if all(replay.region is not None for replay in replays):
        result = first_regions(codes, [replay.region for replay in replays if replay.region])
        near = np.flatnonzero(result < 0)
    else:
        # Classes without regions may overlap: which of them holds a row is not the question.
        result = first_regions(codes, list(zip(least, most, strict=True)))
        near = np.arange(codes.shape[1])
    inside = result >= 0
    axes = [replay.coded.axis for replay in replays]
    result[near] = nearest_to_rows(axes, codes[:, near], least, most, company)
    return inside, result


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


def _read_suppression(data: dict[str, Any], schema: Schema) -> Suppression:
    if data.keys() != {"at_most", "rows", "keep"}:
        raise ValueError("a rule that is not whole")
    rule: Suppression = build(Suppression, data)
    if not set(rule.keep) <= set(schema.names_with_role("label", "other")):
        raise ValueError("a column that a starred row cannot keep")
    return rule


def _read_region(data: dict[str, Any], column: Column) -> dict[str, list[Any]]:
    """Check that every value is one of the column, and every place one of the list of values."""
    values, extent = _list(data["values"]), [_list(data[end]) for end in _EXTENT]
    _as_series(values, column)
    count = len(extent[0])
    beside = {
        name: _list(data[name])
        for name in (*_REGION, "node", "level", "members")
        if data.get(name) is not None
    }
    if any(len(given) != count for given in (*extent, *beside.values())):
        raise ValueError("not one for every region")
    if ("lo" in beside) != ("hi" in beside):
        raise ValueError("half a region")
    nodes = beside.get("node", [None] * count)
    if not all(node is None or type(node) is str for node in nodes):
        raise ValueError("a group without a label")
    # A star covers everything, whatever the values.
    starred = [node == STAR for node in nodes]
    members = [_list(some) for some in beside.get("members", ())]
    if column.form == "set" and not (
        members and all(some or star for some, star in zip(members, starred, strict=True))
    ):
        raise ValueError("no members")
    places = [
        place
        for end in extent
        for place, star in zip(end, starred, strict=True)
        if not (star and place is None)
    ]
    places += [
        place for some in (*(beside.get(end, []) for end in _REGION), *members) for place in some
    ]
    if not all(type(place) is int and 0 <= place < len(values) for place in places):
        raise ValueError("a place outside the list of values")
    if not all(type(level) is int and -1 <= level < 128 for level in beside.get("level", ())):
        raise ValueError("a level that is none")
    return {"values": values, **dict(zip(_EXTENT, extent, strict=True)), **beside}


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
    # Exactly these: true is an integer to Python.
    wanted = (int, float) if column.type == "number" else (str,)
    if not all(value is None or type(value) in wanted for value in values):
        raise TypeError(f"no {column.type}")
    ends = pd.Series(values, dtype=object)
    if column.type == "number":
        ends = ends.astype(float)
        if not np.isfinite(ends[[value is not None for value in values]]).all():
            raise ValueError("no number")
    elif column.type in MOMENTS:
        ends = pd.to_datetime(ends, format=_MOMENT_FORMS[column.type])
    return ends


def _read_column(data: dict[str, Any]) -> Column:
    values = dict(data)
    hierarchy, publish = values.pop("hierarchy", None), values.pop("publish", None)
    # A value that was never seen is not an error: it is a leaf below the root.
    values["unknown"] = "own-leaf" if hierarchy else "refuse"
    column = build(Column, {name: value for name, value in values.items() if value is not None})
    source = None
    if hierarchy is not None:
        parameters = {name: value for name, value in hierarchy.items() if name != "build"}
        source = build(_BUILDERS[hierarchy["build"]], parameters)
        if isinstance(source, LeafTable):
            source = LeafTable.from_rows(source.rows, "its hierarchy")
    return attrs.evolve(column, hierarchy=source, publish=publish)


@short_repr
@attrs.frozen(eq=False)
class _Replay:
    """One column of new rows, on an axis that also holds the values of the file.

    Attributes
    ----------
    least, most
        First and last code of what every class of the file published.
    region
        First and last code of every class's region, where the method assigned one.
    level
        Level of the hierarchy that a class publishes at least; negative for none.
    star
        Classes that published `*`.
    members
        Of a set, the codes that every class published.
    """

    coded: EncodedColumn
    least: NDArray[np.int64]
    most: NDArray[np.int64]
    region: tuple[NDArray[np.int64], NDArray[np.int64]] | None
    level: NDArray[np.int64]
    star: NDArray[np.bool_]
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
        coded = encode(pd.concat([new, ends], ignore_index=True).rename(name), column)
        axis, of_ends = coded.axis, coded.codes[len(new) :].astype(np.int64)
        nodes = region.get("node") or [None] * len(region["least"])
        star = np.array([node == STAR for node in nodes], bool)
        least, most = (_codes(of_ends, region[end]) for end in _EXTENT)
        least[star], most[star] = 0, axis.size - 1
        level = np.asarray(region.get("level") or [-1] * len(least), np.int64)
        level = np.maximum(level, _levels(axis, nodes))
        # What a node was published for holds every leaf below it, seen before or not.
        lowest = np.maximum(level, 0) if axis.form == "nodes" else level
        widened = _node_ends(axis, least, most, lowest)
        space = None
        if "lo" in region:
            lo, hi = (_codes(of_ends, region[end]) for end in _REGION)
            space = _node_ends(axis, lo, hi, level)
        members = None
        if axis.form == "set":
            members = [of_ends[np.asarray(places, np.int64)] for places in region["members"]]
        return cls(
            EncodedColumn(axis, coded.codes[: len(new)]), *widened, space, level, star, members
        )

    def cells(
        self,
        lo: NDArray[np.integer],
        hi: NDArray[np.integer],
        merged: Classes,
        used: NDArray[np.int64],
        group: NDArray[np.int64],
    ) -> NDArray[np.object_]:
        """Return what every merged class publishes.

        Parameters
        ----------
        lo, hi
            First and last code of every merged class.
        used, group
            Classes of the file, and the merged class that each is in.
        """
        axis, codes = self.coded.axis, self.coded.codes
        cells: NDArray[np.object_]
        if self.members is not None:
            parts = [[codes[merged.members(index)]] for index in range(len(merged))]
            for region, index in zip(used.tolist(), group.tolist(), strict=True):
                parts[index].append(self.members[region].astype(codes.dtype))
            cells = axis.publish_sets([np.unique(np.concatenate(some)) for some in parts])
        else:
            level = np.full(len(merged), -1, np.int64)
            np.maximum.at(level, group, self.level[used])
            cells = axis.publish(lo, hi, level)
        cells[group[self.star[used]]] = STAR
        return cells


def _codes(of_values: NDArray[np.int64], places: list[int | None]) -> NDArray[np.int64]:
    """Codes of the values at these places; 0 where there is none."""
    return np.array([0 if place is None else of_values[place] for place in places], np.int64)


def _levels(axis: Axis, nodes: list[str | None]) -> NDArray[np.int64]:
    """Lowest level of the groups with these labels; -1 for none, and for `*`."""
    levels = np.full(len(nodes), -1, np.int64)
    for index, label in enumerate(nodes):
        if label is None or label == STAR:
            continue
        node = axis.hierarchy.find(label) if axis.hierarchy is not None else None
        if node is None or axis.hierarchy is None:
            raise DataError("the transformation is damaged: its hierarchies lack a group")
        above = axis.hierarchy.ancestors[:, axis.hierarchy.first[node]]
        levels[index] = int(np.flatnonzero(above == node)[0])
    return levels


def _node_ends(
    axis: Axis, lo: NDArray[np.int64], hi: NDArray[np.int64], level: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Widen what is a node to all leaves that this node has among the new rows."""
    if axis.hierarchy is None:
        return lo, hi
    if level.max(initial=-1) >= len(axis.hierarchy.ancestors):
        raise DataError(
            f"the transformation is damaged: the hierarchy of column '{axis.name}' has "
            f"{len(axis.hierarchy.ancestors)} levels, and a region has a higher one"
        )
    # A missing value is below no node, at whichever end of a region it stands.
    known = (level >= 0) & (np.maximum(lo, hi) < axis.value_count)
    if not known.any():
        return lo, hi
    node = axis.node(lo[known], hi[known], level[known])
    lo, hi = lo.copy(), hi.copy()
    lo[known], hi[known] = axis.hierarchy.first[node], axis.hierarchy.last[node]
    return lo, hi
