"""What the labels of a hierarchy may say: no group is taken for something else than its leaves.

A reader of a release has nothing but the label. An empty one reads like a missing value, one that
two groups share says nothing, and `{"a", "b"}` or `[20, 29]` over other leaves says what is wrong.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anonloom import cells
from anonloom.errors import DataError


class Node(NamedTuple):
    """A label, and the leaves from `start` up to, without, `stop` for which it stands."""

    label: str
    start: int
    stop: int

    def description(self, quote: bool) -> str:
        """Name the node in a message."""
        return f"label {self.label!r}" if quote else "a label"


def refuse_labels(
    nodes: Sequence[Node], leaves: Sequence[str], apart: NDArray[np.bool_], *, quote: bool
) -> None:
    """Refuse labels that are empty, that stand for two groups, or that read like other leaves.

    Parameters
    ----------
    nodes
        All nodes, leaves included.
    leaves
        Labels of the leaves, in order.
    apart
        Leaves that the hierarchy does not know, each below the root: whatever a group is called,
        it does not speak of them.
    quote
        Whether a message may quote a label; not where labels are made of cells of the table.

    Raises
    ------
    DataError
        Naming the first label that is wrong.
    """
    reading = _Reading(leaves, apart)
    groups = [node for node in nodes if not _is_leaf(node, leaves)]
    of_leaf = {leaf.strip(): _leaf(leaf, index) for index, leaf in enumerate(leaves)}
    owners: dict[str, Node] = {}
    for node in groups:
        text = node.label.strip()
        if not text:
            raise DataError("a label of a group is empty; every group needs a name")
        owner = owners.setdefault(text, node)
        leaf = of_leaf.get(text, node)
        if owner != node or leaf[1:] != node[1:]:
            raise DataError(
                f"{node.description(quote)} stands for two different groups of values, told apart "
                "by blanks only; labels must be unique in a hierarchy"
            )
    for node in nodes:
        if reading.of_others(node):
            raise DataError(
                f"{node.description(quote)} reads like a set or an interval of other leaves than "
                "those that it stands for; call the group something else"
            )


def _leaf(label: str, at: int) -> Node:
    return Node(label, at, at + 1)


def _is_leaf(node: Node, leaves: Sequence[str]) -> bool:
    return node == _leaf(leaves[node.start], node.start)


class _Reading:
    """Reads labels as a recipient would: as sets and intervals of leaves."""

    def __init__(self, leaves: Sequence[str], apart: NDArray[np.bool_]) -> None:
        self.leaves = leaves
        self.apart = apart
        self._index = {leaf: index for index, leaf in enumerate(leaves) if not apart[index]}
        self._sorted: dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]] = {}

    def of_others(self, node: Node) -> bool:
        """Whether a label reads like a set or an interval of other leaves than its own."""
        members = cells.read_set(node.label)
        if members is not None:
            return self._set_of_others(node, members)
        ends = cells.read_interval(node.label)
        if ends is None:
            return False
        for sort in ("number", "date", "time"):
            lo, hi = cells.place(ends.lo, sort), cells.place(ends.hi, sort)
            if lo is not None and hi is not None:
                return self._interval_of_others(node, sort, lo, hi, ends.closed)
        # Words have no order: an interval between two of them names at least these.
        named = [self._index[end] for end in (ends.lo, ends.hi) if end in self._index]
        return any(not node.start <= index < node.stop for index in named)

    def _set_of_others(self, node: Node, members: Sequence[str]) -> bool:
        named = [self._index[member] for member in members if member in self._index]
        # 1 and 1.0 are one number, whichever of them the table writes.
        known = {*members, *(cells.place(member, "number") for member in members)} - {None}
        own = self.leaves[node.start : node.stop]
        return any(not node.start <= index < node.stop for index in named) or any(
            leaf not in known and cells.place(leaf, "number") not in known for leaf in own
        )

    def _interval_of_others(
        self, node: Node, sort: str, lo: float, hi: float, closed: bool
    ) -> bool:
        places, ascending = self._leaf_places(sort)
        own = places[node.start : node.stop]
        own = own[~np.isnan(own)]
        below = np.searchsorted(ascending, lo, side="left")
        within = np.searchsorted(ascending, hi, side="right" if closed else "left") - below
        fits = (own >= lo) & ((own <= hi) if closed else (own < hi))
        return bool(within != len(own) or not fits.all())

    def _leaf_places(self, sort: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Place of every leaf, not-a-number where it has none or is apart; and all in order."""
        if sort not in self._sorted:
            results = [cells.place(leaf, sort) for leaf in self.leaves]
            places = np.array([np.nan if place is None else place for place in results], float)
            places[self.apart] = np.nan
            self._sorted[sort] = (places, np.sort(places[~np.isnan(places)]))
        return self._sorted[sort]
