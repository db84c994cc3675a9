"""One pass over the blocks: what every record's best candidates are, and all that follows.

Algorithm 1 of the paper asks for one threshold whether any candidate reaches it. The best
similarity of a record answers that for every threshold; with the best wrong candidate and the true
pair's similarity, every rate of section 5 is a matter of sorting.
"""

from collections.abc import Sequence
from typing import Literal

import attrs
import numpy as np

from anonloom import StageContext
from anonloom.typing import BoolArray, Float32Array, FloatArray, IntArray
from anonloom_cvpl.candidate_blocks import (
    CandidateBlocks,
    Candidates,
    SchemeCandidates,
    shared_schemes,
)
from anonloom_cvpl.similarity import Space
from anonloom_kernels.compiled import announce_interpreted, in_threads, is_compiled, kernel
from anonloom_linkage.approximate_search import approximate_top2, split
from anonloom_linkage.blocking import Scheme
from anonloom_linkage.large_blocks import Reduction, reduce_blocks
from anonloom_linkage.top2_search import Best, Blocks, search_top2, steps_of

#: What is done with blocks that are too large: searched approximately, or made smaller.
Beyond = Literal["approximate"] | Reduction

#: Scores that differ by less, or by less than this share, are equal: the order in which products
#: are summed may differ.
ALIKE = np.float32(2e-6)
#: Rows of a piece when ties are counted.
CHUNK = 4_096


@attrs.frozen(eq=False)
class Evidence:
    """What is known of every attacked record.

    Attributes
    ----------
    best
        Similarity of its best candidate; -inf without candidates.
    row
        Row of the release of that candidate, the first of equal ones; -1 without candidates.
    true
        Similarity of the true pair if it shares a block; NaN otherwise.
    wrong
        Similarity of the best candidate that is not the true one; -inf without.
    hit
        Chance that the best candidate is the true one, ties broken at random; NaN where there is
        no true one in the release.
    candidates
        Number of candidates.
    block
        Block, for resampling.
    """

    best: FloatArray = attrs.field(repr=False)
    row: IntArray = attrs.field(repr=False)
    true: FloatArray = attrs.field(repr=False)
    wrong: FloatArray = attrs.field(repr=False)
    hit: FloatArray = attrs.field(repr=False)
    candidates: IntArray = attrs.field(repr=False)
    block: IntArray = attrs.field(repr=False)

    def __len__(self) -> int:
        return len(self.best)

    @property
    def has_true_row(self) -> BoolArray:
        """Records that have a true counterpart in the release."""
        return ~np.isnan(self.hit)

    @property
    def shares_block(self) -> BoolArray:
        """Records that share a block with their true counterpart."""
        return ~np.isnan(self.true)


@attrs.frozen(eq=False)
class LinkageTask:
    """Which records of one table are compared with which rows of another, and in which space.

    Attributes
    ----------
    schemes
        Pairs that share a block in any of them are compared.
    attacked, published
        Numbers of the tables among the sides of the columns.
    chosen
        The rows of the attacked table that are linked; all by default.
    among
        The rows of the published table that are candidates; all by default.
    exact, beyond
        Blocks with more candidates than this are not searched exactly, and what is done instead;
        all are by default.
    """

    space: Space
    schemes: tuple[Scheme, ...]
    attacked: int = 0
    published: int = 1
    chosen: IntArray | None = attrs.field(default=None, repr=False)
    among: IntArray | None = attrs.field(default=None, repr=False)
    exact: int | None = None
    beyond: Beyond = "approximate"

    @property
    def records(self) -> int:
        """Number of attacked records."""
        return self.space.vectors.rows(self.attacked) if self.chosen is None else len(self.chosen)

    def blocks(self, schemes: Sequence[Scheme] | None = None) -> list[list[Blocks]]:
        """Blocks of records and rows, for every scheme."""
        attacked = self.space.vectors.rows(self.attacked)
        rows = self.space.vectors.rows(self.published)
        return [
            [
                blocks if self.chosen is None else _of_chosen(blocks, self.chosen, attacked)
                for blocks in self._reduced(
                    scheme.blocks(attacked, rows, attacked=self.attacked, published=self.published)
                )
            ]
            for scheme in (self.schemes if schemes is None else schemes)
        ]

    @property
    def _approximate(self) -> int | None:
        """Candidates beyond which blocks are searched approximately; None where none is."""
        return self.exact if self.beyond == "approximate" else None

    @property
    def _reduces(self) -> bool:
        return self.exact is not None and self.beyond != "approximate"

    def _reduced(self, blocks: Sequence[Blocks]) -> Sequence[Blocks]:
        """Cut off, sample or divide large blocks, in the same way whenever they are asked for."""
        if not self._reduces or not any(
            np.diff(some.candidates.starts).max(initial=0) > self.exact for some in blocks
        ):
            return blocks
        assert self.exact is not None
        assert self.beyond != "approximate"
        # Records and rows that are near in the space are near along its first component.
        along = [
            of(side, None)[:, 0].astype(float)
            for of, side in (
                (self.space.records_of, self.attacked),
                (self.space.candidates_of, self.published),
            )
        ]
        rng = np.random.default_rng(self.exact)
        return [reduce_blocks(some, self.exact, self.beyond, rng, *along) for some in blocks]

    def evidence(self, context: StageContext, truth: IntArray | None = None) -> Evidence:
        """Compare, and gather what is known of every record.

        Parameters
        ----------
        truth
            For every attacked record its row of the published table; -1 for none.
        """
        truth = np.full(self.records, -1, np.int64) if truth is None else truth
        if not self.space.vectors.rows(self.published) or not self.records:
            return _nothing(self.records, truth, self._labels())
        blocks = self.blocks()
        among = self.among
        if self.chosen is not None and among is None:
            met = [np.unique(item.candidates.members) for some in blocks for item in some]
            among = np.unique(np.concatenate([*met, truth[truth >= 0]]))
        if among is not None and not len(among):
            return _nothing(self.records, truth, self._labels())
        records = self.space.records_of(self.attacked, self.chosen)
        candidates = Candidates.of(self.space, self.published, among)
        by_scheme = self._candidate_blocks(blocks, candidates)
        best = search(records, candidates, by_scheme.parts, context, self._approximate)
        return self._assess(records, candidates, by_scheme, best, truth, context)

    def _candidate_blocks(
        self, blocks: Sequence[Sequence[Blocks]], candidates: Candidates
    ) -> SchemeCandidates:
        def blocks_of(parts: Sequence[Blocks]) -> list[CandidateBlocks]:
            return [CandidateBlocks.of(part, candidates, self.records) for part in parts]

        # Of parts of blocks nobody knows which pairs several schemes share.
        shared = None if self._reduces else shared_schemes(self.schemes)
        if shared is None:
            return SchemeCandidates([blocks_of(parts) for parts in blocks], None)
        in_all = self.blocks([scheme for _, scheme in shared])
        return SchemeCandidates(
            [blocks_of(parts) for parts in blocks],
            [(sign, blocks_of(parts)) for (sign, _), parts in zip(shared, in_all, strict=True)],
        )

    def _assess(
        self,
        records: Float32Array,
        candidates: Candidates,
        by_scheme: SchemeCandidates,
        best: Best,
        truth: IntArray,
        context: StageContext,
    ) -> Evidence:
        own = np.where(truth >= 0, candidates.point[truth], -1)
        of_true = by_scheme.count(lambda part: part.rows_of(own))
        of_best = by_scheme.count(lambda part: part.rows_of(best.candidate))
        met = (of_true > 0) & self._meet(truth)
        true = np.full(self.records, -np.inf, np.float32)
        pairs = np.flatnonzero(met)
        true[pairs] = np.einsum("ij,ij->i", records[pairs], candidates.vectors[own[pairs]])
        if self._approximate is not None:
            # What an approximate search missed may be the true pair, which is known here.
            missed = np.flatnonzero(met & (true > best.score) & (best.candidate != own))
            best.second[missed] = best.score[missed]
            best.score[missed], best.candidate[missed] = true[missed], own[missed]
            of_best = by_scheme.count(lambda part: part.rows_of(best.candidate))
        # The order of a sum must not make a pair more similar than the best one, or than itself.
        result = met & (best.candidate == own)
        true = np.where(result, best.score, np.minimum(true, best.score))
        # Of the best point, the true row alone is no wrong candidate.
        wrong = np.where(result & (of_best == 1), best.second, best.score)
        limit = (best.score - ALIKE * np.maximum(np.abs(best.score), 1)).astype(np.float32)
        top = met & (true >= limit)
        ties = of_best.astype(np.float64)
        unclear = np.flatnonzero(top & (best.second >= limit))
        if len(unclear):
            asked = _TieCount(records, candidates, unclear, limit[unclear], context.workers)
            ties[unclear] = by_scheme.count(asked.rows_reaching)
        hit = np.where(top, 1.0 / np.maximum(ties, 1.0), 0.0)
        hit[truth < 0] = np.nan
        similarity = self.space.similarity_of
        similar_true = similarity(true, records)
        similar_true[~met] = np.nan
        return Evidence(
            best=similarity(best.score, records),
            row=by_scheme.first_of(best.candidate, candidates),
            true=similar_true,
            wrong=similarity(wrong, records),
            hit=hit,
            candidates=by_scheme.count(lambda part: part.candidates),
            block=self._labels(),
        )

    def _labels(self) -> IntArray:
        """Block of every record in the first scheme."""
        if not self.schemes[0].keys:
            return np.zeros(self.records, np.int64)
        labels = self.schemes[0].labels(self.attacked)
        return labels if self.chosen is None else labels[self.chosen]

    def _meet(self, truth: IntArray) -> BoolArray:
        """Whether record and true row share a block of any scheme."""
        known = np.flatnonzero(truth >= 0)
        records = known if self.chosen is None else self.chosen[known]
        together = np.zeros(self.records, bool)
        for scheme in self.schemes:
            together[known] |= scheme.meet(
                records, truth[known], attacked=self.attacked, published=self.published
            )
        return together


def _of_chosen(blocks: Blocks, chosen: IntArray, attacked: int) -> Blocks:
    """Keep the chosen records of blocks, numbered as they were chosen, and their candidates."""
    number = np.full(attacked, -1, np.int64)
    number[chosen] = np.arange(len(chosen))
    members = number[blocks.records.members]
    block = np.repeat(np.arange(len(blocks)), np.diff(blocks.records.starts))[members >= 0]
    rows, starts = blocks.candidates
    of_row = np.repeat(np.arange(len(blocks)), np.diff(starts))
    kept = np.isin(of_row, block)
    labels = np.full(len(chosen), -1, np.int64)
    labels[members[members >= 0]] = block
    known = np.flatnonzero(labels >= 0)
    kept_blocks = Blocks.of(labels[known], of_row[kept], rows[kept])
    return attrs.evolve(
        kept_blocks,
        records=kept_blocks.records._replace(members=known[kept_blocks.records.members]),
    )


def announce_search(task: LinkageTask, searches: float, context: StageContext) -> None:
    """Say before so many searches like this one if they are interpreted."""
    if not is_compiled("anonloom_linkage"):
        steps = sum(steps_of(item) for some in task.blocks() for item in some)
        announce_interpreted(context, "anonloom_linkage", searches * steps)
    # Ties are counted for few records only.
    announce_interpreted(context, __package__, 0)


def search(
    records: Float32Array,
    candidates: Candidates,
    by_scheme: Sequence[CandidateBlocks],
    context: StageContext,
    exact: int | None = None,
) -> Best:
    """Find the two best points of every record, in blocks beyond `exact` nearly always."""
    total = int(sum(part.blocks.comparisons.sum() for part in by_scheme))
    best = Best.none(len(records))
    done = 0

    def tell(comparisons: int) -> None:
        nonlocal done
        done += comparisons
        context.progress(done, total)

    for part in by_scheme:
        blocks = part.blocks
        if exact is not None:
            blocks, large = split(blocks, exact)
            approximate_top2(
                records, candidates.vectors, large, best, workers=context.workers, done=tell
            )
        search_top2(records, candidates.vectors, blocks, best, workers=context.workers, done=tell)
    return best


def _nothing(records: int, truth: IntArray, block: IntArray) -> Evidence:
    """Return the evidence of a release in which there is nobody to be compared with."""
    none = np.full(records, -np.inf)
    return Evidence(
        best=none,
        row=np.full(records, -1, np.int64),
        true=np.full(records, np.nan),
        wrong=none,
        hit=np.where(truth >= 0, 0.0, np.nan),
        candidates=np.zeros(records, np.int64),
        block=block,
    )


@attrs.frozen(eq=False)
class _TieCount:
    """Counts, for chosen records, the rows that reach their best score."""

    records: Float32Array
    candidates: Candidates
    chosen: IntArray
    limit: Float32Array
    workers: int

    def rows_reaching(self, part: CandidateBlocks) -> IntArray:
        """Count the rows that reach each record's score."""
        result = np.zeros(len(self.chosen), np.int64)
        points, starts = part.blocks.candidates

        def work(start: int) -> None:
            rows = slice(start, start + CHUNK)
            count_reaching(
                self.records[self.chosen[rows]],
                self.candidates.vectors,
                part.block[self.chosen[rows]],
                starts,
                points,
                part.weights,
                self.limit[rows],
                result[rows],
            )

        in_threads(work, range(0, len(self.chosen), CHUNK), self.workers)
        return result


@kernel
def count_reaching(
    records: Float32Array,
    vectors: Float32Array,
    block: IntArray,
    starts: IntArray,
    points: IntArray,
    weights: IntArray,
    limit: Float32Array,
    count: IntArray,
) -> None:
    """Sum the weights of the candidates whose score reaches the record's limit."""
    for i in range(len(records)):
        if block[i] < 0:
            continue
        entries = slice(starts[block[i]], starts[block[i] + 1])
        candidates = vectors[points[entries]]
        score = np.zeros(len(candidates), np.float32)
        for feature in range(records.shape[1]):
            score += records[i, feature] * candidates[:, feature]
        count[i] += weights[entries][score >= limit[i]].sum()
