"""Which points can still be in a box that is large enough, known before the box is formed.

A box of a node lies in one box of every node above. Where that one has too few rows, so has the
box, and it stays so: boxes only lose rows while others are published. Of the points that are left
few have a chance on a fine node, and nearly all nodes are fine: forming their boxes of these few
gives the same large boxes, in the same order, as forming them of all.
"""

from functools import cached_property

import attrs

from anonloom import short_repr
from anonloom.typing import IntArray
from anonloom_full_domain.grid import Node
from anonloom_full_domain.published_points import PublishedPoints
from anonloom_full_domain.verdicts import Judge

#: While this share of what was found is still left, it is not looked for again: boxes of a few
#: points more cost less.
_STILL_TRUE = 0.5

#: Points that are remembered over all nodes: bounds memory.
_MOST_REMEMBERED = 1 << 24


@short_repr
@attrs.define(eq=False)
class ViablePoints:
    """Points in large enough boxes, remembered for those nodes above that many nodes share.

    Attributes
    ----------
    large
        Points in the large boxes of a node, ascending, as they were when last looked at.
    remembered
        How many points these are.
    """

    published: PublishedPoints
    judge: Judge
    large: dict[Node, IntArray] = attrs.field(factory=dict)
    remembered: int = 0

    @cached_property
    def _top(self) -> Node:
        return self.published.grid.lattice.top()

    def of(self, node: Node) -> IntArray:
        """Return all points of the node's large boxes, and others among those left; ascending."""
        above = self._above(node)
        return self.published.left if above is None else self._in_large_boxes(above)

    def _above(self, node: Node) -> Node | None:
        """Return the node with one more axis as a single cell; None where all of them are.

        The axis with most levels goes first, so that most nodes share what is above them.
        """
        if not self.judge.larger_is_better:
            # A part of a box may be large enough where the whole is not.
            return None
        top = self._top
        lower = [axis for axis, level in enumerate(node) if level < top[axis]]
        if not lower:
            return None
        axis = max(lower, key=top.__getitem__)
        return (*node[:axis], top[axis], *node[axis + 1 :])

    def _in_large_boxes(self, node: Node) -> IntArray:
        known = self.large.get(node)
        if known is None:
            points = self.of(node)
        else:
            points = known[self.published.label[known] < 0]
            if len(points) >= _STILL_TRUE * len(known):
                return points
        grid = self.published.grid
        boxes = grid.boxes(node, points, grid.weights[points])
        points = points[self.judge.large(boxes)[boxes.of_point]]
        if self.remembered > _MOST_REMEMBERED:
            self.large.clear()
            self.remembered = 0
        self.remembered += len(points) - len(self.large.get(node, ()))
        self.large[node] = points
        return points
