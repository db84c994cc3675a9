"""One pass over the blocks: what every record's best candidates are, and all that follows.

Algorithm 1 of the paper asks for one threshold whether any candidate reaches it. The best
similarity of a record answers that for every threshold; with the best wrong candidate and the true
pair's similarity, every rate of section 5 is a matter of sorting.
"""

from collections.abc import Sequence

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom.data.points import collapse
from anonloom.kinds.context import Run
from anonloom_cvpl.similarity import Floats32, Space
from anonloom_kernels.compiled import compiling, in_threads, kernel
from anonloom_linkage.blocking import Scheme
from anonloom_linkage.nearest import Best, Blocks, Grouped, Ints, two_best

Floats = NDArray[np.float64]

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

    best: Floats = attrs.field(repr=False)
    row: Ints = attrs.field(repr=False)
    true: Floats = attrs.field(repr=False)
    wrong: Floats = attrs.field(repr=False)
    hit: Floats = attrs.field(repr=False)
    candidates: Ints = attrs.field(repr=False)
    block: Ints = attrs.field(repr=False)

    def __len__(self) -> int:
        return len(self.best)

    @property
    def matched(self) -> NDArray[np.bool_]:
        """Records that have a true counterpart in the release."""
        return ~np.isnan(self.hit)

    @property
    def met(self) -> NDArray[np.bool_]:
        """Records that share a block with their true counterpart."""
        return ~np.isnan(self.true)


@attrs.frozen(eq=False)
class Candidates:
    """The rows of a table as candidates: equal rows are one point.

    Attributes
    ----------
    point
        Point of every row; -1 for rows that are no candidates.
    first
        First row of every point.
    vectors
        One per point.
    """

    point: Ints = attrs.field(repr=False)
    first: Ints = attrs.field(repr=False)
    vectors: Floats32 = attrs.field(repr=False)

    @classmethod
    def of(cls, space: Space, side: int, among: Ints | None = None) -> "Candidates":
        """Collapse equal rows of a table, or of some of its rows."""
        codes = space.vectors.codes(side)
        rows = np.arange(codes.shape[1]) if among is None else np.sort(among)
        points = collapse(np.ascontiguousarray(codes[:, rows]))
        order = np.argsort(points.point, kind="stable")
        first = rows[order[np.r_[0, np.cumsum(points.weights)[:-1]].astype(np.int64)]]
        point = np.full(codes.shape[1], -1, np.int64)
        point[rows] = points.point
        return cls(point, first, space.candidates_of(side, first))

    def __len__(self) -> int:
        return len(self.first)


@attrs.frozen(eq=False)
class Meeting:
    """Where records meet points of candidates.

    Attributes
    ----------
    blocks
        Its candidates are points, each once per block.
    keys, weights
        Of every candidate of every block, ascending: block x points + point, and its rows.
    block
        Block of every record; -1 for none.
    """

    blocks: Blocks
    keys: Ints = attrs.field(repr=False)
    weights: Ints = attrs.field(repr=False)
    block: Ints = attrs.field(repr=False)
    points: int

    @classmethod
    def of(cls, blocks: Blocks, candidates: Candidates, records: int) -> "Meeting":
        """Replace the rows of blocks by points."""
        rows, starts = blocks.candidates
        points = max(len(candidates), 1)
        block = np.repeat(np.arange(len(blocks)), np.diff(starts))
        point = candidates.point[rows]
        known = point >= 0
        keys, weights = np.unique(block[known] * points + point[known], return_counts=True)
        bounds = np.searchsorted(keys, np.arange(len(blocks) + 1) * points)
        of_record = np.full(records, -1, np.int64)
        of_record[blocks.records.members] = np.repeat(
            np.arange(len(blocks)), np.diff(blocks.records.starts)
        )
        among = Grouped(keys % points, bounds.astype(np.int64))
        return cls(attrs.evolve(blocks, candidates=among), keys, weights, of_record, points)

    def rows_of(self, records: Ints, points: Ints) -> Ints:
        """How many rows each of these points is in the block of each of these records."""
        if not len(self.keys):
            return np.zeros(len(records), np.int64)
        key = self.block[records] * self.points + points
        at = np.searchsorted(self.keys, key).clip(0, len(self.keys) - 1)
        there = (self.keys[at] == key) & (self.block[records] >= 0) & (points >= 0)
        return np.where(there, self.weights[at], 0)

    @property
    def candidates(self) -> Ints:
        """Number of candidates of every record."""
        cumulated = np.r_[0, np.cumsum(self.weights)]
        per_block = np.r_[np.diff(cumulated[self.blocks.candidates.starts]), 0]
        # Records without a block, -1, find the last.
        of_records: Ints = per_block[self.block]
        return of_records


@attrs.frozen(eq=False)
class Confrontation:
    """Two tables that are compared.

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
    """

    space: Space
    schemes: tuple[Scheme, ...]
    attacked: int = 0
    published: int = 1
    chosen: Ints | None = attrs.field(default=None, repr=False)
    among: Ints | None = attrs.field(default=None, repr=False)

    @property
    def records(self) -> int:
        """Number of attacked records."""
        return self.space.vectors.rows(self.attacked) if self.chosen is None else len(self.chosen)

    def blocks(self) -> list[list[Blocks]]:
        """Where records meet rows, for every scheme."""
        attacked = self.space.vectors.rows(self.attacked)
        rows = self.space.vectors.rows(self.published)
        return [
            [
                blocks if self.chosen is None else _of_chosen(blocks, self.chosen, attacked)
                for blocks in scheme.blocks(
                    attacked, rows, attacked=self.attacked, published=self.published
                )
            ]
            for scheme in self.schemes
        ]

    def evidence(self, run: Run, truth: Ints | None = None) -> Evidence:
        """Compare, and gather what is known of every record.

        Parameters
        ----------
        truth
            For every attacked record its row of the published table; -1 for none.
        """
        truth = np.full(self.records, -1, np.int64) if truth is None else truth
        if not self.space.vectors.rows(self.published) or not self.records:
            return _nothing(self.records, truth)
        blocks = self.blocks()
        among = self.among
        if self.chosen is not None and among is None:
            met = [np.unique(one.candidates.members) for some in blocks for one in some]
            among = np.unique(np.concatenate([*met, truth[truth >= 0]]))
        records = self.space.records_of(self.attacked, self.chosen)
        candidates = Candidates.of(self.space, self.published, among)
        meetings = [[Meeting.of(one, candidates, self.records) for one in some] for some in blocks]
        best = search(records, candidates, [m for some in meetings for m in some], run)
        return self._judged(records, candidates, meetings, best, truth, run)

    def _judged(
        self,
        records: Floats32,
        candidates: Candidates,
        meetings: list[list[Meeting]],
        best: Best,
        truth: Ints,
        run: Run,
    ) -> Evidence:
        own = np.where(truth >= 0, candidates.point[truth], -1)
        everyone = np.arange(self.records)
        # Schemes may hold the same pair: the scheme with most of them says how many rows it is.
        of_true = _most([[m.rows_of(everyone, own) for m in some] for some in meetings])
        of_best = _most([[m.rows_of(everyone, best.at) for m in some] for some in meetings])
        met = (of_true > 0) & self._meet(truth)
        true = np.full(self.records, -np.inf, np.float32)
        pairs = np.flatnonzero(met)
        true[pairs] = np.einsum("ij,ij->i", records[pairs], candidates.vectors[own[pairs]])
        # Of the best point, the true row alone is no wrong candidate.
        alone = met & (best.at == own) & (of_best == 1)
        wrong = np.where(alone, best.second, best.score)
        limit = best.score - ALIKE * np.maximum(np.abs(best.score), 1)
        top = met & (true >= limit)
        ties = of_best.astype(np.float64)
        unclear = np.flatnonzero(top & (best.second >= limit))
        if len(unclear):
            asked = _Asked(records, candidates, unclear, limit[unclear], run.workers)
            ties[unclear] = _most([[asked.reaching(one) for one in some] for some in meetings])
        hit = np.where(top, 1.0 / np.maximum(ties, 1.0), 0.0)
        hit[truth < 0] = np.nan
        similarity = self.space.similarity_of
        similar_true = similarity(true, records)
        similar_true[~met] = np.nan
        row = np.where(best.at >= 0, candidates.first[best.at], -1)
        return Evidence(
            best=similarity(best.score, records),
            row=row,
            true=similar_true,
            wrong=similarity(wrong, records),
            hit=hit,
            candidates=_most([[m.candidates for m in some] for some in meetings]),
            block=self._labels(),
        )

    def _labels(self) -> Ints:
        """Block of every record in the first scheme."""
        if not self.schemes[0].keys:
            return np.zeros(self.records, np.int64)
        labels = self.schemes[0].labels(self.attacked)
        return labels if self.chosen is None else labels[self.chosen]

    def _meet(self, truth: Ints) -> NDArray[np.bool_]:
        """Whether record and true row share a block of any scheme."""
        known = np.flatnonzero(truth >= 0)
        records = known if self.chosen is None else self.chosen[known]
        together = np.zeros(self.records, bool)
        for scheme in self.schemes:
            together[known] |= scheme.meet(
                records, truth[known], attacked=self.attacked, published=self.published
            )
        return together


def _of_chosen(blocks: Blocks, chosen: Ints, attacked: int) -> Blocks:
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
    made = Blocks.of(labels[known], of_row[kept], rows[kept])
    return attrs.evolve(made, records=made.records._replace(members=known[made.records.members]))


def search(
    records: Floats32, candidates: Candidates, meetings: Sequence[Meeting], run: Run
) -> Best:
    """Find the two best points of every record."""
    total = int(sum(meeting.blocks.comparisons.sum() for meeting in meetings))
    best = Best.none(len(records))
    done = 0

    def tell(comparisons: int) -> None:
        nonlocal done
        done += comparisons
        run.progress(done, total)

    with compiling(run):
        for meeting in meetings:
            two_best(
                records, candidates.vectors, meeting.blocks, best, workers=run.workers, done=tell
            )
    return best


def _nothing(records: int, truth: Ints) -> Evidence:
    """Return the evidence of a release in which there is nobody to be compared with."""
    none = np.full(records, -np.inf)
    return Evidence(
        best=none,
        row=np.full(records, -1, np.int64),
        true=np.full(records, np.nan),
        wrong=none,
        hit=np.where(truth >= 0, 0.0, np.nan),
        candidates=np.zeros(records, np.int64),
        block=np.zeros(records, np.int64),
    )


def _most(of_schemes: Sequence[Sequence[NDArray[np.integer]]]) -> Ints:
    """Sum over the parts of a scheme, which share no pair; the most over schemes, which may."""
    sums = [np.sum(np.stack(parts), axis=0) for parts in of_schemes]
    most: Ints = np.max(np.stack(sums), axis=0)
    return most


@attrs.frozen(eq=False)
class _Asked:
    """Records of which it is asked how many rows reach a score."""

    records: Floats32
    candidates: Candidates
    chosen: Ints
    limit: Floats32
    workers: int

    def reaching(self, meeting: Meeting) -> Ints:
        """Count the rows that reach each record's score."""
        found = np.zeros(len(self.chosen), np.int64)
        points, starts = meeting.blocks.candidates

        def work(at: int) -> None:
            part = slice(at, at + CHUNK)
            count_reaching(
                self.records[self.chosen[part]],
                self.candidates.vectors,
                meeting.block[self.chosen[part]],
                starts,
                points,
                meeting.weights,
                self.limit[part],
                found[part],
            )

        in_threads(work, range(0, len(self.chosen), CHUNK), self.workers)
        return found


@kernel
def count_reaching(
    records: Floats32,
    vectors: Floats32,
    block: Ints,
    starts: Ints,
    points: Ints,
    weights: Ints,
    limit: Floats32,
    found: Ints,
) -> None:
    """Sum the weights of the candidates whose score reaches the record's limit."""
    for i in range(len(records)):
        if block[i] < 0:
            continue
        for entry in range(starts[block[i]], starts[block[i] + 1]):
            score = np.float32(0.0)
            for feature in range(records.shape[1]):
                score += records[i, feature] * vectors[points[entry], feature]
            if score >= limit[i]:
                found[i] += weights[entry]
