"""Blocks that are too large to be compared: cut off, sampled, or divided (Table 6 of CVPL).

Each makes fewer comparisons than the blocks have, so that rates which follow are bounds from below.
"""

from collections.abc import Sequence
from typing import Literal

import attrs
import numpy as np

from anonloom.typing import FloatArray, IntArray
from anonloom_linkage.approximate_search import split
from anonloom_linkage.top2_search import Blocks, Groups

__all__ = ["Reduction", "reduce_blocks"]

Reduction = Literal["cutoff", "sample", "divide"]


def reduce_blocks(
    blocks: Blocks,
    most: int,
    how: Reduction,
    rng: np.random.Generator,
    of_records: FloatArray,
    of_candidates: FloatArray,
) -> Blocks:
    """Return blocks of which none has more candidates than `most`, but for ties when divided.

    Parameters
    ----------
    how
        `cutoff` keeps the first candidates of a large block, `sample` some drawn at random;
        `divide` makes parts of it, of candidates and records that are near in one number.
    of_records, of_candidates
        That number for every record and every candidate.
    """
    small, large = split(blocks, most)
    if not len(large):
        return blocks
    if how == "divide":
        parts = [
            part
            for index in range(len(large))
            for part in _divided(large, index, most, of_records, of_candidates)
        ]
    else:
        parts = []
        for index in range(len(large)):
            records, candidates = _block(large, index)
            drawn = np.arange(most)
            if how == "sample":
                drawn = np.sort(rng.choice(len(candidates), most, replace=False))
            parts.append((records, candidates[drawn]))
    parts += [_block(small, index) for index in range(len(small))]
    return attrs.evolve(
        blocks,
        records=_grouped([records for records, _ in parts]),
        candidates=_grouped([candidates for _, candidates in parts]),
    )


def _block(blocks: Blocks, index: int) -> tuple[IntArray, IntArray]:
    """Records and candidates of one block."""
    records, candidates = (
        group.members[group.starts[index] : group.starts[index + 1]]
        for group in (blocks.records, blocks.candidates)
    )
    return records, candidates


def _grouped(parts: Sequence[IntArray]) -> Groups:
    starts = np.append(np.int64(0), np.cumsum([len(part) for part in parts], dtype=np.int64))
    return Groups(np.concatenate(parts), starts)


def _divided(
    blocks: Blocks, index: int, most: int, of_records: FloatArray, of_candidates: FloatArray
) -> list[tuple[IntArray, IntArray]]:
    """Divide a block at quantiles of its candidates."""
    records, candidates = _block(blocks, index)
    numbers = of_candidates[candidates]
    number = -(-len(candidates) // most)
    edges = np.sort(numbers)[np.arange(1, number) * len(numbers) // number]
    of_candidate = np.searchsorted(edges, numbers, side="right")
    of_record = np.searchsorted(edges, of_records[records], side="right")
    parts = [(records[of_record == p], candidates[of_candidate == p]) for p in range(number)]
    return [part for part in parts if len(part[0])]
