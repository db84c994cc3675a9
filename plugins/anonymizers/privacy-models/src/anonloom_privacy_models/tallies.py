"""How often each value occurs in each of many ranges of rows, which may overlap.

Two ways lead to the counts. Writing out the rows of every range costs the sum of their lengths:
right for disjoint classes. Differences of cumulated counts cost a step per range and value: right
for every window of a long row order. The cheaper is taken; either way memory is bounded, because
ranges are counted in batches.
"""

from collections.abc import Iterator
from itertools import pairwise

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom import Table
from anonloom.kinds import Offsets
from anonloom.typing import FloatArray, IntArray

#: Rows or cells that are held at a time.
BATCH = 1 << 22


@attrs.frozen(eq=False)
class Tally:
    """The counts of a batch of ranges; what does not occur has no entry.

    Attributes
    ----------
    which
        Number of each range of the batch among all that were asked about.
    range
        Of every entry the range, as a place in `which`; ascending.
    value
        Of every entry the value; ascending within a range.
    count
        Of every entry how often the value occurs, at least once.
    """

    which: IntArray
    range: IntArray
    value: IntArray
    count: IntArray

    @property
    def totals(self) -> IntArray:
        """All occurrences of every range."""
        return self.sums(self.count).astype(np.int64)

    @property
    def distinct(self) -> IntArray:
        """Number of different values of every range."""
        return np.bincount(self.range, minlength=len(self.which))

    def sums(self, entries: NDArray[np.int64] | FloatArray) -> FloatArray:
        """Sum over the entries of every range."""
        return np.bincount(self.range, entries, len(self.which)).astype(np.float64)


@attrs.frozen(eq=False)
class Occurrences:
    """The values of one column along a row order.

    Attributes
    ----------
    values
        The value at each place, from 0.
    size
        Number of different values that the column has in the table.
    present
        Places whose value counts; a missing value does not, nor that of a person whom nobody
        knows.
    twin
        The place before each at which the same person has the same value, -1 for none; None when
        every row is a person of its own.
    """

    values: IntArray
    size: int
    present: NDArray[np.bool_]
    twin: IntArray | None

    @classmethod
    def of(cls, table: Table, column: str, rows: Offsets) -> "Occurrences":
        """Return the values of a column along a row order of its table."""
        coded = table.encode_column(column)
        values = coded.codes[rows].astype(np.int64)
        persons = table.persons
        twin = None
        if persons is not None:
            twin = earlier(persons[rows].astype(np.int64) * coded.axis.size + values)
        present = values != coded.axis.missing
        if table.unknown_persons is not None:
            present &= ~table.unknown_persons[rows]
        return cls(values, coded.axis.value_count, present, twin)

    def tallies(self, begin: Offsets, end: Offsets) -> Iterator[Tally]:
        """Count in every range, batch by batch."""
        starts, stops = _whole(begin), _whole(end)
        written = int((stops - starts).sum())
        if self.twin is None and written > BATCH:
            by_start = np.argsort(starts, kind="stable")
            batches = _batches(np.full(len(starts), max(self.size, 1)))
            windows = [_window(starts, stops, by_start[a:b]) for a, b in batches]
            # Filling a cumulated count, and looking it up twice per range.
            steps = sum(last - first for first, last in windows) + 2 * len(starts)
            if steps * self.size < written:
                for (a, b), (first, last) in zip(batches, windows, strict=True):
                    yield self._batch_tally(by_start[a:b], starts, stops, first, last)
                return
        for a, b in _batches(stops - starts):
            yield self._written_out(a, starts[a:b], stops[a:b])

    def _written_out(self, first: int, starts: IntArray, stops: IntArray) -> Tally:
        """Count a batch by writing out the rows of its ranges."""
        of_range, places = write_out(starts, stops)
        counted = self.present[places]
        if self.twin is not None:
            # A person counts once per value: at the first place inside the range.
            counted &= self.twin[places] < starts[of_range]
        cells = len(starts) * max(self.size, 1)
        keys = of_range[counted] * max(self.size, 1) + self.values[places[counted]]
        if cells <= max(4 * len(keys), 1 << 16):
            counts = np.bincount(keys, minlength=cells)
            entries = np.flatnonzero(counts)
            counts = counts[entries]
        else:
            entries, counts = np.unique(keys, return_counts=True)
        of_entry, value = np.divmod(entries, max(self.size, 1))
        return Tally(first + np.arange(len(starts)), of_entry, value, counts)

    def _batch_tally(
        self, which: IntArray, starts: IntArray, stops: IntArray, first: int, last: int
    ) -> Tally:
        """Count a batch, whose rows lie between two places, from cumulated counts."""
        begin, end = starts[which] - first, stops[which] - first
        counts = np.empty((len(which), self.size), np.int64)
        values = np.where(self.present[first:last], self.values[first:last], -1)
        below = np.zeros(last - first + 1, np.int64)
        for value in range(self.size):
            np.cumsum(values == value, out=below[1:])
            counts[:, value] = below[end] - below[begin]
        of_entry, value_of = np.nonzero(counts)
        return Tally(which, of_entry, value_of, counts[of_entry, value_of])


def distinct(
    keys: IntArray, begin: Offsets, end: Offsets, counted: NDArray[np.bool_] | None = None
) -> IntArray:
    """Number of different keys in every range.

    Parameters
    ----------
    counted
        Places whose key counts; all by default.
    """
    starts, stops = _whole(begin), _whole(end)
    twin = earlier(keys)
    result = np.empty(len(starts), np.int64)
    for a, b in _batches(stops - starts):
        of_range, places = write_out(starts[a:b], stops[a:b])
        fresh = twin[places] < starts[a:b][of_range]
        if counted is not None:
            fresh &= counted[places]
        result[a:b] = np.bincount(of_range[fresh], minlength=b - a)
    return result


def earlier(keys: IntArray) -> IntArray:
    """The last place before each that holds the same key; -1 for none."""
    order = np.argsort(keys, kind="stable")
    before = np.full(len(keys), -1, np.int64)
    same = keys[order[1:]] == keys[order[:-1]]
    before[order[1:][same]] = order[:-1][same]
    return before


def write_out(starts: IntArray, stops: IntArray) -> tuple[IntArray, IntArray]:
    """Return all places of all ranges, and the range that each belongs to."""
    lengths = stops - starts
    ends = np.cumsum(lengths)
    of_range = np.repeat(np.arange(len(starts)), lengths)
    return of_range, np.arange(len(of_range)) + (starts - ends + lengths)[of_range]


def _whole(offsets: Offsets) -> IntArray:
    return np.asarray(offsets, np.int64)


def _batches(costs: IntArray) -> list[tuple[int, int]]:
    """Divide ranges into runs whose costs are at most a batch, or a single range."""
    reach = np.append(0, np.cumsum(costs))
    cuts = [0]
    while cuts[-1] < len(costs):
        fitting = int(np.searchsorted(reach, reach[cuts[-1]] + BATCH, side="right")) - 1
        cuts.append(max(fitting, cuts[-1] + 1))
    return list(pairwise(cuts))


def _window(starts: IntArray, stops: IntArray, which: IntArray) -> tuple[int, int]:
    """First and last place of these ranges."""
    return int(starts[which].min()), int(stops[which].max())
