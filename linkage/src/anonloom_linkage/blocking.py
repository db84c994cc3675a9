"""Which records are compared with which: B of the CVPL paper (sections 4.2 and 4.11).

A key divides the values of a column into bins. A record of the original lies in one bin of every
key. A published cell may cover several: it is a candidate of the records of every bin that it
covers, and one that says nothing is a candidate of all. So no true pair is lost because a release
is coarser than the key, and where all cells are single values this is ordinary blocking.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from anonloom_linkage.nearest import Blocks, Ints
from anonloom_linkage.paired import PairedColumn

#: A number: the width of the bins of a number, in days of a date or a time; the level of a
#: hierarchy. `exact`: every value is a bin. `auto`: some bins.
Granularity = float | Literal["exact", "auto"]

SECONDS = 86_400
#: Bins of a number where nobody says how wide they are.
BINS = 8
#: A cell that covers more than this share of a key's bins says nothing about it.
OPEN_SHARE = 0.5
#: A published row is entered under at most so many combinations of bins; beyond that the key that
#: multiplies it most says nothing about it.
MOST_ENTRIES = 64


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
        Cells that say nothing about the bin.
    """

    column: PairedColumn
    words: str
    bins: int
    covers: Any = attrs.field(repr=False)
    open: NDArray[np.bool_] = attrs.field(repr=False)

    def covered(self, cells: NDArray[np.integer], bins: Ints) -> NDArray[np.bool_]:
        """Whether each of these cells covers the bin beside it."""
        rows = np.repeat(np.arange(self.covers.shape[0]), np.diff(self.covers.indptr))
        entries = rows * self.bins + self.covers.indices
        wanted = cells.astype(np.int64) * self.bins + bins
        at = np.searchsorted(entries, wanted).clip(0, max(len(entries) - 1, 0))
        return entries[at] == wanted if len(entries) else np.zeros(len(wanted), bool)

    def of_records(self, side: int = 0) -> Ints:
        """Bin of every row of a raw table, which holds single values; -1 for none."""
        empty = np.diff(self.covers.indptr) == 0
        first = np.full(self.covers.shape[0], -1, np.int64)
        first[~empty] = self.covers.indices[self.covers.indptr[:-1][~empty]]
        return first[self.column.sides[side]]


@attrs.frozen(eq=False)
class Scheme:
    """A conjunction of keys; without any, everybody is compared with everybody."""

    keys: tuple[Key, ...]

    @property
    def words(self) -> str:
        """What a report says of it."""
        return ", ".join(key.words for key in self.keys) or "none: all pairs are compared"

    def labels(self, side: int = 0) -> Ints:
        """Block of every row of a raw table; -1 for rows that are in none."""
        nobody = np.empty(0, np.int64)
        return _labelled(self.keys, side, nobody, side)[0]

    def sizes(self, side: int = 0) -> Ints:
        """Records of every block of a raw table."""
        return np.unique(self.labels(side), return_counts=True)[1]

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
            one = np.zeros(records, np.int64), np.zeros(rows, np.int64), np.arange(rows)
            return (Blocks.of(*one),)
        left_open = self._left_open(published)
        found = []
        for pattern in np.unique(left_open):
            of_pattern = np.flatnonzero(left_open == pattern)
            keys = [key for at, key in enumerate(self.keys) if not (int(pattern) >> at) & 1]
            of_records, labels, numbers = _labelled(keys, attacked, of_pattern, published)
            if not keys:
                of_records = np.zeros(records, np.int64)
            known = np.flatnonzero(of_records >= 0)
            blocks = Blocks.of(of_records[known], labels, numbers)
            members = blocks.records._replace(members=known[blocks.records.members])
            found.append(attrs.evolve(blocks, records=members))
        return tuple(found)

    def _left_open(self, side: int) -> Ints:
        """Which keys every published row leaves open, as a number with a bit per key."""
        sides = [key.column.sides[side] for key in self.keys]
        pattern = np.zeros(len(sides[0]), np.int64)
        for at, (key, cells) in enumerate(zip(self.keys, sides, strict=True)):
            pattern |= key.open[cells].astype(np.int64) << at
        covered = np.stack(
            [
                np.where(key.open, 1, np.diff(key.covers.indptr))[cells]
                for key, cells in zip(self.keys, sides, strict=True)
            ]
        )
        while True:
            many = np.flatnonzero(covered.prod(axis=0) > MOST_ENTRIES)
            if not len(many):
                return pattern
            widest = covered[:, many].argmax(axis=0)
            pattern[many] |= np.int64(1) << widest
            covered[widest, many] = 1

    def meet(self, records: Ints, rows: Ints, *, attacked: int = 0, published: int = 1) -> Any:
        """Whether record and published row of every pair are in a block together."""
        together = np.ones(len(records), bool)
        for key in self.keys:
            bins = key.of_records(attacked)[records]
            cells = key.column.sides[published][rows]
            together &= key.open[cells] | (key.covered(cells, bins) & (bins >= 0))
        return together


def _labelled(
    keys: Sequence[Key], attacked: int, rows: Ints, published: int
) -> tuple[Ints, Ints, Ints]:
    """Label the records, and published rows under every combination of bins that they cover.

    Returns
    -------
    of_records, labels, numbers
        Label of every record, -1 for none; label and row of every entry of a published row.
    """
    size = len(keys[0].column.sides[attacked]) if keys else 0
    of_records = np.zeros(size, np.int64)
    labels, numbers = np.zeros(len(rows), np.int64), rows
    span = 1
    for key in keys:
        if span * key.bins >= 2**62:
            # Ranks of the labels so far need no more bits than there are rows.
            ranks, distinct = pd.factorize(np.concatenate([of_records, labels]), sort=True)
            absent = int(distinct[0] < 0)
            of_records, labels = ranks[:size] - absent, ranks[size:] - absent
            span = len(distinct)
        bins = key.of_records(attacked)
        # What lies in no bin of a key lies in no block.
        of_records = np.where((of_records < 0) | (bins < 0), -1, of_records * key.bins + bins)
        cells = key.column.sides[published][numbers]
        counts = np.diff(key.covers.indptr)[cells]
        entry = np.repeat(np.arange(len(numbers)), counts)
        within = np.arange(len(entry)) - np.repeat(np.cumsum(counts) - counts, counts)
        covered = key.covers.indices[key.covers.indptr[cells[entry]] + within]
        labels, numbers = labels[entry] * key.bins + covered, numbers[entry]
        span *= key.bins
    return of_records, labels, numbers


def scheme(
    columns: Sequence[PairedColumn], asked: Mapping[str, Granularity] | Sequence[str]
) -> Scheme:
    """Make the keys that were asked for; names alone leave the bins to `auto`."""
    wanted = dict(asked) if isinstance(asked, Mapping) else dict.fromkeys(asked, "auto")
    by_name = {column.name: column for column in columns}
    return Scheme(tuple(key_of(by_name[name], how) for name, how in wanted.items()))


def guessed(
    columns: Sequence[PairedColumn], quasi: Sequence[str], *, candidates: int = 50
) -> Scheme:
    """Guess a scheme: the quasi-identifiers in order, while blocks keep so many candidates."""
    keys: list[Key] = []
    for column in columns:
        if column.name not in quasi or len(column.axis.values) < 2:
            continue
        key = key_of(column, "auto")
        trial = Scheme((*keys, key))
        sizes = trial.sizes()
        # The mean over records, not over blocks: most records are in large blocks.
        if (sizes**2).sum() / sizes.sum() >= candidates:
            keys.append(key)
    return Scheme(tuple(keys))


def key_of(column: PairedColumn, how: Granularity) -> Key:
    """Divide a column into bins."""
    if column.ordered:
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
    counts = np.diff(covers.indptr)
    open_ = column.open | ((counts > 1) & (counts > OPEN_SHARE * bins))
    return Key(column, words, bins, covers, open_)


def _bins_of_places(column: PairedColumn, how: Granularity) -> tuple[Any, str]:
    unit = SECONDS if column.type == "time" else 1
    own = column.axis.places[: column.axis.occurring]
    if how == "exact" or len(own) < 2:
        return (lambda place: place), f"{column.name} exactly"
    width = _round_width(float(own[-1] - own[0]) / unit / BINS) if how == "auto" else float(how)
    words = f"{column.name} by {width:g}" + ("" if column.type == "number" else " days")
    return (lambda place: np.floor(place / (width * unit))), words


def _round_width(width: float) -> float:
    """Return the next width that people use: 1, 2, 5, 10, 20, ..."""
    magnitude = 10.0 ** np.floor(np.log10(width))
    return float(next(step * magnitude for step in (1, 2, 5, 10) if step * magnitude >= width))


def _ranges(
    column: PairedColumn, lo: NDArray[np.float64], hi: NDArray[np.float64]
) -> tuple[Any, int]:
    """(cells x bins) of cells that cover the bins from `lo` to `hi`, and the number of bins.

    Only bins in which the original has a value count; its missing value has one of its own.
    """
    occurring = np.unique(lo[: column.axis.occurring])
    bins = len(occurring) + 1
    first = np.searchsorted(occurring, lo, side="left")
    stop = np.searchsorted(occurring, hi, side="right")
    first[column.missing], stop[column.missing] = bins - 1, bins
    first[column.open], stop[column.open] = 0, bins
    sizes = np.maximum(stop - first, 0)
    starts = np.r_[0, np.cumsum(sizes)]
    indices = np.arange(starts[-1]) - np.repeat(starts[:-1] - first, sizes)
    return sparse.csr_array((np.ones(len(indices)), indices, starts), shape=(len(lo), bins)), bins


def _bins_of_leaves(column: PairedColumn, how: Granularity) -> tuple[Ints, str]:
    """Bin of every leaf; values beyond the original's axis, and its missing one, have their own."""
    axis, leaves = column.axis, column.covers.shape[1]
    hierarchy = axis.hierarchy
    deepest = hierarchy.depth - 1 if hierarchy is not None else 1
    # The coarsest level that still says something.
    level = max(deepest - 1, 0) if how == "auto" else 0 if how == "exact" else int(how)
    own = np.arange(leaves)
    if level and hierarchy is not None:
        own[: axis.occurring] = hierarchy.ancestors[min(level, deepest)] + leaves
    bins, _ = pd.factorize(own)
    return bins.astype(np.int64), f"{column.name} at level {level}" if level else column.name
