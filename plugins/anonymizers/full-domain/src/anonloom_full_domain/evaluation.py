"""What a node of the lattice gives: how many rows are refused, and what the table loses."""

from collections import deque

import attrs
import numpy as np

from anonloom import short_repr
from anonloom.typing import BoolArray, IntArray
from anonloom_full_domain.grid import Boxes, Grid, Node
from anonloom_full_domain.verdicts import Judge

#: Nodes whose boxes are kept, so that a node above is made of boxes and not of points.
_REMEMBERED = 64


@attrs.frozen
class Outcome:
    """What one node gives.

    Attributes
    ----------
    too_small
        Rows in boxes that are too small.
    refused
        All rows in refused boxes; `too_small` where the guard was not asked, since those alone
        are more than may be suppressed.
    loss
        Mean over all rows; a refused row loses everything.
    """

    too_small: int
    refused: int
    loss: float


@short_repr
@attrs.frozen(eq=False)
class Evaluation:
    """Evaluates nodes for the same rows.

    Attributes
    ----------
    allowed
        How many rows may be refused.
    points
        The points that are recoded; at least one.
    """

    grid: Grid
    judge: Judge
    allowed: int
    points: IntArray
    # Boxes of a node are unions of those of any node below: (node, a point per box, rows per box).
    _known: deque[tuple[IntArray, IntArray, IntArray]] = attrs.field(
        factory=lambda: deque(maxlen=_REMEMBERED), init=False
    )

    def outcome(self, node: Node) -> Outcome:
        """Evaluate a node."""
        boxes = self._boxes(node)
        good = self.judge.large(boxes)
        too_small = int(boxes.sizes[~good].sum())
        if too_small <= self.allowed and not self.judge.sizes_decide:
            # The guard looks at rows, so that boxes are made of points after all.
            boxes, good = self.admission(node)
        refused = int(boxes.sizes[~good].sum())
        lost = float(boxes.lost[good] @ boxes.sizes[good]) + refused
        return Outcome(too_small, refused, lost / int(boxes.sizes.sum()))

    def admission(self, node: Node) -> tuple[Boxes, BoolArray]:
        """Return the boxes of a node, with the box of every point, and which are admitted."""
        boxes = self.grid.boxes(node, self.points, self.grid.weights[self.points])
        return boxes, self.judge.admission(boxes, self.points, self.judge.large(boxes))

    def _boxes(self, node: Node) -> Boxes:
        level = np.array(node, np.int64)
        points, weights = self.points, self.grid.weights[self.points]
        for below, first, sizes in self._known:
            if len(first) < len(points) and (below <= level).all():
                points, weights = first, sizes
        boxes = self.grid.boxes(node, points, weights)
        self._known.append((level, boxes.first, boxes.sizes))
        return boxes
