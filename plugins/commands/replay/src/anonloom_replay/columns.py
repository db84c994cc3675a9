"""One column of new rows, on an axis that also holds the values of the file."""

from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anonloom import Classes, Table, short_repr
from anonloom.cells import MOMENTS
from anonloom.data import Axis, EncodedColumn, encode, normalize_column
from anonloom.errors import DataError
from anonloom.hierarchies import STAR
from anonloom.typing import BoolArray, IntArray
from anonloom_replay.file_format import EXTENT, REGION, region_values


@short_repr
@attrs.frozen(eq=False)
class ReplayColumn:
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
    least: IntArray
    most: IntArray
    region: tuple[IntArray, IntArray] | None
    level: IntArray
    star: BoolArray
    members: list[IntArray] | None

    @classmethod
    def of(cls, table: Table, name: str, region: dict[str, list[Any]]) -> "ReplayColumn":
        """Put the values of new rows and of the file on one axis."""
        column = table.schema[name]
        new = table.column(name)
        ends = region_values(region["values"], column)
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
        least, most = (_codes(of_ends, region[end]) for end in EXTENT)
        least[star], most[star] = 0, axis.size - 1
        level = np.asarray(region.get("level") or [-1] * len(least), np.int64)
        level = np.maximum(level, _levels(axis, nodes))
        # What a node was published for holds every leaf below it, seen before or not.
        lowest = np.maximum(level, 0) if axis.form == "nodes" else level
        widened = _node_ends(axis, least, most, lowest)
        space = None
        if "lo" in region:
            lo, hi = (_codes(of_ends, region[end]) for end in REGION)
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
        used: IntArray,
        group: IntArray,
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


def _codes(of_values: IntArray, places: list[int | None]) -> IntArray:
    """Codes of the values at these places; 0 where there is none."""
    return np.array([0 if place is None else of_values[place] for place in places], np.int64)


def _levels(axis: Axis, nodes: list[str | None]) -> IntArray:
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
    axis: Axis, lo: IntArray, hi: IntArray, level: IntArray
) -> tuple[IntArray, IntArray]:
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
