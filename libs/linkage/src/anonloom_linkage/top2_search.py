"""The two best candidates of every record inside its block: exact, in tiles, on all cores.

A score is a dot product, whatever the similarity: each similarity is a rising function of one.
Tiles of scores are as large as fit a core's cache, are looked through once and forgotten, so that
memory never grows with the number of comparisons.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import attrs
import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from anonloom import short_repr
from anonloom.typing import Float32Array, IntArray
from anonloom_kernels.compiled import in_threads, inline_kernel, kernel

__all__ = ["Best", "Blocks", "Groups", "search_top2"]

#: Records and candidates of a tile of scores.
TILE_RECORDS = 256
TILE_CANDIDATES = 256
#: Comparisons of one piece of work: small enough to share out, large enough not to matter.
PIECE = 1 << 24
#: With fewer comparisons, starting threads takes longer than comparing.
WORTH_THREADS = 1 << 21

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
        result = Best.none(len(rows))
        place = np.full(len(rows), -1, np.int32)
        look_through(records[rows], candidates, among, result.score, place, result.second)
        result.candidate[:] = np.where(place < 0, -1, among[place])
        # Records are in one piece only: threads write to different places.
        merge_best(best, rows, result)
        done(len(rows) * len(among))

    pieces = _pieces(blocks)
    if int(blocks.comparisons.sum()) < WORTH_THREADS:
        workers = 1
    # The tiles are small, and every thread multiplies its own.
    with _libraries().limit(limits=1, user_api="blas"):
        in_threads(work, pieces, workers)


def merge_best(best: Best, rows: IntArray, new: Best) -> None:
    """Merge new candidates of these records into the best ones known."""
    score, index, second = best.score[rows], best.candidate[rows], best.second[rows]
    higher = new.score > score
    # The same candidate, seen again in another block, is no second.
    other = np.where(new.candidate == index, NOTHING, np.minimum(score, new.score))
    best.second[rows] = np.maximum(other, np.maximum(second, new.second))
    best.score[rows] = np.where(higher, new.score, score)
    best.candidate[rows] = np.where(higher, new.candidate, index)


@cache
def _libraries() -> Any:
    """Return the libraries whose threads can be limited; to find them takes a while."""
    import scipy.linalg  # noqa: F401  # kernels multiply by its library, which must be there to be limited

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


@inline_kernel
def with_one_more(
    known: tuple[np.float32, np.int32, np.float32], value: np.float32, number: np.int32
) -> tuple[np.float32, np.int32, np.float32]:
    """Best score, its place and second score, with one more candidate."""
    first, place, second = known
    lower = value if value < first else first
    second = lower if lower > second else second
    place = number if value > first else place
    first = value if value > first else first
    return first, place, second


@kernel
def look_through(
    records: Float32Array,
    candidates: Float32Array,
    among: IntArray,
    score: Float32Array,
    place: NDArray[np.int32],
    second: Float32Array,
) -> None:
    """Find the two best of some candidates for some records, tile by tile.

    Parameters
    ----------
    place
        Place of the best among the candidates.
    """
    n, width = records.shape
    m = among.size
    tile = np.empty((TILE_CANDIDATES, width), np.float32)
    scores = np.empty(TILE_RECORDS * TILE_CANDIDATES, np.float32)
    for low in range(0, m, TILE_CANDIDATES):
        high = min(low + TILE_CANDIDATES, m)
        for j in range(low, high):
            for feature in range(width):
                tile[j - low, feature] = candidates[among[j], feature]
        y = tile[: high - low]
        for start in range(0, n, TILE_RECORDS):
            stop = min(start + TILE_RECORDS, n)
            x = records[start:stop]
            products = scores[: y.shape[0] * x.shape[0]].reshape(y.shape[0], x.shape[0])
            np.dot(y, x.T, products)
            keep_best(products, low, score[start:stop], place[start:stop], second[start:stop])


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
    at once. Four candidates at a time, so that what is known is read and written less often.
    """
    m, n = products.shape
    whole = m - m % 4
    for j in range(0, whole, 4):
        a, b, c, d = products[j], products[j + 1], products[j + 2], products[j + 3]
        number = np.int32(low + j)
        for i in range(n):
            known = score[i], place[i], second[i]
            known = with_one_more(known, a[i], number)
            known = with_one_more(known, b[i], number + np.int32(1))
            known = with_one_more(known, c[i], number + np.int32(2))
            known = with_one_more(known, d[i], number + np.int32(3))
            score[i], place[i], second[i] = known
    for j in range(whole, m):
        a, number = products[j], np.int32(low + j)
        for i in range(n):
            known = score[i], place[i], second[i]
            score[i], place[i], second[i] = with_one_more(known, a[i], number)
