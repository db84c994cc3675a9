"""Who is compared with whom: equal rows are one candidate, pairs of several schemes count once."""

from collections.abc import Callable, Sequence
from itertools import combinations

import attrs
import numpy as np

from anonloom.typing import BoolArray, Float32Array, IntArray
from anonloom_columns import collapse
from anonloom_cvpl.hashing import HashScheme
from anonloom_cvpl.similarity import Space
from anonloom_linkage.blocking import Scheme
from anonloom_linkage.top2_search import Blocks, Groups

#: The pairs of so many schemes are counted exactly; of more, the scheme with most says how many.
MOST_SCHEMES = 4


@attrs.frozen(eq=False)
class Candidates:
    """The rows of a table as candidates: equal rows are one point.

    Attributes
    ----------
    point
        Point of every row; -1 for rows that are no candidates.
    first, weights
        First row of every point, and how many rows it is.
    vectors
        One per point.
    """

    point: IntArray = attrs.field(repr=False)
    first: IntArray = attrs.field(repr=False)
    weights: IntArray = attrs.field(repr=False)
    vectors: Float32Array = attrs.field(repr=False)

    @classmethod
    def of(cls, space: Space, side: int, among: IntArray | None = None) -> "Candidates":
        """Collapse equal rows of a table, or of some of its rows."""
        codes = space.vectors.codes(side)
        rows = np.arange(codes.shape[1]) if among is None else np.sort(among)
        points = collapse(np.ascontiguousarray(codes[:, rows]))
        order = np.argsort(points.point, kind="stable")
        starts = np.cumsum(points.weights, dtype=np.int64) - points.weights
        first = rows[order[starts]]
        point = np.full(codes.shape[1], -1, np.int64)
        point[rows] = points.point
        return cls(point, first, points.weights, space.candidates_of(side, first))

    def __len__(self) -> int:
        return len(self.first)


@attrs.frozen(eq=False)
class CandidateBlocks:
    """The candidates of one set of blocks, as points, and the block of every record.

    Attributes
    ----------
    blocks
        Its candidates are points, each once per block.
    keys, weights
        Of every candidate of every block, ascending: block x points + point, and how many rows of
        the point are in the block.
    first
        The first of these rows; None where all rows of every point are in its blocks.
    block
        Block of every record; -1 for none.
    """

    blocks: Blocks
    keys: IntArray = attrs.field(repr=False)
    weights: IntArray = attrs.field(repr=False)
    first: IntArray | None = attrs.field(repr=False)
    block: IntArray = attrs.field(repr=False)
    points: int

    @classmethod
    def of(cls, blocks: Blocks, candidates: Candidates, records: int) -> "CandidateBlocks":
        """Replace the rows of blocks by points."""
        rows, starts = blocks.candidates
        points = max(len(candidates), 1)
        block = np.repeat(np.arange(len(blocks)), np.diff(starts))
        point = candidates.point[rows]
        known = point >= 0
        entries = block[known] * points + point[known]
        keys, weights = np.unique(entries, return_counts=True)
        first = None
        # Where the columns of the blocks are not compared, equal rows are in different blocks.
        if len(keys) and (weights < candidates.weights[keys % points]).any():
            first = rows[known][np.unique(entries, return_index=True)[1]]
        bounds = np.searchsorted(keys, np.arange(len(blocks) + 1) * points)
        of_record = np.full(records, -1, np.int64)
        of_record[blocks.records.members] = np.repeat(
            np.arange(len(blocks)), np.diff(blocks.records.starts)
        )
        among = Groups(keys % points, bounds.astype(np.int64))
        return cls(attrs.evolve(blocks, candidates=among), keys, weights, first, of_record, points)

    def rows_of(self, points: IntArray) -> IntArray:
        """How many rows one point is in the block of every record."""
        index, there = self._find(points)
        return np.where(there, self.weights[index], 0) if len(self.keys) else index

    def first_of(self, points: IntArray, candidates: Candidates) -> IntArray:
        """First row of one point in the block of every record; beyond all rows for none."""
        index, there = self._find(points)
        first = candidates.first[points] if self.first is None else self.first[index]
        return np.where(there, first, len(candidates.point))

    def _find(self, points: IntArray) -> tuple[IntArray, BoolArray]:
        """Where a point stands among the keys, for every record, and whether it does."""
        if not len(self.keys):
            return np.zeros(len(points), np.int64), np.zeros(len(points), bool)
        key = self.block * self.points + points
        index = np.searchsorted(self.keys, key).clip(0, len(self.keys) - 1)
        there = (self.keys[index] == key) & (self.block >= 0) & (points >= 0)
        return index.astype(np.int64), there

    @property
    def candidates(self) -> IntArray:
        """Number of candidates of every record."""
        cumulated = np.r_[0, np.cumsum(self.weights)]
        per_block = np.r_[np.diff(cumulated[self.blocks.candidates.starts]), 0]
        # Records without a block, -1, find the last.
        of_records: IntArray = per_block[self.block]
        return of_records


@attrs.frozen(eq=False)
class SchemeCandidates:
    """The candidates of all schemes.

    Attributes
    ----------
    schemes
        For every scheme its parts, which share no pair.
    shared
        For two and more schemes together the parts of what they share, and whether it is added or
        taken away when pairs are counted; None if that was not worked out.
    """

    schemes: Sequence[Sequence[CandidateBlocks]]
    shared: Sequence[tuple[int, Sequence[CandidateBlocks]]] | None

    @property
    def parts(self) -> list[CandidateBlocks]:
        """The parts of all schemes."""
        return [part for parts in self.schemes for part in parts]

    def count(self, of: Callable[[CandidateBlocks], IntArray]) -> IntArray:
        """Sum something that each pair adds to, every pair once."""
        sums = [_sum(of, parts) for parts in self.schemes]
        if self.shared is None:
            most: IntArray = np.max(np.stack(sums), axis=0)
            return most
        sums += [sign * _sum(of, parts) for sign, parts in self.shared]
        total: IntArray = np.sum(np.stack(sums), axis=0)
        return total

    def first_of(self, points: IntArray, candidates: Candidates) -> IntArray:
        """First row of one point, which is a candidate, of every record; -1 for none."""
        if all(part.first is None for part in self.parts):
            return np.where(points >= 0, candidates.first[points], -1)
        rows = [part.first_of(points, candidates) for part in self.parts]
        return np.where(points >= 0, np.min(np.stack(rows), axis=0), -1)


def _sum(of: Callable[[CandidateBlocks], IntArray], parts: Sequence[CandidateBlocks]) -> IntArray:
    total: IntArray = np.sum(np.stack([of(part) for part in parts]), axis=0)
    return total


def shared_schemes(schemes: Sequence[Scheme]) -> list[tuple[int, Scheme]] | None:
    """Return what two and more schemes share, with the sign that it has in the sum of all."""
    if len(schemes) > MOST_SCHEMES:
        return None
    return [
        (-1 if size % 2 == 0 else 1, _conjunction(some))
        for size in range(2, len(schemes) + 1)
        for some in combinations(schemes, size)
    ]


def _conjunction(schemes: Sequence[Scheme]) -> Scheme:
    """Return the scheme of the pairs that are in all of these."""
    if isinstance(schemes[0], HashScheme):
        return HashScheme.conjunction(schemes)
    return Scheme(tuple(key for scheme in schemes for key in scheme.keys), schemes[0].lengths)
