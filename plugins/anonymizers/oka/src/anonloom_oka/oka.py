"""One-pass k-means: random seeds, every row to the closest centroid, then sizes are adjusted."""

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom import Classes, Finding, Guard, Partitioner, StageContext, Table, param
from anonloom.params import at_least
from anonloom_columns import combined_key
from anonloom_kernels.coarse_blocks import cells_of, each_cell
from anonloom_kernels.compiled import announce_interpreted
from anonloom_kernels.height_distance import heights_of
from anonloom_loss import merge_until_admitted
from anonloom_oka.one_pass import cluster_cells


@attrs.frozen(kw_only=True)
class OnePassKMeans(Partitioner):
    """One-pass k-means with an adjustment stage (Lin and Wei 2008).

    Every cluster gets at least as many rows as the guard demands of a class. Clusters that the
    guard refuses for another reason than their size are merged with the nearest one.
    """

    cell: int = param(
        help="Most rows that are clustered together. A larger class is first cut into blocks of "
        "the level-key order, so that the time grows with the rows and not with their square.",
        check=at_least(2),
        default=2000,
    )

    def partition(
        self, table: Table, classes: Classes, guard: Guard, context: StageContext
    ) -> Classes:
        """Return the refined classes."""
        if not len(classes):
            return classes
        announce_interpreted(context, __package__, _steps(table, len(classes.rows), self.cell))
        cells = cells_of(table, classes, self.cell, guard.min_size, context)
        rows = _sorted_by_quasi(table, cells)
        after, before = _cluster(table, cells, rows, guard.min_size, context)
        context.find(*_findings(len(cells), after != before))
        clusters = Classes.from_labels(after, rows, classes.suppressed)
        return merge_until_admitted(table, clusters, guard, classes)


def _sorted_by_quasi(table: Table, cells: Classes) -> NDArray[np.int64]:
    """Rows by cell, and in each cell as the paper sorts them: column by column."""
    owner = cells.class_of_position().astype(np.int32)
    key = combined_key(np.concatenate([owner[None], table.codes[:, cells.rows]]))
    return cells.rows[np.argsort(key, kind="stable")]


def _cluster(
    table: Table, cells: Classes, rows: NDArray[np.int64], k: int, context: StageContext
) -> NDArray[np.int64]:
    """Cluster number of every row, after the adjustment and before it."""
    codes = np.ascontiguousarray(table.codes[:, rows].T)
    # All random numbers are drawn before the work is shared out.
    draws, turns = context.rng.random(len(rows)), context.rng.random(len(rows))
    losses = heights_of(table)

    def work(start: int, stop: int) -> NDArray[np.int64]:
        return cluster_cells(losses, codes, cells.bounds[start : stop + 1], draws, turns, k)

    return each_cell(work, cells, context)


def _findings(cells: int, moved: NDArray[np.bool_]) -> tuple[Finding, ...]:
    return (
        Finding(
            name="cells",
            value=cells,
            meaning="Parts of the table that were clustered separately.",
        ),
        Finding(
            name="moved",
            value=int(moved.sum()),
            unit="rows",
            meaning="Rows that the adjustment put into another cluster than the closest.",
        ),
        Finding(
            name="moved_share",
            value=float(moved.mean()),
            meaning="Share of the rows that the adjustment put into another cluster than the "
            "closest.",
        ),
    )


def _steps(table: Table, rows: int, cell: int) -> int:
    """About how many elements the kernels read and write when they are interpreted.

    Per row that is some for every axis, and some for every value of a category.
    """
    values = sum(min(axis.size, cell) for axis in table.axes if axis.type == "category")
    return rows * (100 * len(table.axes) + 10 * values)
