"""Local recoding: full-domain recoding again and again, each time of the rows still unpublished."""

from typing import Literal

import attrs
import numpy as np

from anonloom import Classes, Finding, Guard, Partitioner, StageContext, Table, param
from anonloom.data import Regions
from anonloom.params import at_least, between
from anonloom_full_domain.class_assembly import assemble, box_regions
from anonloom_full_domain.full_domain import warn_of_greed
from anonloom_full_domain.grid import Grid
from anonloom_full_domain.recoding_rounds import PublishedPoints, by_cells, by_descents, by_levels
from anonloom_full_domain.refused_rows import extents, keep_whole, merge, widen
from anonloom_full_domain.search import passed_nodes
from anonloom_full_domain.verdicts import Judge
from anonloom_kernels.compiled import announce_interpreted

#: Greedy searches, one after the other, that the rows take which are left each time, about.
_DESCENTS = 8


@attrs.frozen(kw_only=True)
class LocalRecoding(Partitioner):
    """Iterated recoding to levels of hierarchies (ARX's local recoding, Prasser et al. 2020).

    A class is a box of hierarchy nodes. Boxes that the guard admits are published in ascending
    order of their loss; the boxes that come later are counted without the rows that are already
    published.
    """

    rounds: Literal["cells", "levels"] = param(
        help="What one round publishes. cells: of all boxes on all levels, that of least loss; "
        "levels: one combination of levels with all of its admitted boxes, as ARX does.",
        default="cells",
    )

    step: float = param(
        help="For `rounds: levels`: the share of the rows still unpublished that a combination of "
        "levels must publish.",
        default=0.01,
        check=between(0, 1),
    )

    rest: Literal["widen", "suppress"] = param(
        help="What becomes of rows that are in no admitted box: put into the class for which the "
        "loss rises least, or suppressed.",
        default="widen",
    )

    most_nodes: int = param(
        help="Of a lattice with more nodes than this, only nodes are tried that a greedy search "
        "passes.",
        default=1_000_000,
        check=at_least(1),
    )

    def partition(
        self, table: Table, classes: Classes, guard: Guard, context: StageContext
    ) -> Classes:
        """Return the refined classes."""
        if not len(classes):
            return classes
        grid = Grid.of(table, classes, guard.min_size)
        judge = Judge(table, grid, guard)
        published = PublishedPoints.nothing(grid, context)
        lattice = grid.lattice
        greedy = lattice.nodes > self.most_nodes
        # A node is formed less than twice, of ever fewer points: about as if once of all.
        nodes = _DESCENTS * passed_nodes(lattice) if greedy else lattice.nodes
        announce_interpreted(context, __package__, grid.steps(nodes))
        if greedy:
            warn_of_greed(lattice.nodes, self.most_nodes, context)
            by_descents(published, judge)
        elif self.rounds == "cells":
            by_cells(published, judge)
        else:
            by_levels(published, judge, self.step)
        rest = int(published.weights.sum())
        if self.rest == "widen":
            keep_whole(published, judge)
            widen(published, judge, table)
            merge(published, judge, table)
        _report(published, rest, context)
        return assemble(grid, published.label, _regions(published, table))


def _regions(published: PublishedPoints, table: Table) -> Regions:
    """Return the boxes, widened to hold the rest, and the levels that their rows need.

    The level is that of the cell that is published, which is the smallest that covers the rows.
    """
    grid = published.grid
    first, levels = published.boxes()
    owner = published.label[first]
    boxes = box_regions(grid, first[owner >= 0], levels[owner >= 0])
    owner = owner[owner >= 0]
    ends = extents(grid, published.label)
    lo = np.zeros((len(ends[0]), len(table.axes)), np.int32)
    hi, level = lo.copy(), np.full_like(lo, -1)
    lo[:, grid.lattice.places], hi[:, grid.lattice.places] = ends
    for index, axis in enumerate(table.axes):
        if axis.hierarchy is not None and axis.form == "nodes":
            known = np.flatnonzero(hi[:, index] < axis.value_count)
            level[known, index] = axis.hierarchy.level(lo[known, index], hi[known, index])
    np.minimum.at(lo, owner, boxes.lo)
    np.maximum.at(hi, owner, boxes.hi)
    return Regions(lo, hi, level)


def _report(published: PublishedPoints, rest: int, context: StageContext) -> None:
    context.find(
        Finding(
            name="lattice_nodes",
            value=published.grid.lattice.nodes,
            meaning="Combinations of levels that a class could have.",
        ),
        Finding(
            name="rows_in_no_box",
            value=rest,
            meaning="Rows for which no combination of levels gave an admitted class; they widened "
            "other classes or were suppressed.",
            better="lower",
        ),
    )
    context.progress(published.grid.rows, published.grid.rows)
