"""t-closeness: the sensitive values of a class are distributed as in the whole table."""

import math
from typing import ClassVar, Literal

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom import PrivacyModel, Schema, Table, param
from anonloom.cells import number_text
from anonloom.hierarchies import Hierarchy
from anonloom.kinds import Offsets
from anonloom.params import between
from anonloom.typing import BoolArray, FloatArray, IntArray
from anonloom_privacy_models.sensitive import (
    problem_with,
    problem_with_hierarchy,
    problem_with_order,
)
from anonloom_privacy_models.tallies import Occurrences, Tally

#: Keeps a distance that is t on paper admitted after rounding.
ROUNDING = 1e-9


@attrs.frozen(kw_only=True)
class TCloseness(PrivacyModel):
    """Earth mover's distance to the table's distribution is at most t (Li et al. 2007).

    A missing value is no value: rows without one are left out of both distributions, and a class
    that has none at all is refused. Where a column names the person, a person counts once per
    value.
    """

    # Where a row is a person, the distance is convex and a union is a mixture: monotone. Persons
    # that two classes share count once in the union, which is then no mixture of both.
    monotone: ClassVar[bool] = False
    #: Parameters with which `anonloom plugins check` tries it.
    example: ClassVar[dict[str, object]] = {"t": 0.4, "of": "illness"}

    t: float = param(help="Greatest distance, from 0 to 1.", check=between(0, 1))
    of: str = param(help="The sensitive column.")
    distance: Literal["equal", "ordered", "hierarchical"] = param(
        help="How far apart two values are: all equally; by their ranks in order; by how high in "
        "the column's hierarchy they meet.",
        default="equal",
    )

    @property
    def judged(self) -> tuple[str, ...]:
        """The sensitive column."""
        return (self.of,)

    def meaning(self, unit: str) -> str:
        """Say what t-closeness promises."""
        return (
            f"Among the {unit} that share a combination, '{self.of}' is spread nearly as in the "
            f"whole release (distance at most {self.t:g}), so that finding the group tells little."
        )

    def admits(self, table: Table, rows: Offsets, starts: Offsets, stops: Offsets) -> BoolArray:
        """Measure the distance of every range."""
        return self.distances(table, rows, starts, stops) <= self.t + ROUNDING

    def would_pass(self, table: Table, rows: Offsets, starts: Offsets, stops: Offsets) -> str:
        """Say the least t that admits all ranges, rounded up."""
        worst = float(self.distances(table, rows, starts, stops).max(initial=0.0))
        if math.isinf(worst):
            return "no t"
        return f"t: {number_text(min(math.ceil(worst * 100 - 5e-8) / 100, 1.0))}"

    def problem(self, schema: Schema) -> str | None:
        """Refuse a column that is not sensitive, or on which the distance is not defined."""
        result = problem_with(schema, self.of)
        if result is None and self.distance == "ordered":
            result = problem_with_order(schema[self.of])
        if result is None and self.distance == "hierarchical":
            result = problem_with_hierarchy(schema[self.of])
        return result

    def distances(self, table: Table, rows: Offsets, starts: Offsets, stops: Offsets) -> FloatArray:
        """Distance of every range to the whole table; infinite where a range has no value."""
        axis = table.encode_column(self.of).axis
        overall = _overall(table, self.of)
        result = np.full(len(starts), np.inf)
        for tally in Occurrences.of(table, self.of, rows).tallies(starts, stops):
            if not len(tally.value):
                continue
            if self.distance == "equal":
                far = total_variation(tally, overall)
            elif self.distance == "ordered":
                far = ordered_distance(tally, overall)
            else:
                assert axis.hierarchy is not None
                far = hierarchical_distance(tally, overall, axis.hierarchy)
            result[tally.which] = np.where(tally.totals > 0, far, np.inf)
        return result


def _overall(table: Table, column: str) -> FloatArray:
    """Share of every value among all rows but those that a missing value suppresses.

    Such a row loses its sensitive value before anything is published.
    """
    everywhere = np.flatnonzero(~table.incomplete)
    occurrences = Occurrences.of(table, column, everywhere)
    counted = occurrences.present
    if occurrences.twin is not None:
        counted = counted & (occurrences.twin < 0)
    counts = np.bincount(occurrences.values[counted], minlength=occurrences.size)
    return counts / max(int(counts.sum()), 1)


def _shares(tally: Tally) -> FloatArray:
    """Share of every entry in its range."""
    return tally.count / tally.totals[tally.range]


def total_variation(tally: Tally, overall: FloatArray) -> FloatArray:
    """Equal distance: what a range has too much of, it has too little of elsewhere."""
    return tally.sums(np.maximum(_shares(tally) - overall[tally.value], 0.0))


def ordered_distance(tally: Tally, overall: FloatArray) -> FloatArray:
    """Ordered distance (section 4.1): sum of |P_i - Q_i| / (m - 1) over cumulated shares.

    P is constant from one entry to the next while Q rises, so a stretch is two sums of Q: below
    and above the place where Q reaches P.
    """
    m = len(overall)
    if m < 2:
        return np.zeros(len(tally.which))
    Q = np.cumsum(overall)
    summed = np.append(0.0, np.cumsum(Q))
    running = np.cumsum(tally.count)
    first = np.searchsorted(tally.range, np.arange(len(tally.which)))
    before = np.append(0, running)[first]
    P = (running - before[tally.range]) / tally.totals[tally.range]
    start, stop = tally.value, _next_value(tally, m)
    turn = np.clip(np.searchsorted(Q, P), start, stop)
    too_much = P * (turn - start) - (summed[turn] - summed[start])
    too_little = (summed[stop] - summed[turn]) - P * (stop - turn)
    # Before the first entry P is 0.
    leading = np.zeros(len(tally.which))
    some = tally.totals > 0
    leading[some] = summed[tally.value[first[some]]]
    return (leading + tally.sums(too_much + too_little)) / (m - 1)


def _next_value(tally: Tally, end: int) -> IntArray:
    """Of every entry the next value of its range, or the end."""
    following = np.append(tally.value[1:], end)
    last = np.append(tally.range[1:] != tally.range[:-1], True)
    return np.where(last, end, following)


def hierarchical_distance(tally: Tally, overall: FloatArray, hierarchy: Hierarchy) -> FloatArray:
    """Hierarchical distance (section 4.2): what moves within each node, at the node's height.

    Of the children of a node, some have too much and some too little; the smaller of both sums
    moves between them. A child without rows has too little by its whole share, and nothing moves
    within a node without rows, so that entries suffice.
    """
    H = hierarchy.depth - 1
    cost = np.zeros(len(tally.which))
    # Of every node that a range meets: the range, a leaf below, the table's share, the excess.
    of_range, leaf, share = tally.range, tally.value, overall[tally.value]
    extra = _shares(tally) - share
    for height in range(1, H + 1):
        level = _node_numbers(hierarchy.ancestors[height])
        parent = level[leaf]
        starts = _starts(of_range, parent)
        surplus = np.add.reduceat(np.maximum(extra, 0.0), starts)
        deficit = np.add.reduceat(np.maximum(-extra, 0.0), starts)
        met = np.add.reduceat(share, starts)
        share = np.bincount(level, overall).astype(np.float64)[parent[starts]]
        deficit += share - met
        of_range, leaf, extra = of_range[starts], leaf[starts], surplus - deficit
        cost += height / H * np.bincount(of_range, np.minimum(surplus, deficit), len(cost))
    return cost


def _node_numbers(nodes: NDArray[np.int32]) -> IntArray:
    """Number the nodes of a level from 0; leaves under one node lie side by side."""
    return np.cumsum(np.append(0, nodes[1:] != nodes[:-1]))


def _starts(of_range: IntArray, node: IntArray) -> IntArray:
    """First entry of every node in every range."""
    fresh = (of_range[1:] != of_range[:-1]) | (node[1:] != node[:-1])
    return np.flatnonzero(np.append(True, fresh))
