"""The state of a local recoding: which points are published, by which boxes, and which are left."""

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom import StageContext
from anonloom.typing import BoolArray, IntArray
from anonloom_full_domain.grid import Boxes, Grid, Node


@attrs.define(eq=False)
class PublishedPoints:
    """Points by the box that publishes them.

    Attributes
    ----------
    label
        Class of every point, -1 while it has none.
    left
        Points without a class, ascending.
    first, levels
        Per class, in the order in which they were published: a point, and the node of its box.
    """

    grid: Grid
    run: StageContext
    label: IntArray
    left: IntArray
    first: list[IntArray]
    levels: list[NDArray[np.int64]]
    count: int = 0
    rows: int = 0

    @classmethod
    def nothing(cls, grid: Grid, context: StageContext) -> "PublishedPoints":
        """Return the state before the first round."""
        every = np.arange(len(grid))
        return cls(grid, context, np.full(len(grid), -1), every, [], [])

    @property
    def weights(self) -> IntArray:
        """Rows of the points that are left."""
        return self.grid.weights[self.left]

    def take(
        self, node: Node, boxes: Boxes, good: BoolArray, points: IntArray | None = None
    ) -> None:
        """Publish some boxes that were made of the points that are left, or of some of them."""
        count = int(good.sum())
        if not count:
            return
        number = np.where(good, np.cumsum(good) - 1 + self.count, -1)
        # The last entry stands for points that are in no box.
        of_point = np.append(number, -1)[boxes.of_point]
        taken = of_point >= 0
        self.label[(self.left if points is None else points)[taken]] = of_point[taken]
        self.left = self.left[self.label[self.left] < 0]
        self.first.append(boxes.first[good])
        self.levels.append(np.tile(np.array(node, np.int64), (count, 1)))
        self.count += count
        self.rows += int(boxes.sizes[good].sum())
        self.run.progress(self.rows, self.grid.rows)

    def boxes(self) -> tuple[IntArray, NDArray[np.int64]]:
        """Return a point and the levels of every published box."""
        axes = len(self.grid.lattice.axes)
        return (
            np.concatenate([np.empty(0, np.int64), *self.first]),
            np.concatenate([np.empty((0, axes), np.int64), *self.levels]),
        )
