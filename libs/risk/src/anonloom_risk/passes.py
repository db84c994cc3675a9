"""Whom a target is compared with: everybody or, where these are too many, blocks of some passes.

Nothing finds more than comparing all pairs, and up to some ten thousand rows that costs a second.
Beyond, records that agree on some columns are compared, in several passes that share no column:
whoever is lost to one, since the release changed a value there, is met in another.
"""

from collections.abc import Sequence

import attrs

from anonloom import short_repr
from anonloom.typing import Float32Array
from anonloom_linkage.aligned_columns import AlignedColumn
from anonloom_linkage.blocking import PASSES, Scheme, guess_schemes
from anonloom_linkage.top2_search import Best, Blocks, search_top2

__all__ = ["Passes"]

#: Products that one search may take, about; a comparison takes one per feature, and some more.
AFFORDABLE = 4e10
MORE = 16
#: What blocks take of these.
SHARE_OF_BLOCKS = 0.5
#: Blocks are as small as this share of what a pass affords, or larger.
FINEST = 1 / 8


@short_repr
@attrs.frozen(eq=False)
class Passes:
    """The passes of one search; none where all pairs are compared.

    Attributes
    ----------
    asking
        Number of the table that asks among the sides of the columns.
    """

    schemes: tuple[Scheme, ...]
    asking: int
    lengths: tuple[int, ...]
    _known: dict[int, list[Blocks]] = attrs.field(init=False, factory=dict, repr=False)

    @classmethod
    def of(cls, columns: Sequence[AlignedColumn], asking: int, width: int) -> "Passes":
        """Decide by the number of comparisons.

        Parameters
        ----------
        asking
            Number of the table that asks among the sides of the columns.
        width
            Features that are compared.
        """
        lengths = tuple(len(side) for side in columns[0].sides)
        others = max(size for side, size in enumerate(lengths) if side != asking)
        affordable = AFFORDABLE / (width + MORE) / max(lengths[asking], 1)
        if others <= affordable:
            return cls((), asking, lengths)
        most = SHARE_OF_BLOCKS * affordable / PASSES
        names = [column.name for column in columns]
        schemes = guess_schemes(columns, names, candidates=int(FINEST * most), most=most)
        return cls(schemes, asking, lengths)

    def blocks(self, asked: int) -> list[Blocks]:
        """Blocks in which the table that asks meets another one."""
        if asked not in self._known:
            askers, rows = self.lengths[self.asking], self.lengths[asked]
            schemes = self.schemes or (Scheme((), self.lengths),)
            self._known[asked] = [
                blocks
                for scheme in schemes
                for blocks in scheme.blocks(askers, rows, attacked=self.asking, published=asked)
            ]
        return self._known[asked]

    def best(
        self, records: Float32Array, candidates: Float32Array, asked: int, workers: int = 1
    ) -> Best:
        """Return the two best candidates, by dot products, of every record that asks.

        Parameters
        ----------
        asked
            The table of the candidates.
        """
        best = Best.none(len(records))
        for blocks in self.blocks(asked):
            search_top2(records, candidates, blocks, best, workers=workers)
        return best
