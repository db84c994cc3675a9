"""From labelled points back to classes of rows, with the regions that their boxes are."""

import numpy as np
from numpy.typing import NDArray

from anonloom import Classes
from anonloom.data import Regions
from anonloom.typing import IntArray
from anonloom_full_domain.grid import Grid


def box_regions(grid: Grid, points: IntArray, levels: NDArray[np.integer]) -> Regions:
    """Return the boxes that hold these points on these levels, for all axes of the table."""
    lattice = grid.lattice
    lo = np.zeros((len(points), len(lattice.every)), np.int32)
    hi, level = lo.copy(), lo.copy()
    level[:] = [axis.of_hierarchy[0] for axis in lattice.every]
    for number, (index, axis) in enumerate(zip(lattice.places, lattice.axes, strict=True)):
        code, own = grid.codes[points, number + 1], levels[:, number]
        lo[:, index], hi[:, index] = axis.lo[own, code], axis.hi[own, code]
        level[:, index] = axis.of_hierarchy[own]
    return Regions(lo, hi, level)


def assemble(grid: Grid, label: IntArray, regions: Regions | None) -> Classes:
    """Return the rows of equally labelled points as classes; below 0 they are suppressed.

    Labels count from 0 without gaps, so that region `c` is that of class `c`.
    """
    classes = grid.classes
    result = Classes.from_labels(label[grid.point], classes.rows, classes.suppressed)
    return Classes(result.rows, result.bounds, result.suppressed, regions)
