"""The two best candidates of every record inside its block: exact, in tiles, on all cores.

A score is a dot product, whatever the similarity: each similarity is a rising function of one.
Tiles of scores are as large as fit a core's cache, are looked through once and forgotten, so that
memory never grows with the number of comparisons.
"""

from collections.abc import Callable
from functools import cache
from queue import SimpleQueue
from typing import Any, NamedTuple

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom import short_repr
from anonloom.typing import Float32Array, IntArray
from anonloom_kernels.compiled import in_threads, kernel

__all__ = ["Best", "Blocks", "Groups", "search_top2", "steps_of"]

#: Records and candidates of a tile of scores.
TILE_RECORDS = 256
TILE_CANDIDATES = 256
#: Candidates whose tiles are looked through together.
STACK = 8 * TILE_CANDIDATES
#: Comparisons of one piece of work: small enough to share out, large enough not to matter.
PIECE = 1 << 24
#: With fewer comparisons, starting threads takes longer than comparing.
WORTH_THREADS = 1 << 21

#: Elements that an interpreter could read while it looks at one candidate of a tile, and beside.
STEPS = 75
STEPS_BESIDE = 600
#: Numbers of single precision in a line of the cache.
LINE = 16

NOTHING = np.float32(-np.inf)


@short_repr
@attrs.frozen(eq=False)
class Best:
    """The two best candidates of every record.

    Attributes
    ----------
    score, candidate
        Score and number of the best candidate; -inf and -1 without candidates.
    second
        Score of the second best; -inf with fewer than two.
    """

    score: Float32Array
    candidate: IntArray
    second: Float32Array

    @classmethod
    def none(cls, records: int) -> "Best":
        """Return what is known before any comparison."""
        return cls(
            np.full(records, NOTHING), np.full(records, -1, np.int64), np.full(records, NOTHING)
        )


class Groups(NamedTuple):
    """Row numbers sorted by block, and where each block begins."""

    members: IntArray
    starts: IntArray


@attrs.frozen(eq=False)
class Blocks:
    """Which candidates each record is compared with.

    Attributes
    ----------
    records, candidates
        Of every block its records, and its candidates. A candidate may be in several blocks, a
        record is in one at most.
    """

    records: Groups
    candidates: Groups

    @classmethod
    def of(cls, records: IntArray, labels: IntArray, numbers: IntArray) -> "Blocks":
        """Make blocks of labels.

        Parameters
        ----------
        records
            Label of every record.
        labels, numbers
            Label and number of every candidate; one that is in several blocks occurs repeatedly.
        """
        order = _stable_order(records)
        sorted_labels = records[order]
        first = np.r_[True, sorted_labels[1:] != sorted_labels[:-1]][: len(order)]
        starts = np.flatnonzero(first)
        by_label = _stable_order(labels)
        wanted = sorted_labels[starts]
        begin = np.searchsorted(labels[by_label], wanted, side="left")
        end = np.searchsorted(labels[by_label], wanted, side="right")
        # Candidates of labels that no record has are left behind.
        sizes = end - begin
        ends = np.cumsum(sizes, dtype=np.int64)
        kept = np.repeat(begin - (ends - sizes), sizes) + np.arange(sizes.sum())
        return cls(
            Groups(order, np.append(starts, len(order)).astype(np.int64)),
            Groups(numbers[by_label[kept]].astype(np.int64), np.append(np.int64(0), ends)),
        )

    def __len__(self) -> int:
        return len(self.records.starts) - 1

    @property
    def comparisons(self) -> IntArray:
        """Comparisons that each block takes."""
        return np.diff(self.records.starts) * np.diff(self.candidates.starts)

    def candidates_of(self, weights: IntArray, records: int) -> IntArray:
        """Sum of the weights of every record's candidates."""
        cumulated = np.r_[0, np.cumsum(weights[self.candidates.members])]
        per_block = np.diff(cumulated[self.candidates.starts])
        result = np.zeros(records, np.int64)
        result[self.records.members] = np.repeat(per_block, np.diff(self.records.starts))
        return result


def _stable_order(labels: IntArray) -> IntArray:
    """Order of the labels, equal ones as they come."""
    if labels.min(initial=0) >= 0 and labels.max(initial=0) < 1 << 16:
        # Small ones are sorted by their digits, many times faster.
        return np.argsort(labels.astype(np.uint16), kind="stable")
    return np.argsort(labels, kind="stable")


def steps_of(blocks: Blocks) -> float:
    """Elements that interpreted kernels read when these blocks are searched, about."""
    tiles = -(-np.diff(blocks.records.starts) // TILE_RECORDS)
    return float(tiles @ (STEPS * np.diff(blocks.candidates.starts) + STEPS_BESIDE))


def search_top2(
    records: Float32Array,
    candidates: Float32Array,
    blocks: Blocks,
    best: Best,
    *,
    workers: int = 1,
    done: Callable[[int], None] = lambda comparisons: None,
) -> None:
    """Compare every record with the candidates of its block; better ones replace those known.

    Equal vectors in different places of a tile may have scores that differ in the last bit: who
    counts ties gives each vector once, with a weight.

    Parameters
    ----------
    records, candidates
        One vector per record and per candidate; a score is their dot product.
    best
        What is known already; changed in place.
    done
        Called with the number of comparisons since the last call.
    """

    def work(piece: tuple[int, int, int]) -> None:
        block, start, stop = piece
        rows = blocks.records.members[start:stop]
        among = blocks.candidates.members[
            blocks.candidates.starts[block] : blocks.candidates.starts[block + 1]
        ]
        score, second = np.full(len(rows), NOTHING), np.full(len(rows), NOTHING)
        place = np.full(len(rows), -1, np.int32)
        room = free.get()
        try:
            look_through(records.take(rows, axis=0), candidates, among, score, place, second, room)
        finally:
            free.put(room)
        # Records are in one piece only: threads write to different places.
        merge_best(best, rows, Best(score, np.where(place < 0, -1, among[place]), second))
        done(len(rows) * len(among))

    pieces = _pieces(blocks)
    if int(blocks.comparisons.sum()) < WORTH_THREADS:
        workers = 1
    # Every thread has scores of its own.
    free: SimpleQueue[Float32Array] = SimpleQueue()
    for _ in range(max(workers, 1)):
        free.put(_room(TILE_RECORDS * STACK))
    # The tiles are small, and every thread multiplies its own.
    with _libraries().limit(limits=1, user_api="blas"):
        in_threads(work, pieces, workers)


def merge_best(best: Best, rows: IntArray, new: Best) -> None:
    """Merge new candidates of these records, all different, into the best ones known."""
    merge_rows(
        best.score, best.candidate, best.second, rows, new.score, new.candidate, new.second
    )  # fmt: skip


@kernel
def merge_rows(
    best_score: Float32Array,
    best_candidate: IntArray,
    best_second: Float32Array,
    rows: IntArray,
    new_score: Float32Array,
    new_candidate: IntArray,
    new_second: Float32Array,
) -> None:
    """Merge new candidates of some rows into the best ones known."""
    score, index, second = best_score[rows], best_candidate[rows], best_second[rows]
    higher = new_score > score
    lower = np.where(score < new_score, score, new_score)
    # The same candidate, seen again in another block, is no second.
    other = np.where(new_candidate == index, NOTHING, lower)
    rest = np.where(second > new_second, second, new_second)
    best_second[rows] = np.where(other > rest, other, rest)
    best_score[rows] = np.where(higher, new_score, score)
    best_candidate[rows] = np.where(higher, new_candidate, index)


def _room(size: int) -> Float32Array:
    """Room for scores that begins where a line of the cache does: whole registers read faster."""
    room = np.empty(size + LINE, np.float32)
    skip = -room.ctypes.data % (LINE * room.itemsize) // room.itemsize
    return room[skip : skip + size]


@cache
def _libraries() -> Any:
    """Return the libraries whose threads can be limited; to find them takes a while."""
    # Here, because it is needed only where something is compared.
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _pieces(blocks: Blocks) -> list[tuple[int, int, int]]:
    """Share the blocks out: (block, first and last record), the largest pieces first."""
    pieces = []
    sizes = np.diff(blocks.candidates.starts)
    for block in np.flatnonzero(sizes):
        start, stop = (int(end) for end in blocks.records.starts[block : block + 2])
        step = -(-max(PIECE // int(sizes[block]), 1) // TILE_RECORDS) * TILE_RECORDS
        pieces += [
            (int(block), index, min(index + step, stop)) for index in range(start, stop, step)
        ]
    return sorted(pieces, key=lambda piece: -int(sizes[piece[0]]) * (piece[2] - piece[1]))


def look_through(
    records: Float32Array,
    candidates: Float32Array,
    among: IntArray,
    score: Float32Array,
    place: NDArray[np.int32],
    second: Float32Array,
    room: Float32Array,
) -> None:
    """Find the two best of some candidates for some records, tile by tile.

    Parameters
    ----------
    place
        Place of the best among the candidates.
    room
        For the scores of a stack of tiles.
    """
    # Cut once: beside the products of narrow vectors, every slice counts.
    parts = [slice(start, start + TILE_RECORDS) for start in range(0, len(records), TILE_RECORDS)]
    tiles = [(records[part].T, score[part], place[part], second[part]) for part in parts]
    for low in range(0, len(among), STACK):
        y = candidates.take(among[low : low + STACK], axis=0)
        count = len(y) // TILE_CANDIDATES
        whole = count * TILE_CANDIDATES
        stack, rest = y[:whole].reshape(count, TILE_CANDIDATES, y.shape[1]), y[whole:]
        for x, score_of, place_of, second_of in tiles:
            n = x.shape[1]
            products = room[: len(y) * n].reshape(len(y), n)
            if whole:
                np.matmul(stack, x, out=products[:whole].reshape(count, TILE_CANDIDATES, n))
            if len(rest):
                np.matmul(rest, x, out=products[whole:])
            keep_best(products, low, score_of, place_of, second_of)


@kernel
def keep_best(
    products: Float32Array,
    low: int,
    score: Float32Array,
    place: NDArray[np.int32],
    second: Float32Array,
) -> None:
    """Take the scores of a tile, (candidates x records), into the two best of every record.

    Records lie side by side, and nothing depends on a branch: whole registers of them are compared
    at once.
    """
    for j in range(len(products)):
        value = products[j]
        higher = value > score
        lower = np.where(value < score, value, score)
        second[:] = np.where(lower > second, lower, second)
        place[higher] = low + j
        score[:] = np.where(higher, value, score)
