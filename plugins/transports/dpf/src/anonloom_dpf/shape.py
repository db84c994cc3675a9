"""Which node of the tree is whose child: levels exactly as large as they have to be.

Leaves are cut into tiles of 1,024 neighbours, the last one shorter. Below the tiles' roots level i
of a tile holds 2^i nodes, and node p of it has the children p and p + 2^i of the next level: all
left children stand before all right ones, so a level is computed with two long calls and leaf p
of a tile ends at position p. Above, a level of c nodes has (c + 1) // 2 parents and node p has the
children p and p + (c + 1) // 2. A tile fits the first-level cache, and nothing is computed that no
leaf needs, whatever the number of leaves.
"""

from functools import cached_property

import attrs
import numpy as np
from numpy.typing import NDArray

TILE_LEVELS = 10
TILE = 1 << TILE_LEVELS


@attrs.frozen(slots=False)
class Shape:
    """The levels of a tree with any number of leaves."""

    leaves: int

    @cached_property
    def tiles(self) -> int:
        """How many tiles there are."""
        return -(-self.leaves // TILE)

    @cached_property
    def top(self) -> tuple[int, ...]:
        """Nodes of every level from the root (1) to the roots of the tiles."""
        sizes = [self.tiles]
        while sizes[0] > 1:
            sizes.insert(0, (sizes[0] + 1) // 2)
        return tuple(sizes)

    @cached_property
    def tile_levels(self) -> int:
        """Levels below a tile's root; a single tile is no deeper than its leaves need."""
        return TILE_LEVELS if self.tiles > 1 else (self.leaves - 1).bit_length()

    @cached_property
    def depth(self) -> int:
        """Levels below the root."""
        return len(self.top) - 1 + self.tile_levels

    def tile(self, number: int) -> tuple[int, ...]:
        """Nodes of every level of one tile from its root (1) to its leaves."""
        leaves = min(TILE, self.leaves - number * TILE)
        return tuple(min(leaves, 1 << level) for level in range(self.tile_levels + 1))

    @cached_property
    def nodes(self) -> int:
        """Nodes that a whole evaluation computes: one AES block each."""
        tiles = sum(sum(self.tile(number)[1:]) for number in {0, self.tiles - 1})
        if self.tiles > 2:
            tiles += (self.tiles - 2) * sum(self.tile(0)[1:])
        return tiles + sum(self.top[1:])

    def path(self, indices: NDArray[np.int64]) -> NDArray[np.uint8]:
        """Per leaf the turns from the root, 0 left and 1 right, as an array (leaves x depth)."""
        bits = np.empty((len(indices), self.depth), np.uint8)
        above = len(self.top) - 1
        node = indices >> self.tile_levels
        for level in range(above, 0, -1):
            parents = self.top[level - 1]
            bits[:, level - 1] = node >= parents
            node = np.where(node >= parents, node - parents, node)
        for level in range(self.tile_levels):
            bits[:, above + level] = indices >> level & 1
        return bits
