"""Linking: estimate the model inside blocks, then link every record to its best candidate."""

from collections.abc import Sequence
from threading import Lock

import attrs
import numpy as np

from anonloom import StageContext, short_repr
from anonloom.typing import BoolArray, FloatArray, IntArray
from anonloom_fellegi_sunter.agreement import Attribute
from anonloom_fellegi_sunter.model import Counts, Model, Others, fit
from anonloom_fellegi_sunter.patterns import (
    Best,
    Comparison,
    count_patterns,
    find_best,
    steps_of,
)
from anonloom_kernels.compiled import announce_interpreted
from anonloom_linkage.blocking import Scheme
from anonloom_linkage.top2_search import Blocks, Groups


@attrs.frozen(eq=False)
class Links:
    """What linking gave for every record.

    Attributes
    ----------
    weight
        Weight of the best candidate; -inf without candidates.
    row
        That candidate, the first of equal ones; -1 without candidates.
    ties
        Candidates with that weight.
    right
        How many of these are the record's own.
    """

    weight: FloatArray = attrs.field(repr=False)
    row: IntArray = attrs.field(repr=False)
    ties: IntArray = attrs.field(repr=False)
    right: IntArray = attrs.field(repr=False)

    @classmethod
    def of(cls, best: Best, weights: FloatArray) -> "Links":
        """Replace ranks by the weights that they stand for."""
        # The rank of a record without candidates, -1, finds the last.
        return cls(np.append(weights, -np.inf)[best.rank], best.row, best.ties, best.right)

    @property
    def chance(self) -> FloatArray:
        """Chance that the best candidate is the record's own, ties broken at random."""
        return self.right / np.maximum(self.ties, 1)


@short_repr
@attrs.frozen(eq=False)
class Linkage:
    """All that is known after linking.

    Attributes
    ----------
    release, null
        Links of the records to rows of the release, and to other records of the original.
    candidates
        Number of candidates of every record.
    block
        Block of every record, for resampling.
    comparisons
        Pairs of a record and a row of the release.
    """

    model: Model
    attributes: tuple[Attribute, ...]
    release: Links
    null: Links
    candidates: IntArray = attrs.field(repr=False)
    block: IntArray = attrs.field(repr=False)
    comparisons: int


def candidates_of(blocks: Sequence[Blocks], records: int, rows: int) -> IntArray:
    """Count the candidates of every record."""
    result = np.zeros(records, np.int64)
    for some in blocks:
        result += some.candidates_of(np.ones(rows, np.int64), records)
    return result


def link(
    attributes: Sequence[Attribute],
    scheme: Scheme,
    blocks: Sequence[Blocks],
    persons: IntArray,
    truth: IntArray,
    others: Others,
    context: StageContext,
) -> Linkage:
    """Estimate the model, and link all records with it.

    Parameters
    ----------
    attributes, blocks
        At least one column, and at least one pair of a record and a row of the release.
    persons
        Person of every record.
    truth
        For every row of the release its record; -1 for none.
    others
        What is taken for known of pairs that do not match.
    """
    comparison = Comparison.of(attributes)
    records, rows = len(persons), len(truth)
    candidates = candidates_of(blocks, records, rows)
    among = _as_many(records, rows, context.rng)
    own_blocks = [_only(some, among) for some in scheme.blocks(records, records, published=0)]
    released, null = comparison.with_release(), comparison.with_itself(persons)
    pairs, reached = int(candidates.sum()), int((candidates > 0).sum())
    strangers = sum(int(some.comparisons.sum()) for some in own_blocks)
    # Cells that cover several values agree with strangers as single values never do.
    known = others == "null" and not any(attribute.coarse for attribute in attributes)
    context.note(f"{pairs:,} pairs of a record and a published row: {scheme.words}")
    tell, workers = _ProgressCounter(context, 2 * pairs + (1 + known) * strangers), context.workers
    passes = [*blocks, *blocks, *((1 + known) * own_blocks)]
    announce_interpreted(context, __package__, steps_of(comparison, passes))
    table = count_patterns(comparison, released, blocks, workers, tell)
    model = fit(
        Counts.of(table, comparison.masks, len(attributes)),
        [attribute.chance for attribute in attributes],
        reached / pairs,
        min(reached, rows) / pairs,
        count_patterns(comparison, null, own_blocks, workers, tell) if known else None,
    )
    weights, ranks = np.unique(model.weights(comparison.masks), return_inverse=True)
    rank_of = ranks.astype(np.int32)
    best = find_best(comparison, released, blocks, rank_of, truth, workers, tell)
    # Nobody is a right link of the null.
    best_null = find_best(
        comparison, null, own_blocks, rank_of, np.full(records, -1), workers, tell
    )
    return Linkage(
        model=model,
        attributes=tuple(attributes),
        release=Links.of(best, weights),
        null=Links.of(best_null, weights),
        candidates=candidates,
        block=scheme.labels() if scheme.keys else np.zeros(records, np.int64),
        comparisons=pairs,
    )


def _as_many(records: int, rows: int, rng: np.random.Generator) -> BoolArray:
    """Choose as many records as there are rows: among more of them, more agree by chance."""
    among = np.ones(records, bool)
    if rows < records:
        among[rng.permutation(records)[rows:]] = False
    return among


def _only(blocks: Blocks, among: BoolArray) -> Blocks:
    """Keep these candidates of the blocks."""
    members, starts = blocks.candidates
    kept = among[members]
    left = np.r_[0, np.cumsum(kept)][starts].astype(np.int64)
    return attrs.evolve(blocks, candidates=Groups(members[kept], left))


class _ProgressCounter:
    """Tells a run how far the comparisons are, from any thread."""

    def __init__(self, context: StageContext, total: int) -> None:
        self._run, self._total, self._done = context, total, 0
        self._lock = Lock()

    def __call__(self, comparisons: int) -> None:
        with self._lock:
            self._done += comparisons
            self._run.progress(self._done, self._total)
