"""Which records are compared with which: B of the CVPL paper (sections 4.2 and 4.11).

A key divides the values of a column into bins. A record of the original lies in one bin of every
key. A published cell may cover several: it is a candidate of the records of every bin that it
covers, and one that says nothing is a candidate of all. So no true pair is lost because a release
is coarser than the key, and where all cells are single values this is ordinary blocking. Without a
key, or with wider bins, each made of whole ones, a scheme only ever compares more pairs.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal

import attrs
import numpy as np

from anonloom.errors import UsageError
from anonloom.lazy import lazy_module, pd
from anonloom.typing import BoolArray, FloatArray, IntArray
from anonloom_linkage.aligned_columns import AlignedColumn
from anonloom_linkage.top2_search import Blocks

sparse = lazy_module("scipy.sparse")

__all__ = [
    "PASSES",
    "Granularity",
    "Key",
    "Scheme",
    "guess_scheme",
    "guess_schemes",
    "key_of",
    "scheme",
]

#: A number: the width of the bins of a number, in days of a date or a time; the level of a
#: hierarchy. `exact`: every value is a bin. `auto`: some bins.
Granularity = float | Literal["exact", "auto"]

SECONDS = 86_400
#: Bins of a number where nobody says how wide they are.
BINS = 8
#: Schemes that are guessed.
PASSES = 3
#: A published row is entered into every block of the records that it may stand for. Where all of
#: them together would take more entries than this, the rows that take most leave the key open that
#: multiplies them most: they are compared with more records than they need be, never with fewer.
MOST_ENTRIES = 1 << 25
#: Labels up to this number are looked up in a table.
MOST_LABELS = 1 << 20
#: Entries that are worked on at a time.
CHUNK = 1 << 22


@attrs.frozen(eq=False)
class Key:
    """The bins of one column.

    Attributes
    ----------
    words
        What a report says of it: 'age by 10'.
    bins
        Number of bins.
    covers
        (cells x bins): 1 where a cell covers the bin.
    open
        Cells that say nothing, and are in every bin.
    """

    column: AlignedColumn
    words: str
    bins: int
    covers: Any = attrs.field(repr=False)
    open: BoolArray = attrs.field(repr=False)

    def of_records(self, side: int = 0) -> IntArray:
        """Bin of every row of a raw table, which holds single values; -1 for none."""
        empty = np.diff(self.covers.indptr) == 0
        first = np.full(self.covers.shape[0], -1, np.int64)
        first[~empty] = self.covers.indices[self.covers.indptr[:-1][~empty]]
        return first[self.column.sides[side]]


@attrs.frozen(eq=False)
class Scheme:
    """A conjunction of keys; without any, everybody is compared with everybody.

    Attributes
    ----------
    lengths
        Number of rows of every table, for a scheme without keys.
    """

    keys: tuple[Key, ...]
    lengths: tuple[int, ...] = ()

    @property
    def words(self) -> str:
        """What a report says of it."""
        return ", ".join(key.words for key in self.keys) or "none: all pairs are compared"

    def labels(self, side: int = 0) -> IntArray:
        """Block of every row of a raw table, counted from 0; -1 for rows that are in none."""
        if not self.keys:
            return np.zeros((*self.lengths, 0)[side], np.int64)
        labels = np.zeros(len(self.keys[0].column.sides[side]), np.int64)
        for key in self.keys:
            labels = _Ranks.of(_below(labels, key, side)).of_records
        return labels

    def sizes(self, side: int = 0) -> IntArray:
        """Records of every block of a raw table."""
        labels = self.labels(side)
        return np.bincount(labels[labels >= 0])

    def blocks(
        self, records: int, rows: int, *, attacked: int = 0, published: int = 1
    ) -> tuple[Blocks, ...]:
        """Return the blocks in which records and published rows meet.

        Published rows that leave different keys open are in different ones of the results, so that
        no pair occurs twice.

        Parameters
        ----------
        records, rows
            Number of rows of the attacked and of the published table.
        attacked, published
            Numbers of these tables among the sides of the columns.
        """
        if not self.keys:
            everybody = np.zeros(records, np.int64), np.zeros(rows, np.int64), np.arange(rows)
            return (Blocks.of(*everybody),)
        left_open = self._left_open(attacked, published)
        pattern = np.zeros(rows, np.int64)
        for of_key in left_open:
            pattern = pd.factorize(pattern * 2 + of_key)[0]
        results = []
        for index in range(int(pattern.max(initial=-1)) + 1):
            members = np.flatnonzero(pattern == index)
            closed = np.flatnonzero(~left_open[:, members[0]])
            keys = [self.keys[k] for k in closed]
            results.append(_blocks(keys, records, attacked, members, published))
        return tuple(results)

    def _left_open(self, attacked: int, published: int) -> BoolArray:
        """(keys x rows): whether a published row says nothing about a key."""
        sides = [key.column.sides[published] for key in self.keys]
        pairs = list(zip(self.keys, sides, strict=True))
        left_open = np.stack([key.open[cells] for key, cells in pairs])
        covered = np.stack([np.diff(key.covers.indptr)[cells] for key, cells in pairs])
        covered = np.where(left_open, 1, covered).astype(float)
        blocks = len(self.sizes(attacked))
        while True:
            entries = np.minimum(covered.prod(axis=0), blocks)
            many = np.flatnonzero(entries > max(MOST_ENTRIES // max(len(entries), 1), 1))
            if entries.sum() <= MOST_ENTRIES or not len(many):
                break
            widest = covered[:, many].argmax(axis=0)
            left_open[widest, many] = True
            covered[widest, many] = 1
        return left_open

    def meet(
        self, records: IntArray, rows: IntArray, *, attacked: int = 0, published: int = 1
    ) -> Any:
        """Whether record and published row of every pair are in a block together."""
        together = np.ones(len(records), bool)
        if not self.keys or not len(records):
            return together
        for key, left_open in zip(self.keys, self._left_open(attacked, published), strict=True):
            bins = key.of_records(attacked)[records]
            cells = key.column.sides[published][rows]
            covered = np.asarray(key.covers[cells, np.maximum(bins, 0)]).ravel() > 0
            together &= left_open[rows] | (covered & (bins >= 0))
        return together


def _below(labels: IntArray, key: Key, side: int) -> IntArray:
    """Divide blocks of records by one more key; what is in no bin of it is in no block."""
    bins = key.of_records(side)
    return np.where((labels < 0) | (bins < 0), -1, labels * key.bins + bins)


@attrs.frozen(eq=False)
class _Ranks:
    """Labels as ranks among those that occur, so that they stay small.

    Attributes
    ----------
    of_records
        Rank of every record's label, -1 for none.
    number
        How many labels occur.
    """

    of_records: IntArray
    number: int
    _distinct: IntArray | None
    _by_label: IntArray | None

    @classmethod
    def of(cls, labels: IntArray) -> "_Ranks":
        """Rank the labels of the records; -1 is none."""
        span = int(labels.max(initial=-1)) + 1
        if span > max(MOST_LABELS, len(labels)):
            distinct, ranks = np.unique(labels, return_inverse=True)
            absent = int(distinct[0] < 0)
            return cls(ranks - absent, len(distinct) - absent, distinct[absent:], None)
        # The label -1 finds the last.
        by_label = np.full(span + 1, -1, np.int64)
        by_label[labels] = 0
        by_label[-1] = -1
        occurring = np.flatnonzero(by_label == 0)
        by_label[occurring] = np.arange(len(occurring))
        return cls(by_label[labels], len(occurring), None, by_label)

    def find(self, labels: IntArray) -> IntArray:
        """Ranks of labels, -1 for those that do not occur."""
        if self._by_label is not None:
            return self._by_label[np.minimum(labels, len(self._by_label) - 1)]
        assert self._distinct is not None
        index = np.searchsorted(self._distinct, labels)
        index[index == len(self._distinct)] = 0
        return np.where(self._distinct[index] == labels, index, -1)


def _blocks(
    keys: Sequence[Key], records: int, attacked: int, rows: IntArray, published: int
) -> Blocks:
    """Make the blocks of published rows that leave none of these keys open."""
    of_records, steps = np.zeros(records, np.int64), []
    # What a row takes at most while it is entered.
    entries, most = np.ones(len(rows)), np.ones(len(rows))
    for key in keys:
        ranks = _Ranks.of(_below(of_records, key, attacked))
        of_records = ranks.of_records
        steps.append((key, ranks))
        most = np.maximum(
            most, entries * np.diff(key.covers.indptr)[key.column.sides[published][rows]]
        )
        entries = np.minimum(most, ranks.number)
    edges = np.flatnonzero(np.diff(np.cumsum(most) // CHUNK, prepend=0)).tolist()
    parts = [
        _row_entries(steps, rows[start:stop], published)
        for start, stop in pairwise([0, *edges, len(rows)])
    ]
    labels, numbers = (np.concatenate(part) for part in zip(*parts, strict=True))
    known = np.flatnonzero(of_records >= 0)
    blocks = Blocks.of(of_records[known], labels, numbers)
    members = blocks.records._replace(members=known[blocks.records.members])
    return attrs.evolve(blocks, records=members)


def _row_entries(
    steps: Sequence[tuple[Key, _Ranks]], rows: IntArray, published: int
) -> tuple[IntArray, IntArray]:
    """Enter rows under every combination of bins that they cover and that some record has.

    Returns
    -------
    labels, numbers
        Label and row of every entry.
    """
    labels, numbers = np.zeros(len(rows), np.int64), rows
    for key, ranks in steps:
        cells = key.column.sides[published][numbers]
        counts = np.diff(key.covers.indptr)[cells]
        entry = np.repeat(np.arange(len(numbers)), counts)
        within = np.arange(len(entry)) - np.repeat(np.cumsum(counts) - counts, counts)
        covered = key.covers.indices[key.covers.indptr[cells[entry]] + within]
        result = ranks.find(labels[entry] * key.bins + covered)
        kept = np.flatnonzero(result >= 0)
        labels, numbers = result[kept], numbers[entry[kept]]
    return labels, numbers


def scheme(
    columns: Sequence[AlignedColumn], asked: Mapping[str, Granularity] | Sequence[str]
) -> Scheme:
    """Make the keys that were asked for; names alone leave the bins to `auto`."""
    wanted: dict[str, Granularity] = (
        {**asked} if isinstance(asked, Mapping) else dict.fromkeys(asked, "auto")
    )
    by_name = {column.name: column for column in columns}
    keys = tuple(key_of(by_name[name], how) for name, how in wanted.items())
    return Scheme(keys, _lengths(columns))


def guess_scheme(
    columns: Sequence[AlignedColumn], quasi: Sequence[str], *, candidates: int = 50
) -> Scheme:
    """Guess a scheme: the quasi-identifiers in order, while blocks keep so many candidates."""
    keys: list[Key] = []
    for column in columns:
        if column.name not in quasi or len(column.axis.values) < 2:
            continue
        key = key_of(column, "auto")
        if _mean_candidates(Scheme((*keys, key))) >= candidates:
            keys.append(key)
    return Scheme(tuple(keys), _lengths(columns))


def guess_schemes(
    columns: Sequence[AlignedColumn],
    quasi: Sequence[str],
    *,
    passes: int = PASSES,
    candidates: int = 50,
    most: float = np.inf,
) -> tuple[Scheme, ...]:
    """Guess complementary schemes: no two share a column as long as there are others.

    A change of one column parts a record from its row in one scheme only, so that they still meet
    in another. A release that swaps or shifts values loses a quarter of the true pairs and more to
    any single scheme.

    Parameters
    ----------
    passes
        So many schemes at most; the first is that of `guess_scheme`.
    candidates
        Blocks keep so many candidates, as a mean over records.
    most
        A further scheme with more candidates than this is none.
    """
    results = [guess_scheme(columns, quasi, candidates=candidates)]
    used = {key.column.name for key in results[0].keys}
    while len(results) < passes:
        rest = [column for column in columns if column.name not in used]
        again = [column for column in columns if column.name in used]
        names = [column.name for column in (*rest, *again)]
        trial = guess_scheme(rest, names, candidates=candidates)
        if not trial.keys:
            break
        if _mean_candidates(trial) > most:
            trial = guess_scheme([*rest, *again], names, candidates=candidates)
        used |= {key.column.name for key in trial.keys}
        if _mean_candidates(trial) > most:
            break
        results.append(trial)
    return tuple(results)


def _mean_candidates(scheme: Scheme) -> float:
    """Candidates of a record, as a mean over records, if the release is as large as the original.

    Over records, not over blocks: most records are in large blocks.
    """
    sizes = scheme.sizes()
    return float((sizes.astype(float) ** 2).sum() / max(sizes.sum(), 1))


def _lengths(columns: Sequence[AlignedColumn]) -> tuple[int, ...]:
    return tuple(len(side) for side in columns[0].sides) if columns else ()


def key_of(column: AlignedColumn, how: Granularity) -> Key:
    """Divide a column into bins."""
    if column.is_ordered:
        bin_of, words = _bins_of_places(column, how)
        lo, hi = bin_of(column.lo), bin_of(column.hi)
        covers, bins = _ranges(column, lo, hi)
    else:
        leaf_bins, words = _bins_of_leaves(column, how)
        bins = int(leaf_bins.max(initial=-1)) + 1
        grouping = sparse.csr_array(
            (np.ones(len(leaf_bins)), (np.arange(len(leaf_bins)), leaf_bins)),
            shape=(len(leaf_bins), bins),
        )
        covers = (column.covers @ grouping).tocsr()
        covers.data[:] = 1.0
        covers.sort_indices()
    return Key(column, words, bins, covers, column.open)


def _bins_of_places(column: AlignedColumn, how: Granularity) -> tuple[Any, str]:
    unit = SECONDS if column.type == "time" else 1
    own = column.axis.places[: column.axis.value_count]
    if how == "exact" or (how == "auto" and len(own) < 2):
        return (lambda place: place), f"{column.name} exactly"
    if how != "auto" and not how > 0:
        raise ValueError(f"bins must be wider than 0, not {how}")
    width = _round_width(float(own[-1] - own[0]) / unit / BINS) if how == "auto" else float(how)
    if float(np.abs(own).max(initial=0.0)) > 2**52 * width * unit:
        # All larger numbers would be multiples of it: every value would lie in a bin of its own,
        # or all of them in one.
        raise UsageError(
            f"bins of width {width:g} are too narrow for the values of column '{column.name}'"
        )
    words = f"{column.name} by {width:g}" + ("" if column.type == "number" else " days")
    return (lambda place: np.floor(place / (width * unit))), words


def _round_width(width: float) -> float:
    """Return the next width that people use: 1, 2, 5, 10, 20, ..."""
    magnitude = 10.0 ** np.floor(np.log10(width))
    return float(next(step * magnitude for step in (1, 2, 5, 10) if step * magnitude >= width))


def _ranges(column: AlignedColumn, lo: FloatArray, hi: FloatArray) -> tuple[Any, int]:
    """(cells x bins) of cells that cover the bins from `lo` to `hi`, and the number of bins.

    Only bins in which some table has a single value count; a missing value has one of its own.
    """
    occurring = np.unique(lo[(column.lo == column.hi) & ~column.open])
    bins = len(occurring) + 1
    first = np.searchsorted(occurring, lo, side="left")
    stop = np.searchsorted(occurring, hi, side="right")
    first[column.missing], stop[column.missing] = bins - 1, bins
    first[column.open], stop[column.open] = 0, bins
    sizes = np.maximum(stop - first, 0)
    starts = np.r_[0, np.cumsum(sizes)]
    indices = np.arange(starts[-1]) - np.repeat(starts[:-1] - first, sizes)
    return sparse.csr_array((np.ones(len(indices)), indices, starts), shape=(len(lo), bins)), bins


def _bins_of_leaves(column: AlignedColumn, how: Granularity) -> tuple[IntArray, str]:
    """Bin of every leaf; values beyond the original's axis, and its missing one, have their own."""
    axis, leaves = column.axis, column.covers.shape[1]
    hierarchy = axis.hierarchy
    deepest = hierarchy.depth - 1 if hierarchy is not None else 1
    # The coarsest level that still says something.
    level = deepest - 1 if how == "auto" else 0 if how == "exact" else min(int(how), deepest)
    own = np.arange(leaves)
    if level and hierarchy is not None:
        own[: axis.value_count] = hierarchy.ancestors[level] + leaves
    bins, _ = pd.factorize(own)
    return bins.astype(np.int64), f"{column.name} at level {level}" if level else column.name
