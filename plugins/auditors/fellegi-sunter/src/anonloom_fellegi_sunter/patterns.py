"""Which columns agree in a pair, for all pairs of all blocks, without writing any pair out.

A pattern is a number with a bit per column, behind the number of the combination of columns that
the published row leaves open. Tiles of candidates stay in a core's cache while records pass by.
"""

import itertools
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from typing import NamedTuple

import attrs
import numpy as np

from anonloom import short_repr
from anonloom.typing import IntArray
from anonloom_fellegi_sunter.agreement import (
    Attribute,
    Stretches,
    open_columns,
    stretches_of,
)
from anonloom_kernels.compiled import in_threads, kernel
from anonloom_linkage.aligned_columns import Cells
from anonloom_linkage.top2_search import Blocks

ProgressCallback = Callable[[int], None]

#: Candidates of a tile.
TILE = 512
#: Elements that an interpreter could read while it compares one column of a record with a tile; and
#: columns that it could compare while it does the rest.
STEPS = 50
STEPS_BESIDE = 4
#: Comparisons of one piece of work.
PIECE = 1 << 24


class Sheet(NamedTuple):
    """Two tables as they are compared.

    A record and a candidate of the same owner are not compared.

    Attributes
    ----------
    values
        (records x columns): codes of the original.
    cells
        (rows x columns): cells of the candidates.
    base
        Of every candidate, the pattern with which nothing agrees.
    owner, owned
        Owners of the records and of the candidates.
    """

    values: Cells
    cells: Cells
    base: Cells
    owner: IntArray
    owned: IntArray


class Work(NamedTuple):
    """Which records meet which candidates: a run is some records of a block, and all candidates.

    Attributes
    ----------
    records, candidates
        Numbers, sorted by block.
    start, stop
        Of every run, the first and last of its records.
    low, high
        Of every run, the first and last of its candidates.
    """

    records: IntArray
    candidates: IntArray
    start: IntArray
    stop: IntArray
    low: IntArray
    high: IntArray


class Tile(NamedTuple):
    """Room for what some candidates agree with, side by side, (layers x candidates)."""

    firsts: Cells
    lasts: Cells

    @classmethod
    def of(cls, stretches: Stretches) -> "Tile":
        """Make room."""
        shape = (len(stretches.column), TILE)
        return cls(np.empty(shape, np.int32), np.empty(shape, np.int32))


class Best(NamedTuple):
    """What is known of every record's best candidates.

    Attributes
    ----------
    rank
        Rank of the best weight; -1 without candidates.
    ties
        Candidates that have it.
    row
        The first of them; -1 without candidates.
    right
        How many of them are the record's own.
    """

    rank: Cells
    ties: IntArray
    row: IntArray
    right: IntArray


@short_repr
@attrs.frozen(eq=False)
class Comparison:
    """The columns that are compared, and where to find them.

    Attributes
    ----------
    masks
        Combinations of columns that published rows leave open.
    """

    attributes: tuple[Attribute, ...]
    stretches: Stretches = attrs.field(repr=False)
    masks: IntArray = attrs.field(repr=False)
    _places: IntArray = attrs.field(repr=False)

    @classmethod
    def of(cls, attributes: Sequence[Attribute]) -> "Comparison":
        """Prepare the tables of a comparison."""
        return cls(tuple(attributes), stretches_of(attributes), *open_columns(attributes))

    @property
    def size(self) -> int:
        """Number of patterns that can be told apart."""
        return len(self.masks) << len(self.attributes)

    def with_release(self) -> Sheet:
        """Return the original beside the release, which belongs to nobody."""
        values, cells = self._cells(0), self._cells(1)
        base = (self._places << len(self.attributes)).astype(np.int32)
        owned = np.full(len(cells), -1, np.int64)
        return Sheet(values, cells, base, np.arange(len(values)), owned)

    def with_itself(self, persons: IntArray) -> Sheet:
        """Return the original beside itself; nobody is compared with their own records."""
        values = self._cells(0)
        return Sheet(values, values, np.zeros(len(values), np.int32), persons, persons)

    def _cells(self, side: int) -> Cells:
        cells = np.stack([a.column.sides[side] for a in self.attributes], axis=1)
        return np.ascontiguousarray(cells, np.int32)


def count_patterns(
    comparison: Comparison,
    sheet: Sheet,
    blocks: Sequence[Blocks],
    workers: int,
    done: ProgressCallback,
) -> IntArray:
    """Count how often each pattern occurs among the pairs of the blocks."""
    # Every thread has counts of its own; which pairs it counts does not matter to their sum.
    free: SimpleQueue[IntArray] = SimpleQueue()
    counts = [np.zeros(comparison.size, np.int64) for _ in range(max(workers, 1))]
    for own in counts:
        free.put(own)

    def count(work: Work) -> None:
        own = free.get()
        try:
            count_runs(work, sheet, comparison.stretches, own, Tile.of(comparison.stretches))
        finally:
            free.put(own)
        done(_comparisons(work))

    for some in blocks:
        in_threads(count, pieces(some), workers)
    total: IntArray = np.sum(counts, axis=0)
    return total


def find_best(
    comparison: Comparison,
    sheet: Sheet,
    blocks: Sequence[Blocks],
    rank_of: Cells,
    truth: IntArray,
    workers: int,
    done: ProgressCallback,
) -> Best:
    """Find the candidates of every record whose pattern ranks highest.

    Parameters
    ----------
    rank_of
        Rank of the weight of every pattern.
    truth
        Of every candidate the record that it was made of; -1 for none.
    """
    n, truth = len(sheet.values), np.ascontiguousarray(truth, np.int64)
    zeros, nobody = np.zeros(n, np.int64), np.full(n, -1, np.int64)
    best = Best(np.full(n, -1, np.int32), zeros, nobody, zeros.copy())

    def look(work: Work) -> None:
        # A record is in one run at a time: threads write to different places.
        tile = Tile.of(comparison.stretches)
        best_of_runs(work, sheet, comparison.stretches, rank_of, truth, best, tile)
        done(_comparisons(work))

    for some in blocks:
        in_threads(look, pieces(some), workers)
    return best


def patterns_of(comparison: Comparison, records: IntArray, rows: IntArray) -> IntArray:
    """Return the pattern of every pair of a record and a row of the release."""
    sheet = comparison.with_release()
    values, cells = sheet.values[records], sheet.cells[rows]
    result = sheet.base[rows].astype(np.int64)
    for column, start in zip(comparison.stretches.column, comparison.stretches.start, strict=True):
        index = start + cells[:, column]
        first, last = comparison.stretches.first[index], comparison.stretches.last[index]
        agrees = (first <= values[:, column]) & (values[:, column] <= last)
        result |= agrees.astype(np.int64) << column
    return result


def steps_of(comparison: Comparison, blocks: Sequence[Blocks]) -> float:
    """Elements that interpreted kernels read when they pass these blocks, about."""
    tiles = sum(
        int(np.diff(some.records.starts) @ -(-np.diff(some.candidates.starts) // TILE))
        for some in blocks
    )
    return STEPS * tiles * (len(comparison.stretches.column) + STEPS_BESIDE)


def pieces(blocks: Blocks) -> list[Work]:
    """Share the blocks out; small blocks together, large ones in parts."""
    records, candidates = blocks.records, blocks.candidates
    sizes, others = np.diff(records.starts), np.diff(candidates.starts)
    step = np.maximum(PIECE // np.maximum(others, 1), 1)
    parts = np.where(others > 0, -(-sizes // step), 0)
    block = np.repeat(np.arange(len(sizes)), parts)
    within = np.arange(len(block)) - np.repeat(np.cumsum(parts) - parts, parts)
    start = records.starts[block] + within * step[block]
    stop = np.minimum(start + step[block], records.starts[block + 1])
    low, high = candidates.starts[block], candidates.starts[block + 1]
    made = np.cumsum((stop - start) * (high - low))
    total = int(made[-1]) if len(made) else 0
    cuts = np.unique(np.searchsorted(made, np.arange(PIECE, total, PIECE)) + 1)
    ends = [0, *cuts[cuts < len(block)].tolist(), len(block)]
    return [
        Work(records.members, candidates.members, *(of[a:b] for of in (start, stop, low, high)))
        for a, b in itertools.pairwise(ends)
    ]


def _comparisons(work: Work) -> int:
    return int(((work.stop - work.start) * (work.high - work.low)).sum())


# --- kernels -------------------------------------------------------------------------------------


@kernel
def count_runs(
    work: Work, sheet: Sheet, stretches: Stretches, counts: IntArray, tile: Tile
) -> None:
    """Count the patterns of some runs."""
    records, candidates, begins, ends, lows, highs = work
    values, cells, base, owners, owned = sheet
    for run in range(len(begins)):
        for low in range(lows[run], highs[run], TILE):
            among = candidates[low : min(low + TILE, highs[run])]
            fill(among, cells, stretches, tile)
            bases, owner = base[among], owned[among]
            for index in range(begins[run], ends[run]):
                record = records[index]
                pattern = compare(values[record], stretches.column, tile, bases)
                np.add.at(counts, pattern[owner != owners[record]], 1)


@kernel
def best_of_runs(
    work: Work,
    sheet: Sheet,
    stretches: Stretches,
    rank_of: Cells,
    truth: IntArray,
    best: Best,
    tile: Tile,
) -> None:
    """Find the best candidates of the records of some runs."""
    records, candidates, begins, ends, lows, highs = work
    values, cells, base, owners, owned = sheet
    ranks, ties, rows, rights = best
    for run in range(len(begins)):
        for low in range(lows[run], highs[run], TILE):
            among = candidates[low : min(low + TILE, highs[run])]
            fill(among, cells, stretches, tile)
            bases, owner = base[among], owned[among]
            for index in range(begins[run], ends[run]):
                record = records[index]
                pattern = compare(values[record], stretches.column, tile, bases)
                score = np.where(owner == owners[record], -1, rank_of[pattern])
                most = score.max()
                if most < 0 or most < ranks[record]:
                    continue
                found = among[score == most]
                if most > ranks[record]:
                    ranks[record], rows[record] = most, found[0]
                    ties[record] = rights[record] = 0
                ties[record] += len(found)
                rights[record] += np.count_nonzero(truth[found] == record)
                rows[record] = min(rows[record], found.min())


def fill(among: IntArray, cells: Cells, stretches: Stretches, tile: Tile) -> None:
    """Copy the stretches of some candidates side by side."""
    column, start, first, last = stretches
    for layer in range(len(column)):
        index = start[layer] + cells[among, column[layer]]
        tile.firsts[layer, : len(among)] = first[index]
        tile.lasts[layer, : len(among)] = last[index]


def compare(values: Cells, column: IntArray, tile: Tile, bases: Cells) -> Cells:
    """Return the pattern of one record with every candidate of a tile."""
    size = len(bases)
    pattern = bases.copy()
    for layer in range(len(column)):
        value = values[column[layer]]
        agrees = (tile.firsts[layer, :size] <= value) & (value <= tile.lasts[layer, :size])
        pattern |= agrees * np.int32(1 << column[layer])
    return pattern
