"""Figures of groups: means and counts by range or value, as a reader of a table computes them."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import attrs
import numpy as np

from anonloom import Column, Schema, short_repr
from anonloom.cells import cell_text
from anonloom.data import Axis, encode
from anonloom.lazy import lazy_module, pd
from anonloom.typing import BoolArray, FloatArray, IntArray
from anonloom_columns import Visible, place_texts
from anonloom_distribution.groups import Group
from anonloom_distribution.noise import Rows
from anonloom_distribution.tables import BEFORE, ORIGINAL, RELEASE, Tables
from anonloom_linkage.aligned_columns import AlignedColumn, Cells
from anonloom_linkage.marginals import Parts, Reading, leaf_parts, place_parts, quantile_edges

sparse = lazy_module("scipy.sparse")

#: Ranges that a number is divided into when no edges are declared.
RANGES = 8
#: Values of a category that are groups of their own; all rarer ones are one.
MOST_GROUPS = 12

#: Rows below which a mean is too near to what one of them has: that of one row is its cell.
FEWEST_OF_A_MEAN = 3

MISSING, RARER = "missing", "other values"


@short_repr
@attrs.frozen(eq=False)
class Division:
    """The groups of one column.

    Attributes
    ----------
    parts
        (cells x groups): which part of a cell belongs to which group.
    centres
        Middles of declared ranges; None where groups are no such ranges.
    """

    labels: tuple[str, ...]
    parts: Parts
    centres: tuple[float, ...] | None = None

    @classmethod
    def of(
        cls, column: AlignedColumn, group: Group, schema: Schema, reading: Reading, shown: Visible
    ) -> "Division":
        """Divide as declared; else near quantiles of the original, or by value."""
        if not column.is_ordered:
            return cls._by_value(column, reading, shown)
        ends = group.places(schema[column.name])
        if ends is not None:
            return cls._by_edges(column, np.array(ends), reading)
        return cls._by_quantiles(column, group.ranges or RANGES, reading, shown)

    @classmethod
    def _by_edges(cls, column: AlignedColumn, ends: FloatArray, reading: Reading) -> "Division":
        # The last range has both its ends.
        closed = np.append(ends[:-1], np.nextafter(ends[-1], np.inf))
        parts = place_parts(column, closed, reading).tocsc()[:, 1 : len(ends)]
        texts = place_texts(column.axis, ends)
        labels = tuple(f"{lo} to {hi}" for lo, hi in pairwise(texts))
        middles = tuple((ends[:-1] / 2 + ends[1:] / 2).tolist())
        return cls(labels, parts, middles if column.type == "number" else None)

    @classmethod
    def _by_quantiles(
        cls, column: AlignedColumn, ranges: int, reading: Reading, shown: Visible
    ) -> "Division":
        """Divide at quantiles, which are told as far as the release shows them.

        At bounds of the release nobody would see what generalizing did to the groups.
        """
        counts = column.counts(ORIGINAL)
        edges = quantile_edges(column, counts, ranges)
        last = counts[column.lo >= edges[-1]].sum() if len(edges) else 0
        if len(edges) > 1 and last < counts.sum() / (2 * ranges):
            # The greatest value alone is a range only where many rows have it.
            edges = edges[:-1]
        labels = _range_labels(column.axis, edges, shown)
        parts = place_parts(column, edges, reading).tocsc()
        if column.axis.missing >= 0:
            return cls((*labels, MISSING), parts)
        return cls(tuple(labels), parts[:, :-1])

    @classmethod
    def _by_value(cls, column: AlignedColumn, reading: Reading, shown: Visible) -> "Division":
        parts = leaf_parts(column, reading).tocsc()
        leaves = np.arange(column.axis.value_count)
        counts = np.bincount(column.sides[ORIGINAL], minlength=len(column))[leaves]
        frequent = np.argsort(-counts, kind="stable")
        kept, rare = np.sort(frequent[:MOST_GROUPS]), frequent[MOST_GROUPS:]
        labels = _value_labels(column.axis, kept, shown)
        blocks = [parts[:, kept]]
        if len(rare):
            labels.append(RARER)
            blocks.append(parts[:, rare] @ np.ones((len(rare), 1)))
        if column.axis.missing >= 0:
            labels.append(MISSING)
            blocks.append(parts[:, [column.axis.missing]])
        return cls(tuple(labels), _beside(blocks))


def _beside(blocks: Sequence[Any]) -> Parts:
    return sparse.hstack([sparse.csc_array(block) for block in blocks], format="csc")


def _range_labels(axis: Axis, edges: FloatArray, shown: Visible) -> list[str]:
    """Name the ranges between edges, which are cells of the original, perhaps of one person.

    Where the release shows every edge, by the edges; else by number, and by the bounds next to the
    edges that the release shows.
    """
    if not len(edges):
        return ["all"]
    ranges = len(edges) + 1
    numbers = [f"range {index} of {ranges}" for index in range(1, ranges + 1)]
    bounds = shown.nearest(edges)
    if not len(bounds):
        return [f"{numbers[0]} (lowest)", *numbers[1:-1], f"{numbers[-1]} (highest)"]
    texts = place_texts(axis, bounds)
    # The least and the greatest value are a person's own, and are not told.
    between = [_between(lo, hi) for lo, hi in pairwise(texts)]
    if (bounds == edges).all():
        return [f"< {texts[0]}", *between, f"≥ {texts[-1]}"]
    names = [f"to {texts[0]}", *between, f"{texts[-1]} on"]
    return [f"{number}, about {name}" for number, name in zip(numbers, names, strict=True)]


def _between(lo: str, hi: str) -> str:
    return lo if lo == hi else f"{lo} to {hi}"


def _value_labels(axis: Axis, codes: IntArray, shown: Visible) -> list[str]:
    """Name values of a category: as they are where they stand in the release, else by number."""
    withheld: Counter[str] = Counter()
    labels = []
    for value in codes.tolist():
        label = shown.label_of(axis, value, value)
        if label is None:
            group = shown.group_of(value)
            inside = "withheld value" if group is None else f"{group}, withheld value"
            withheld[inside] += 1
            label = f"{inside} {withheld[inside]}"
        labels.append(label)
    return labels


def cell_measure(
    column: AlignedColumn, declared: Column, value: str | float | None, reading: Reading
) -> tuple[FloatArray, FloatArray]:
    """Of every cell what is summed up, and 1 where it tells anything at all.

    A mean sums up middles; a count the part of the cell that is the value.
    """
    known = ~column.open & ~column.missing
    if value is None:
        return np.where(known, column.lo / 2 + column.hi / 2, 0.0), known.astype(float)
    if column.is_ordered:
        place = float(value)
        ends = np.array([place, np.nextafter(place, np.inf)])
        parts = place_parts(column, ends, reading).tocsc()
        return parts[:, [1]].toarray().ravel(), np.asarray(parts.sum(axis=1)).ravel()
    parts = leaf_parts(column, reading).tocsc()
    index = np.flatnonzero(column.axis.values.astype(object) == _as_coded(value, declared))
    has = parts[:, index].toarray().ravel() if len(index) else np.zeros(len(column))
    return has, np.asarray(parts.sum(axis=1)).ravel()


def _as_coded(value: str | float, column: Column) -> str:
    """Write a value as the axis of its column does: of a sensitive one, case does not matter."""
    text = cell_text(value)
    if column.role == "quasi" or column.generalization is not None:
        return text
    result = encode(pd.Series([text], dtype=object), column).axis.values
    return str(result[0]) if len(result) else text


@attrs.frozen(eq=False)
class OfSample:
    """A figure of all groups in a random sample, and how many rows of it each rests on."""

    values: FloatArray = attrs.field(repr=False)
    rows: FloatArray = attrs.field(repr=False)


@short_repr
@attrs.frozen(eq=False)
class Figure:
    """One figure of all groups, in every table.

    Attributes
    ----------
    values
        (tables x groups); NaN where a table tells nothing of a group.
    shown
        Groups with enough rows in the original; others are no statistics but persons. A mean needs
        some, whatever was asked for.
    outside
        For every table the share of the rows that are in no group.
    """

    group: Group
    division: Division
    measure: tuple[FloatArray, FloatArray]
    tables: Tables
    values: FloatArray
    shown: BoolArray
    outside: tuple[float, ...]

    @classmethod
    def of(
        cls, tables: Tables, group: Group, schema: Schema, reading: Reading, least: int
    ) -> "Figure":
        """Compute it for every table."""
        by = tables.columns[group.by]
        division = Division.of(by, group, schema, reading, tables.shown[group.by])
        if group.of is None:
            # Every row is counted, whatever its cell: those of the column itself will do.
            measure = np.ones(len(by)), np.ones(len(by))
        else:
            measure = cell_measure(tables.columns[group.of], schema[group.of], group.value, reading)
        bare = cls(group, division, measure, tables, np.empty((0, 0)), np.empty(0, bool), ())
        sides = range(len(tables.sizes))
        results = [bare._sums(*bare._cells(side), tables.weights[side]) for side in sides]
        inside = np.asarray(division.parts.sum(axis=1)).ravel()
        values = np.array([bare._figure(*item) for item in results])
        if not group.is_count and len(sides) > BEFORE:
            # Its rows are not all published.
            rows = bare._sums(*bare._cells(BEFORE), None)[1]
            values[BEFORE][rows < FEWEST_OF_A_MEAN] = np.nan
        return attrs.evolve(
            bare,
            values=values,
            shown=results[ORIGINAL][1]
            >= (least if group.is_count else max(least, FEWEST_OF_A_MEAN)),
            outside=tuple(float(1 - inside[by.sides[side]].mean()) for side in sides),
        )

    def _cells(self, side: int) -> tuple[Cells, Cells]:
        by = self.tables.cells(self.group.by, side)
        return by, by if self.group.of is None else self.tables.cells(self.group.of, side)

    def _sums(
        self, by: Cells, of: Cells, weights: FloatArray | None
    ) -> tuple[FloatArray, FloatArray]:
        """Sum up what is measured, and the rows that tell it, in every group."""
        sums = []
        for measure in self.measure:
            rows = measure[of] if weights is None else measure[of] * weights
            per_cell = np.bincount(by, weights=rows, minlength=self.division.parts.shape[0])
            sums.append(np.asarray(self.division.parts.T @ per_cell).ravel())
        return sums[0], sums[1]

    def _figure(self, sums: FloatArray, rows: FloatArray) -> FloatArray:
        if self.group.is_count:
            return sums
        means: FloatArray = np.divide(sums, rows, out=np.full(len(sums), np.nan), where=rows > 1e-9)
        return means

    def deviation(self, side: int = RELEASE) -> float | None:
        """How far a table's figures are from the original's, as a share of those."""
        return self._deviation(self.values[side])

    def of_sample(self, rows: Rows) -> "OfSample":
        """The figures of some rows of the original, scaled like the release."""
        by, of = self._cells(ORIGINAL)
        sums, counts = self._sums(by[rows], of[rows], None)
        if self.group.is_count and self.tables.weights[RELEASE] is not None:
            sums = sums * (self.tables.sizes[ORIGINAL] / len(rows))
        return OfSample(self._figure(sums, counts), counts)

    def deviation_of(self, sample: "OfSample") -> float:
        """How far figures of a sample are from the original's."""
        return self._deviation(sample.values) or 0.0

    def _deviation(self, values: FloatArray) -> float | None:
        """Sum of the differences over the sum of the original's figures, over groups shown.

        A group of which nothing is told deviates by all of it.
        """
        own = self.values[ORIGINAL][self.shown]
        theirs = values[self.shown]
        total = float(np.abs(own).sum())
        if not total:
            return None
        apart = np.where(np.isnan(theirs), np.abs(own), np.abs(theirs - own))
        return float(apart.sum()) / total

    def worst(self) -> int | None:
        """The group whose figure is furthest off in the release."""
        own, theirs = self.values[ORIGINAL], self.values[RELEASE]
        apart = np.where(np.isnan(theirs), np.abs(own), np.abs(theirs - own))
        apart[~self.shown] = -1.0
        return int(apart.argmax()) if self.shown.any() else None


def countable(tables: Tables, schema: Schema, least: int) -> dict[str, str]:
    """The value that is counted, for labels and sensitive categories.

    Of two values the rarer one, which is what a column such as `diabetes` is there for; of more
    the most frequent. A value that few rows have, or that the release does not show, is not named.
    """
    results = {}
    for name in schema.names_with_role("label", "sensitive"):
        column = tables.columns.get(name)
        if column is None or column.is_ordered:
            continue
        counts = column.counts(ORIGINAL)[: column.axis.value_count]
        shown = np.isin(np.arange(len(counts)), list(tables.shown[name].values))
        values = np.flatnonzero((counts >= least) & shown)
        if len(values):
            rarer = len(counts) == len(values) == 2
            index = values[counts[values].argmin() if rarer else counts[values].argmax()]
            results[name] = str(column.axis.texts(np.array([index]))[0])
    return results
