"""Generalizer `hierarchy`: every column in the form that it declares."""

from typing import Literal

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom import Classes, Generalizer, Release, StageContext, Table, param
from anonloom_recoding.members import set_cells


@attrs.frozen(kw_only=True)
class ByHierarchy(Generalizer):
    """Publishes intervals, nodes of hierarchies or sets, as each column says."""

    extent: Literal["auto", "tight", "region"] = param(
        help="tight: what the rows of a class cover; region: what the partitioner assigned to the "
        "class; auto: region after a global recoding, tight otherwise.",
        default="auto",
    )

    def generalize(self, table: Table, classes: Classes, context: StageContext) -> Release:
        """Return the release."""
        chosen = {"auto": classes.published_regions, "tight": None, "region": classes.regions}
        regions = chosen[self.extent]
        if regions is None:
            cells = _tight(table, classes)
        else:
            level = [None] * len(table.axes) if regions.level is None else regions.level.T
            ends = zip(table.axes, regions.lo.T, regions.hi.T, level, strict=True)
            cells = [axis.publish(lo, hi, above) for axis, lo, hi, above in ends]
        return Release.from_cells(table, classes, cells, truthful=self.truthful)


def _tight(table: Table, classes: Classes) -> list[NDArray[np.object_]]:
    lo, hi = classes.extents(table.codes)
    return [
        set_cells(axis, table.codes[index], classes)
        if axis.form == "set"
        else axis.publish(lo[:, index], hi[:, index])
        for index, axis in enumerate(table.axes)
    ]
