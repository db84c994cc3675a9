"""A quasi-identifier coded onto an axis: every class covers an interval of codes on it."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom import cells
from anonloom._representation import short_repr
from anonloom.data._hierarchy import STAR, Hierarchy
from anonloom.data._schema import Form, Type
from anonloom.lazy import pd

Codes = NDArray[np.integer]


@attrs.frozen(eq=False)
class Axis:
    """The occurring values of one column, in an order in which every node is an interval.

    A code is the rank of a value on the axis. A missing value, where it has a leaf of its own, has
    the last code; a class that mixes it with values can only be published as `*`.

    Attributes
    ----------
    name
        The column's name.
    type
        What the values are.
    form
        How a class is published on this axis; its loss follows from that.
    weight
        Weight of the axis in sums of losses.
    values
        The occurring values in code order, without missing: text, float64, datetime64[D]
        for dates or datetime64[s] for times.
    missing
        Code of the missing value, or -1.
    hierarchy
        Over the codes of `values`, or None for a number that has none.
    reader
        Makes what reads the cells that are in no form of ours, such as those of other tools; None
        where there are no such cells.
    """

    name: str
    type: Type
    form: Form
    weight: float
    # Values never appear in a log or a traceback.
    values: NDArray[Any] = attrs.field(repr=False)
    missing: int
    hierarchy: Hierarchy | None = attrs.field(repr=False)
    reader: "Reader | None" = attrs.field(default=None, repr=False)

    @property
    def value_count(self) -> int:
        """Number of occurring values, missing not counted."""
        return len(self.values)

    @property
    def size(self) -> int:
        """Number of codes, that of the missing value included."""
        return len(self.values) + (self.missing >= 0)

    @cached_property
    def places(self) -> NDArray[np.float64]:
        """Position of every code: a number's own value, a category's rank.

        Of a date the days, and of a time the seconds, since the beginning of 1970.

        The missing value lies a whole range beyond the last one, so that nothing is near it.
        """
        if self.type == "category":
            own = np.arange(self.value_count, dtype=float)
        else:
            own = self._as_numbers(self.values)
        if self.missing < 0:
            return own
        last = own[-1] if len(own) else 0.0
        return np.append(own, last + max(self.range, 1.0))

    @property
    def range(self) -> float:
        """Distance from the first to the last value."""
        if self.value_count < 2:
            return 0.0
        if self.type == "category":
            return float(self.value_count - 1)
        first, last = self._as_numbers(self.values[[0, -1]])
        return float(last - first)

    def _as_numbers(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """Numbers as they are, moments as a count of their unit."""
        unit = cells.MOMENTS.get(self.type)
        if unit is not None:
            values = values.astype(f"datetime64[{unit}]").astype(np.int64)
        return values.astype(float)

    def texts(self, codes: Codes) -> list[str | None]:
        """Write single values; None stands for missing."""
        return [self._labels[code] for code in np.asarray(codes)]

    @cached_property
    def _labels(self) -> list[str | None]:
        if self.type == "number":
            labels: list[str | None] = [cells.number_text(value) for value in self.values]
        elif self.type in cells.MOMENTS:
            labels = [*cells.moment_texts(self.values, cells.MOMENTS[self.type])]
        else:
            labels = [str(value) for value in self.values]
        return [*labels, None] if self.missing >= 0 else labels

    # --- loss: what a class that covers [lo, hi] loses when it is published (NCP) ---------------

    def loss(self, lo: Codes, hi: Codes, level: Codes | None = None) -> NDArray[np.float64]:
        """Loss of classes that cover the codes from `lo` to `hi`, between 0 and 1.

        For the form `set` this is the most that the class can lose; the loss of a given set is
        `set_loss` of its number of members.

        Parameters
        ----------
        level
            Level of the hierarchy that a node must at least have, as in `publish`.
        """
        lo, hi = np.asarray(lo), np.asarray(hi)
        if not self.value_count:
            return np.zeros(lo.shape)
        mixed = (hi == self.missing) & (lo != hi) if self.missing >= 0 else np.zeros(lo.shape, bool)
        inside = np.minimum(hi, self.value_count - 1)
        first = np.minimum(lo, inside)
        if self.form == "interval":
            loss = self._share_of_range(first, inside)
        elif self.form == "set":
            loss = self.set_loss(inside - first + 1)
        else:
            loss = self.node_loss(first, inside, level)
        loss[mixed] = 1.0
        if self.missing >= 0:
            loss[lo == self.missing] = 0.0
        return loss

    def node_loss(self, lo: Codes, hi: Codes, level: Codes | None = None) -> NDArray[np.float64]:
        """Loss of the lowest node over [lo, hi], or of the ancestor on the given level."""
        node = self.node(lo, hi, level)
        assert self.hierarchy is not None
        first, last = self.hierarchy.first[node], self.hierarchy.last[node]
        if self.type == "category":
            loss = self.set_loss(last - first + 1)
        else:
            loss = self._share_of_range(first, last)
        # The root over a single value is published as `*` where its level is demanded.
        return loss if level is None else np.where(self._is_root[node], 1.0, loss)

    @cached_property
    def _is_root(self) -> NDArray[np.bool_]:
        assert self.hierarchy is not None
        return np.array([label == STAR for label in self.hierarchy.labels])

    def set_loss(self, members: Codes) -> NDArray[np.float64]:
        """Loss of a set of so many values."""
        members = np.asarray(members)
        return np.where(members > 1, members / max(self.value_count, 1), 0.0)

    def _share_of_range(self, lo: Codes, hi: Codes) -> NDArray[np.float64]:
        if self.range == 0.0:
            return np.zeros(np.shape(lo))
        width: NDArray[np.float64] = (self.places[hi] - self.places[lo]) / self.range
        return width

    # --- what a class publishes -----------------------------------------------------------------

    def node(self, lo: Codes, hi: Codes, level: Codes | None = None) -> NDArray[np.int32]:
        """Node over [lo, hi]: the lowest, or that on the given level where it is not negative."""
        if self.hierarchy is None:
            raise ValueError(f"column '{self.name}' has no hierarchy")
        lowest = self.hierarchy.level(lo, hi)
        if level is not None:
            lowest = np.maximum(lowest, np.asarray(level, np.int32))
        return self.hierarchy.ancestors[lowest, lo]

    def publish(
        self, lo: Codes, hi: Codes, level: Codes | None = None, form: Form | None = None
    ) -> NDArray[np.object_]:
        """Published cells of classes that cover [lo, hi], as intervals or nodes.

        Parameters
        ----------
        level
            Level of the hierarchy that a node must at least have; negative for the lowest.
        form
            Instead of the axis's own form. Sets need the members: see `publish_sets`.
        """
        form = form or self.form
        lo, hi = np.asarray(lo, np.int64), np.asarray(hi, np.int64)
        level = np.full(lo.shape, -1) if level is None else np.asarray(level, np.int64)
        # Classes repeat the same few extents: write each distinct one once. Levels are few, so
        # that one integer holds an extent.
        extents = (lo * max(self.size, 1) + hi) * 256 + np.maximum(level, -1) + 1
        which, distinct = pd.factorize(extents)
        ends, above = np.divmod(distinct, 256)
        lo, hi = np.divmod(ends, max(self.size, 1))
        nodes = lo
        if form == "nodes" and self.value_count:
            # Nodes are over values; what is missing is told apart below.
            last = self.value_count - 1
            nodes = self.node(np.minimum(lo, last), np.minimum(hi, last), above - 1)
        written = np.empty(len(distinct), object)
        written[:] = [
            self._cell(*extent, form)
            for extent in zip(
                lo.tolist(), hi.tolist(), (above - 1).tolist(), nodes.tolist(), strict=True
            )
        ]
        of_classes: NDArray[np.object_] = written[which]
        return of_classes

    def _cell(self, lo: int, hi: int, level: int, node: int, form: Form) -> str | None:
        if lo == hi and (level <= 0 or form != "nodes" or lo == self.missing):
            return self._labels[lo]
        if hi == self.missing:
            return STAR
        if form == "interval":
            return cells.interval_text(str(self._labels[lo]), str(self._labels[hi]))
        if form == "set":
            return cells.set_text([str(label) for label in self._labels[lo : hi + 1]])
        assert self.hierarchy is not None
        return self.hierarchy.labels[node]

    def publish_sets(self, members: Sequence[Codes]) -> NDArray[np.object_]:
        """Published cells of classes whose values are exactly these codes (ascending)."""
        written = np.empty(len(members), object)
        for index, codes in enumerate(members):
            if len(codes) == 1:
                written[index] = self._labels[int(codes[0])]
            elif self.missing >= 0 and codes[-1] == self.missing:
                written[index] = STAR
            else:
                written[index] = cells.set_text([str(self._labels[int(code)]) for code in codes])
        return written

    # --- reading published cells ----------------------------------------------------------------

    def read(self, cell: str | None) -> "Cover | None":
        """Return what a published cell covers on this axis, or None when it cannot be read."""
        if cell is None:
            return Cover(self.missing, self.missing) if self.missing >= 0 else None
        if cell == STAR:
            return Cover(0, self.size - 1, star=True)
        single = self._code_of.get(cell)
        if single is not None:
            return Cover(single, single)
        # Before the other forms: a hierarchy may call a group '[20, 29]'.
        node = self.hierarchy.find(cell) if self.hierarchy is not None else None
        if node is not None:
            assert self.hierarchy is not None
            first, last = self.hierarchy.first[node], self.hierarchy.last[node]
            return Cover(int(first), int(last), form="nodes")
        members = cells.read_set(cell)
        if members is not None:
            results = {self._code_of[member] for member in members if member in self._code_of}
            ends_of = (min(results), max(results)) if results else (0, -1)
            return Cover(*ends_of, members=np.array(sorted(results), np.int64), form="set")
        ends = cells.read_interval(cell)
        cover = None
        if ends is not None and self.type != "category":
            cover = self._read_interval(ends)
        if cover is None:
            cover = self._read_single(cell)
        if cover is None and self._read_other is not None:
            return self._read_other(cell)
        return cover

    @cached_property
    def _code_of(self) -> dict[str, int]:
        return {label: code for code, label in enumerate(self._labels) if label is not None}

    def _read_interval(self, ends: cells.Ends) -> "Cover | None":
        lo, hi = cells.place(ends.lo, self.type), cells.place(ends.hi, self.type)
        if lo is None or hi is None:
            return None
        if not ends.closed:
            return self.cover_between(lo, float(np.nextafter(hi, -np.inf)))
        return Cover(*self._inside(lo, hi), form="interval", ends=(lo, hi)) if lo <= hi else None

    def _inside(self, lo: float, hi: float) -> tuple[int, int]:
        """First and last code of the values from `lo` to `hi`; places of numbers ascend."""
        own = self.places[: self.value_count]
        first = int(np.searchsorted(own, lo, side="left"))
        return first, int(np.searchsorted(own, hi, side="right")) - 1

    def _read_single(self, text: str) -> "Cover | None":
        """Read a value in another spelling, or one that does not occur, such as a centroid."""
        place = None if self.type == "category" else cells.place(text, self.type)
        if place is None:
            return None
        return Cover(*self._inside(place, place), ends=(place, place))

    @cached_property
    def _read_other(self) -> "Callable[[str], Cover | None] | None":
        return None if self.reader is None else self.reader(self)

    def cover_between(self, lo: float, hi: float) -> "Cover | None":
        """Cover the values between two places, which belong to it; None if no value can lie there.

        Of whole numbers, days and seconds `[20, 30)`, `(19, 29]` and `20-29` say the same.

        Parameters
        ----------
        lo, hi
            Infinite where there is no end: beyond the values that occur nothing is known.
        """
        own = self.places[: self.value_count]
        if self._is_whole:
            lo, hi = float(np.ceil(lo)), float(np.floor(hi))
        if np.isinf(lo):
            lo = min(float(own[0]), hi) if len(own) else hi
        if np.isinf(hi):
            hi = max(float(own[-1]), lo) if len(own) else lo
        return Cover(*self._inside(lo, hi), form="interval", ends=(lo, hi)) if lo <= hi else None

    @cached_property
    def _is_whole(self) -> bool:
        own = self.places[: self.value_count]
        return bool((own == np.floor(own)).all())

    def cover_loss(self, cover: "Cover") -> float:
        """Loss of a cell that was read from a release."""
        if cover.star:
            return 1.0
        if cover.form == "interval" and cover.ends is not None:
            return min(1.0, (cover.ends[1] - cover.ends[0]) / self.range) if self.range else 0.0
        if cover.form == "set" or (cover.form == "nodes" and self.type == "category"):
            return float(self.set_loss(np.array(len(cover))))
        if cover.form == "nodes":
            return float(self._share_of_range(np.array(cover.first), np.array(cover.last)))
        return 0.0


@short_repr
@attrs.frozen(eq=False)
class Cover:
    """What a published cell covers: codes of an axis, and the ends of an interval.

    Attributes
    ----------
    first, last
        First and last code that the cell covers; `last` is below `first` when it covers none.
    members
        Ascending codes of a set; None where every code from `first` to `last` is covered.
    form
        The form in which the cell is written; None for a single value.
    star
        Whether the cell is `*`.
    ends
        Ends of an interval, or a single number that does not occur.
    """

    first: int
    last: int
    members: NDArray[np.int64] | None = None
    form: Form | None = None
    star: bool = False
    ends: tuple[float, float] | None = None

    def __len__(self) -> int:
        return self.last - self.first + 1 if self.members is None else len(self.members)

    # Written out only when asked for: a release has many cells, and each may cover the whole axis.
    @property
    def codes(self) -> NDArray[np.int64]:
        """Ascending codes of the occurring values that the cell covers."""
        if self.members is not None:
            return self.members
        return np.arange(self.first, self.last + 1, dtype=np.int64)


#: Makes, for one axis, what reads cells that are in no form of ours.
Reader = Callable[[Axis], Callable[[str], Cover | None]]
