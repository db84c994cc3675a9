"""Locality-sensitive blocking: records in the same corner of the projected space."""

from collections.abc import Sequence

import attrs
import numpy as np

from anonloom.typing import BoolArray, IntArray
from anonloom_cvpl.projection import Embedding, Linear
from anonloom_linkage.top2_search import Blocks


@attrs.frozen(eq=False)
class HashScheme:
    """Blocks of rows whose projections lie on the same sides of some random hyperplanes.

    Attributes
    ----------
    codes
        For every table the corner of every row.
    """

    codes: tuple[IntArray, ...] = attrs.field(repr=False)
    bits: int
    number: int
    keys: tuple[str, ...] = ("corner",)

    @classmethod
    def conjunction(cls, schemes: Sequence["HashScheme"]) -> "HashScheme":
        """Return the corners of all hyperplanes of several schemes."""
        sizes = [len(side) for side in schemes[0].codes]
        labels = np.zeros(sum(sizes), np.int64)
        for scheme in schemes:
            labels = labels << scheme.bits | np.concatenate(scheme.codes)
            labels = np.unique(labels, return_inverse=True)[1]
        codes = tuple(np.split(labels, np.cumsum(sizes)[:-1]))
        return cls(codes, sum(scheme.bits for scheme in schemes), schemes[0].number)

    @property
    def words(self) -> str:
        """What a report says of it."""
        return f"corner {self.number} of {self.bits} random hyperplanes"

    def labels(self, side: int = 0) -> IntArray:
        """Block of every row of a table."""
        return self.codes[side]

    def sizes(self, side: int = 0) -> IntArray:
        """Records of every block of a table."""
        return np.unique(self.codes[side], return_counts=True)[1]

    def blocks(
        self, records: int, rows: int, *, attacked: int = 0, published: int = 1
    ) -> tuple[Blocks, ...]:
        """Return the blocks in which records and published rows meet."""
        return (Blocks.of(self.codes[attacked], self.codes[published], np.arange(rows)),)

    def meet(
        self, records: IntArray, rows: IntArray, *, attacked: int = 0, published: int = 1
    ) -> BoolArray:
        """Whether record and published row of every pair are in a block together."""
        return np.asarray(self.codes[attacked][records] == self.codes[published][rows])


def hash_schemes(
    projection: Linear | Embedding,
    sides: int,
    bits: int,
    tables: int,
    rng: np.random.Generator,
) -> tuple[HashScheme, ...]:
    """Draw hyperplanes through the middle of the projected space, `tables` times `bits`."""
    projected = [projection.of(side) for side in range(sides)]
    schemes = []
    for number in range(tables):
        planes = rng.normal(size=(projected[0].shape[1], bits)).astype(np.float32)
        powers = np.int64(1) << np.arange(bits, dtype=np.int64)
        codes = tuple((of_side @ planes > 0) @ powers for of_side in projected)
        schemes.append(HashScheme(codes, bits, number + 1))
    return tuple(schemes)
