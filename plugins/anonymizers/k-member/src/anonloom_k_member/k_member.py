"""k-member: build one cluster of k rows after the other, always adding the row that costs least."""

from typing import Literal

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom import Classes, Finding, Guard, Partitioner, StageContext, Table, param
from anonloom.params import at_least
from anonloom_columns import collapse
from anonloom_k_member.greedy import cluster_cells
from anonloom_kernels.coarse_blocks import cells_of, each_cell
from anonloom_kernels.compiled import announce_interpreted
from anonloom_kernels.height_distance import heights_of
from anonloom_kernels.losses import losses_of
from anonloom_loss import merge_until_admitted


@attrs.frozen(kw_only=True)
class KMember(Partitioner):
    """Greedy k-member clustering (Byun, Kamra, Bertino and Li 2007).

    A cluster has as many rows as the guard demands of a class at least; what is left over joins
    the clusters that it costs least. Clusters that the guard refuses for another reason than their
    size are merged with the nearest one.
    """

    cell: int = param(
        help="Most rows that are clustered together. A larger class is first cut into blocks of "
        "the level-key order, so that the time grows with the rows and not with their square.",
        check=at_least(2),
        default=5000,
    )

    start: Literal["densest", "furthest"] = param(
        help="Where the next cluster begins: where the most equal rows are left, of several such "
        "places at the nearest; or, as the paper has it, at the row that is furthest from the "
        "last one.",
        default="densest",
    )

    measure: Literal["published", "height"] = param(
        help="What a cluster is said to lose: what its cells will lose when they are published, "
        "or, as the paper has it, widths of numbers and heights of common nodes.",
        default="published",
    )

    def partition(
        self, table: Table, classes: Classes, guard: Guard, context: StageContext
    ) -> Classes:
        """Return the refined classes."""
        if not len(classes):
            return classes
        steps = _steps(table, len(classes.rows), self.cell, guard.min_size)
        announce_interpreted(context, __package__, steps)
        cells = cells_of(table, classes, self.cell, guard.min_size, context)
        label, rows = self._cluster(table, cells, guard.min_size, context)
        context.find(
            Finding(
                name="cells",
                value=len(cells),
                meaning="Parts of the table that were clustered separately.",
            )
        )
        clusters = Classes.from_labels(label, rows, classes.suppressed)
        return merge_until_admitted(table, clusters, guard, classes)

    def _cluster(
        self, table: Table, cells: Classes, k: int, context: StageContext
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Cluster number of every row, and the rows."""
        owner = cells.class_of_position().astype(np.int32)
        # With the cell in front, points come sorted by cell and never cross two of them.
        points = collapse(np.concatenate([owner[None], table.codes.take(cells.rows, axis=1)]))
        codes = np.ascontiguousarray(points.codes[1:].T)
        first = np.append(0, np.cumsum(points.weights))
        bounds = np.searchsorted(points.codes[0], np.arange(len(cells) + 1))
        # All random numbers are drawn before the work is shared out.
        picks = cells.starts + (context.rng.random(len(cells)) * cells.sizes).astype(np.int64)
        starts = np.searchsorted(first, picks, side="right") - 1
        draws = context.rng.random(len(cells.rows))
        dense = self.start == "densest"
        losses = losses_of(table) if self.measure == "published" else heights_of(table)

        def work(start: int, stop: int) -> NDArray[np.int64]:
            here = bounds[start : stop + 1]
            picked = starts[start:stop]
            return cluster_cells(losses, codes, first, here, picked, draws, k, dense)

        label = each_cell(work, cells, context)
        return label, cells.rows[points.rows_by_point()]


def _steps(table: Table, rows: int, cell: int, k: int) -> float:
    """About how many elements the kernels read and write when they are interpreted.

    Per row that is some for every axis, some for every value that is priced anew, which happens the
    less often the larger clusters are, and a little for every other row of the cell.
    """
    together = min(rows, cell)
    values = sum(min(axis.size, together) for axis in table.axes)
    per_axis = 40 + 0.015 * together
    return float(rows * (per_axis * len(table.axes) + 28 * values / np.sqrt(k)))
