"""Equivalence classes: rows sorted by class, offsets, suppressed rows, and assigned regions."""

from collections.abc import Iterable, Sequence

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom._representation import short_repr

Rows = NDArray[np.int64]

#: Keys of rows are integers of 64 bits.
_LARGEST_KEY = 2**62


@short_repr
@attrs.frozen(eq=False)
class Regions:
    """What a method assigned to each class on each axis, as an interval of codes.

    Attributes
    ----------
    lo, hi
        (classes x axes): first and last code of the region.
    level
        (classes x axes): level of the hierarchy that a global recoding assigned, -1 for none.
    """

    lo: NDArray[np.int32]
    hi: NDArray[np.int32]
    level: NDArray[np.int32] | None = None

    def take(self, classes: NDArray[np.integer]) -> "Regions":
        """Return the regions of these classes."""
        level = None if self.level is None else self.level[classes]
        return Regions(self.lo[classes], self.hi[classes], level)


@short_repr
@attrs.frozen(eq=False)
class Classes:
    """A partition of the rows of a table.

    Attributes
    ----------
    rows
        Row numbers, those of one class side by side.
    bounds
        Class `c` has the rows `rows[bounds[c]:bounds[c + 1]]`; no class is empty.
    suppressed
        Rows in no class: every quasi-identifier is published as `*`.
    regions
        What the method assigned to each class, where it assigns space and not only rows.
    global_recoding
        Whether equal values are published equally everywhere; a generalizer then publishes the
        regions instead of the classes' own extents.
    """

    rows: Rows
    bounds: Rows
    suppressed: Rows = attrs.field(factory=lambda: np.empty(0, np.int64))
    regions: Regions | None = None
    global_recoding: bool = False

    def __attrs_post_init__(self) -> None:
        """Refuse offsets that are none."""
        bounds = self.bounds
        if len(bounds) == 0 or bounds[0] != 0 or bounds[-1] != len(self.rows):
            raise ValueError("bounds must run from 0 to the number of rows")
        if (np.diff(bounds) <= 0).any():
            raise ValueError("a class must have at least one row")
        if self.regions is not None and len(self.regions.lo) != len(bounds) - 1:
            raise ValueError("regions must have one row per class")

    @classmethod
    def whole(cls, rows: Rows, suppressed: Rows | None = None) -> "Classes":
        """Return one class of all these rows, or none if there are no rows."""
        bounds = np.array([0, len(rows)] if len(rows) else [0], np.int64)
        nothing = np.empty(0, np.int64)
        return cls(
            np.asarray(rows, np.int64), bounds, nothing if suppressed is None else suppressed
        )

    @classmethod
    def from_labels(
        cls, labels: NDArray[np.integer], rows: Rows | None = None, suppressed: Rows | None = None
    ) -> "Classes":
        """Group rows by label; a negative label means suppressed.

        The classes come in ascending order of their labels, the rows of one in ascending order.
        """
        labels = np.asarray(labels)
        rows = (
            np.arange(len(labels), dtype=np.int64) if rows is None else np.asarray(rows, np.int64)
        )
        kept = labels >= 0
        out = rows[~kept] if suppressed is None else np.concatenate([suppressed, rows[~kept]])
        rows, starts = _sort_by_label(labels[kept], rows[kept])
        return cls(rows, np.append(starts, len(rows)).astype(np.int64), np.sort(out))

    def __len__(self) -> int:
        return len(self.bounds) - 1

    @property
    def starts(self) -> Rows:
        """First offset of every class."""
        return self.bounds[:-1]

    @property
    def stops(self) -> Rows:
        """Offset behind the last row of every class."""
        return self.bounds[1:]

    @property
    def sizes(self) -> Rows:
        """Number of rows of every class."""
        return np.diff(self.bounds)

    @property
    def total(self) -> int:
        """Number of rows, the suppressed ones included."""
        return len(self.rows) + len(self.suppressed)

    @property
    def published_regions(self) -> Regions | None:
        """The regions where they will be published, not what the rows of a class cover."""
        return self.regions if self.global_recoding else None

    @property
    def divide_space(self) -> bool:
        """Whether every class has a part of space of its own, which can be divided further.

        A single class has all of it. Several classes without regions share it in a way that nobody
        knows, and so does whatever they are divided into.
        """
        return self.regions is not None or len(self) <= 1

    def space(self, sizes: Sequence[int]) -> Regions:
        """Return the regions; all of space for classes without.

        Parameters
        ----------
        sizes
            Positions on each axis.
        """
        if self.regions is not None:
            return self.regions
        last = np.asarray(sizes, np.int32) - 1
        hi = np.repeat(last[None], len(self), axis=0)
        return Regions(np.zeros_like(hi), hi)

    def members(self, which: int) -> Rows:
        """Rows of one class."""
        return self.rows[self.bounds[which] : self.bounds[which + 1]]

    def class_of_position(self) -> Rows:
        """Class of every position of `rows`."""
        return np.repeat(np.arange(len(self)), self.sizes)

    def labels(self, n: int) -> Rows:
        """Class of every row of a table of n rows; -1 for suppressed and for absent rows."""
        labels = np.full(n, -1, np.int64)
        labels[self.rows] = self.class_of_position()
        return labels

    def extents(self, codes: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Smallest and largest code of every class on every axis, (classes x axes)."""
        if not len(self):
            empty = np.empty((0, codes.shape[0]), np.int32)
            return empty, empty.copy()
        lo = np.empty((len(self), codes.shape[0]), np.int32)
        hi = np.empty_like(lo)
        for axis, column in enumerate(codes):
            sorted_codes = column[self.rows]
            lo[:, axis] = np.minimum.reduceat(sorted_codes, self.starts)
            hi[:, axis] = np.maximum.reduceat(sorted_codes, self.starts)
        return lo, hi

    def suppress(self, classes: NDArray[np.bool_]) -> "Classes":
        """Return the partition with the marked classes suppressed."""
        kept = ~classes[self.class_of_position()]
        sizes = self.sizes[~classes]
        return Classes(
            self.rows[kept],
            np.r_[0, np.cumsum(sizes)].astype(np.int64),
            np.sort(np.concatenate([self.suppressed, self.rows[~kept]])),
            None if self.regions is None else self.regions.take(np.flatnonzero(~classes)),
            self.global_recoding,
        )


def _sort_by_label(labels: NDArray[np.integer], rows: Rows) -> tuple[Rows, Rows]:
    """Sort rows by label, those of one label ascending; return them and where each label begins.

    Label and row become one integer: whole integers are sorted many times faster than places.
    """
    bits = int(rows.max(initial=0)).bit_length()
    if int(labels.max(initial=0)).bit_length() + bits > 63:
        labels = np.unique(labels, return_inverse=True)[1]
    pairs = labels.astype(np.int64) << bits | rows
    pairs.sort()
    fresh = np.ones(len(pairs), bool)
    fresh[1:] = np.diff(pairs >> bits) > 0
    return pairs & ((1 << bits) - 1), np.flatnonzero(fresh)


def row_keys(columns: Iterable[tuple[NDArray[np.integer], int]], n: int) -> Rows:
    """One integer for every row, which orders rows as their combinations of codes do.

    Parameters
    ----------
    columns
        For every column the codes of its cells, from -1 for missing on, and how many there are.
    """
    key, keys = np.zeros(n, np.int64), 1
    for codes, count in columns:
        if keys * (count + 1) > _LARGEST_KEY:
            # Ranks need no more bits than there are rows.
            occurring, key = np.unique(key, return_inverse=True)
            keys = len(occurring)
        key, keys = key * (count + 1) + codes + 1, keys * (count + 1)
    return key
