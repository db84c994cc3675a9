"""Approximate search for blocks that are too large to be searched exactly: a graph of neighbours.

Exact search wins up to more than a hundred thousand candidates in one block. Beyond that a
hierarchical graph finds nearly all best candidates with far fewer comparisons. What it misses is
similar to less: rates that follow from it are bounds from below.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from anonloom.errors import UsageError
from anonloom.typing import BoolArray, Float32Array
from anonloom_linkage.top2_search import Best, Blocks, Groups, merge_best

__all__ = ["approximate_top2", "split"]

#: Links of a point, and how widely the graph is searched when it is built and when it is asked.
LINKS = 16
BUILDING = 80
ASKING = 32


def split(blocks: Blocks, most: int) -> tuple[Blocks, Blocks]:
    """Divide blocks into those with at most so many candidates, and the others."""
    large = np.diff(blocks.candidates.starts) > most
    return _only(blocks, ~large), _only(blocks, large)


def _only(blocks: Blocks, kept: BoolArray) -> Blocks:
    return Blocks(*(_of_blocks(groups, kept) for groups in (blocks.records, blocks.candidates)))


def _of_blocks(groups: Groups, kept: BoolArray) -> Groups:
    sizes = np.diff(groups.starts)
    starts = np.append(np.int64(0), np.cumsum(sizes[kept]))
    return Groups(groups.members[np.repeat(kept, sizes)], starts)


def approximate_top2(
    records: Float32Array,
    candidates: Float32Array,
    blocks: Blocks,
    best: Best,
    *,
    workers: int = 1,
    done: Callable[[int], None] = lambda comparisons: None,
) -> None:
    """Do what `top2_search.search_top2` does, but for what the graph misses."""
    faiss = _faiss()
    faiss.omp_set_num_threads(workers)
    for block in range(len(blocks)):
        rows = blocks.records.members[slice(*blocks.records.starts[block : block + 2])]
        among = blocks.candidates.members[slice(*blocks.candidates.starts[block : block + 2])]
        if not len(rows) or not len(among):
            continue
        graph = faiss.IndexHNSWFlat(candidates.shape[1], LINKS, faiss.METRIC_INNER_PRODUCT)
        graph.hnsw.efConstruction = BUILDING
        graph.hnsw.efSearch = ASKING
        graph.add(np.ascontiguousarray(candidates[among]))
        scores, places = graph.search(np.ascontiguousarray(records[rows]), min(2, len(among)))
        result = Best.none(len(rows))
        seen = places[:, 0] >= 0
        result.score[seen] = scores[seen, 0]
        result.candidate[seen] = among[places[seen, 0]]
        if places.shape[1] > 1:
            again = places[:, 1] >= 0
            result.second[again] = scores[again, 1]
        merge_best(best, rows, result)
        done(len(rows) * len(among))


def _faiss() -> Any:
    try:
        import faiss  # an optional extra
    except ImportError:
        raise UsageError(
            "approximate search needs the package faiss-cpu",
            hint="pip install 'anonloom-linkage[approximate]'",
        ) from None
    return faiss
