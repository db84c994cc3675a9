"""Single pairs drawn at random: what wrong pairs look like, and what luck alone links."""

from collections.abc import Callable

import attrs
import numpy as np

from anonloom.typing import Float32Array, FloatArray, IntArray
from anonloom_cvpl.evidence import LinkageTask
from anonloom_cvpl.similarity import Space
from anonloom_linkage.top2_search import Blocks

#: Wrong pairs whose similarity stands for all of them.
DRAWN = 200_000


@attrs.frozen(eq=False)
class WrongPairs:
    """Similarities of wrong pairs: S- of (35), all of them or a sample.

    Attributes
    ----------
    everyone
        Whether these are all wrong pairs.
    """

    similarity: FloatArray
    everyone: bool


def wrong_pairs(task: LinkageTask, truth: IntArray | None, rng: np.random.Generator) -> WrongPairs:
    """Draw wrong pairs from the blocks of the first scheme, every pair with the same chance."""
    blocks = [item for some in task.blocks()[:1] for item in some]
    sizes = np.concatenate([block.comparisons for block in blocks])
    total = int(sizes.sum())
    if total <= DRAWN:
        numbers = np.arange(total)
    else:
        numbers = np.sort(rng.integers(total, size=DRAWN))
    records, rows = _pairs(blocks, np.r_[0, np.cumsum(sizes)], numbers)
    if truth is not None:
        wrong = truth[records] != rows
        records, rows = records[wrong], rows[wrong]
    return WrongPairs(similarities(task, records, rows), total <= DRAWN)


def _pairs(blocks: list[Blocks], bounds: IntArray, numbers: IntArray) -> tuple[IntArray, IntArray]:
    """Record and row of pairs that are numbered block by block."""
    records, rows = np.empty(len(numbers), np.int64), np.empty(len(numbers), np.int64)
    index = 0
    for item in blocks:
        first, last = np.searchsorted(numbers, bounds[[index, index + len(item)]])
        own = bounds[index : index + len(item) + 1]
        block = np.searchsorted(own, numbers[first:last], side="right") - 1
        within = numbers[first:last] - own[block]
        candidates = np.diff(item.candidates.starts)[block]
        record, row = np.divmod(within, np.maximum(candidates, 1))
        records[first:last] = item.records.members[item.records.starts[block] + record]
        rows[first:last] = item.candidates.members[item.candidates.starts[block] + row]
        index += len(item)
    return records, rows


def lucky_pairs(task: LinkageTask, rng: np.random.Generator) -> FloatArray:
    """Similarity of every record with one of its candidates, drawn at random (baseline B2).

    Minus infinity for records without candidates.
    """
    chosen = np.full(task.records, -1, np.int64)
    seen = np.zeros(task.records, np.int64)
    for item in task.blocks()[0]:
        sizes = np.diff(item.candidates.starts)
        block = np.repeat(np.arange(len(item)), np.diff(item.records.starts))
        some = sizes[block] > 0
        block, members = block[some], item.records.members[some]
        drawn = (rng.random(len(members)) * sizes[block]).astype(np.int64)
        rows = item.candidates.members[item.candidates.starts[block] + drawn]
        # Each part of a scheme is chosen with the share of the candidates that it has.
        seen[members] += sizes[block]
        taken = rng.random(len(members)) * seen[members] < sizes[block]
        chosen[members[taken]] = rows[taken]
    known = np.flatnonzero(chosen >= 0)
    result = np.full(task.records, -np.inf)
    result[known] = similarities(task, known, chosen[known])
    return result


def similarities(task: LinkageTask, records: IntArray, rows: IntArray) -> FloatArray:
    """Similarity of each of these pairs."""
    space = task.space
    of_records = _vectors_of(space, space.records_of, task.attacked, records)
    of_rows = _vectors_of(space, space.candidates_of, task.published, rows)
    return space.similarity_of(np.einsum("ij,ij->i", of_records, of_rows), of_records)


def _vectors_of(
    space: Space,
    vectors_of: Callable[[int, IntArray | None], Float32Array],
    side: int,
    numbers: IntArray,
) -> Float32Array:
    """Vectors of some rows of a table, which may be more than the table has."""
    if len(numbers) < space.vectors.rows(side):
        return vectors_of(side, numbers)
    return vectors_of(side, None)[numbers]
