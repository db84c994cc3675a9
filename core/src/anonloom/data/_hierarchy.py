"""A generalization hierarchy over the leaves of one axis, stored as one array per level.

Leaves are ordered so that every node is an interval of leaves. The lowest common ancestor of a set
of leaves is therefore that of its first and last leaf: the first level on which both agree.
"""

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom._representation import short_repr
from anonloom.cells import STAR as STAR
from anonloom.data._labels import Node, refuse_labels
from anonloom.data._text import normalize_text
from anonloom.errors import DataError


@short_repr
@attrs.frozen(eq=False)
class Hierarchy:
    """Nodes over ordered leaves.

    Attributes
    ----------
    ancestors
        (levels x leaves): the node above each leaf on each level. Level 0 is the leaf itself, the
        last level is the root.
    labels
        Label of each node; the root's is `*`.
    first, last
        The first and the last leaf under each node.
    """

    ancestors: NDArray[np.int32]
    labels: tuple[str, ...]
    first: NDArray[np.int32]
    last: NDArray[np.int32]

    @classmethod
    def of_levels(
        cls,
        levels: Sequence[Sequence[str]],
        *,
        apart: NDArray[np.bool_] | None = None,
        quote: bool = True,
    ) -> "Hierarchy":
        """Build from the labels of every leaf's ancestors, one sequence per level.

        The leaves must already be in their order. Equal labels on neighbouring levels over the
        same leaves are one node, so that a ragged tree is padded by repeating labels. Labels are
        brought to the form of `normalize_text`, in which they are published.

        Parameters
        ----------
        apart
            Leaves that the hierarchy itself does not know; see `refuse_labels`.
        quote
            Whether a message may quote a label; not where labels are made of cells of the table.

        Raises
        ------
        DataError
            When the last level is not a single `*`, two different nodes have one label, or a label
            is empty or reads like other leaves.
        """
        levels = [[normalize_text(label) for label in row] for row in levels]
        width = len(levels[0])
        if any(label != STAR for label in levels[-1]):
            raise DataError(
                f"the last level must be '{STAR}' for every leaf: it has no single root"
            )
        ancestors = np.empty((len(levels), width), np.int32)
        nodes: dict[Node, int] = {}
        owner: dict[str, Node] = {}
        for depth, row in enumerate(levels):
            # A node is a maximal run of one label.
            names = np.asarray(row, object)
            edges = np.flatnonzero(np.r_[True, names[1:] != names[:-1]][:width])
            stops = np.r_[edges[1:], width][:width]
            for start, stop in zip(edges.tolist(), stops.tolist(), strict=True):
                key = Node(str(names[start]), start, stop)
                if owner.setdefault(key.label, key) != key:
                    raise DataError(
                        f"{key.description(quote)} stands for two different groups of values; "
                        "labels must be unique in a hierarchy"
                    )
                node = nodes.setdefault(key, len(nodes))
                ancestors[depth, start:stop] = node
        for lower, upper in pairwise(ancestors):
            _check_nesting(lower, upper, tuple(nodes), quote)
        if width:
            known = np.zeros(width, bool) if apart is None else apart
            refuse_labels(tuple(nodes), levels[0], known, quote=quote)
        spans = np.array([(start, stop - 1) for _, start, stop in nodes], np.int32).reshape(-1, 2)
        return cls(ancestors, tuple(label for label, _, _ in nodes), spans[:, 0], spans[:, 1])

    @classmethod
    def flat(cls, leaves: Sequence[str]) -> "Hierarchy":
        """Return a root and its leaves.

        A leaf may be `*`: a value that is published as it is, such as a diagnosis, may be any text.
        Quasi-identifiers are checked before (`cells.reads_like_a_form`).

        Raises
        ------
        DataError
            When a leaf stands twice.
        """
        width = len(leaves)
        if len(set(leaves)) < width:
            raise DataError("a leaf stands twice; every leaf stands once")
        if not width:
            return cls.of_levels([[], []])
        own = np.arange(width, dtype=np.int32)
        return cls(
            np.stack([own, np.full(width, width, np.int32)]),
            (*leaves, STAR),
            np.append(own, np.int32(0)),
            np.append(own, np.int32(width - 1)),
        )

    @property
    def depth(self) -> int:
        """Number of levels, leaves and root included."""
        return int(self.ancestors.shape[0])

    @property
    def leaves(self) -> tuple[str, ...]:
        """Labels of the leaves, in order."""
        return tuple(self.labels[node] for node in self.ancestors[0])

    def level(self, lo: NDArray[np.integer], hi: NDArray[np.integer]) -> NDArray[np.int32]:
        """First level on which the leaves `lo` and `hi` have the same ancestor."""
        lo, hi = np.asarray(lo), np.asarray(hi)
        level = np.zeros(lo.shape, np.int32)
        for row in self.ancestors[:-1]:
            level += (row[lo] != row[hi]).astype(np.int32)
        return level

    def node(self, lo: NDArray[np.integer], hi: NDArray[np.integer]) -> NDArray[np.int32]:
        """Lowest common ancestor of the leaves from `lo` to `hi`."""
        node: NDArray[np.int32] = self.ancestors[self.level(lo, hi), lo]
        return node

    @cached_property
    def _nodes(self) -> dict[str, int]:
        return {label: node for node, label in enumerate(self.labels)}

    def find(self, label: str) -> int | None:
        """Node with this label, or None."""
        return self._nodes.get(label)


def _check_nesting(
    lower: NDArray[np.int32], upper: NDArray[np.int32], nodes: Sequence[Node], quote: bool
) -> None:
    """Refuse a node that has two parents."""
    inside = lower[1:] == lower[:-1]
    torn = inside & (upper[1:] != upper[:-1])
    if torn.any():
        node = nodes[int(lower[:-1][torn][0])]
        raise DataError(f"{node.description(quote)} has two parents; a hierarchy is a tree")


def depth_first(levels: Sequence[Sequence[str]], rank: NDArray[np.integer]) -> NDArray[np.int64]:
    """Order of the leaves in which every node is an interval.

    Parameters
    ----------
    levels
        Labels per level, leaves first, in any order of leaves.
    rank
        Wanted order of the leaves where the tree leaves a choice: siblings are ordered by the
        least rank among their leaves.
    """
    keys = [np.asarray(rank, np.int64)]
    for row in levels[1:]:
        # A dictionary: neither numpy nor every pandas tells labels apart that differ in a final
        # zero character.
        known: dict[str, int] = {}
        group = np.array([known.setdefault(label, len(known)) for label in row], np.int64)
        least = np.full(len(known), np.iinfo(np.int64).max)
        np.minimum.at(least, group, keys[0])
        keys.append(least[group])
    return np.lexsort(keys)
