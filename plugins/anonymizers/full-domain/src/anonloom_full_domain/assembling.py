"""From labelled points back to classes of rows, with the regions that their boxes are."""

import numpy as np
from numpy.typing import NDArray

from anonloom.data.classes import Classes, Regions
from anonloom_full_domain.grid import Grid, Ints


def box_regions(grid: Grid, points: Ints, levels: NDArray[np.integer]) -> Regions:
    """Return the boxes that hold these points on these levels, (boxes x axes)."""
    shape = (len(points), len(grid.lattice.axes))
    lo, hi, level = (np.empty(shape, np.int32) for _ in range(3))
    for at, axis in enumerate(grid.lattice.axes):
        code = grid.codes[points, at + 1]
        lo[:, at] = axis.lo[levels[:, at], code]
        hi[:, at] = axis.hi[levels[:, at], code]
        level[:, at] = axis.of_hierarchy[levels[:, at]]
    return Regions(lo, hi, level)


def assemble(grid: Grid, label: Ints, regions: Regions | None) -> Classes:
    """Return the rows of equally labelled points as classes; below 0 they are suppressed.

    Labels count from 0 without gaps, so that region `c` is that of class `c`.
    """
    classes = grid.classes
    found = Classes.from_labels(label[grid.point], classes.rows, classes.suppressed)
    return Classes(found.rows, found.bounds, found.suppressed, regions)
