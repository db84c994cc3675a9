"""Merkle: a tree over the rows of a release, under a signed head."""

import attrs

from anonloom_merkle.consistency import check_consistency, consistency
from anonloom_merkle.tree import Tree
from anonloom_seals.seal import RowSeal
from anonloom_seals.seal_format import SealFormat
from anonloom_seals.structure import GrowingStructure


class GrowingTree(Tree, GrowingStructure):
    """A tree that can show that it grew only at its end."""

    def growth(self, old_size: int) -> bytes:
        """Return a consistency proof from the first `old_size` leaves."""
        return consistency(self, old_size)

    check_growth = staticmethod(check_consistency)


@attrs.frozen(kw_only=True)
class Merkle(RowSeal):
    """Seals every file and every row of a release with trees of RFC 9162."""

    format = SealFormat("merkle", GrowingTree)
