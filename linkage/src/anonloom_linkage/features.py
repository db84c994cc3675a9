"""The features of a column: numbers on one scale, categories as indicators, times as a clock.

A generalized cell is encoded as what is to be expected of a record of which no more is known: the
mean of the features of the values that it covers. `*` is then the mean of the whole column, and
says nothing after centring.
"""

from collections.abc import Sequence
from typing import Any, Literal

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from anonloom_linkage.paired import Cells, Floats, PairedColumn

Categories = Literal["one-hot", "frequency", "hierarchical"]
Clock = Literal["position", "hour", "weekday"]

SECONDS = 86_400
#: 1 January 1970 was a Thursday; weeks begin on Monday.
THURSDAY = 3


@attrs.frozen(kw_only=True)
class Encoding:
    """How cells become features.

    Attributes
    ----------
    categories
        One indicator per value; the value's share of the original; or indicators of the value and
        of every node above it.
    scale_categories
        Whether indicators are divided by their standard deviation, as numbers are.
    covering
        What a generalized cell stands for: the mean of the original's values that it covers, or
        the middle of the interval and equal shares of its leaves.
    clock
        What of a moment counts. `hour` is for times only.
    cyclic
        Whether hours and weekdays are points of a circle, on which 23 o'clock is near midnight.
    most_values
        Values of a category that have an indicator of their own; all rarer ones share one.
    """

    categories: Categories = "one-hot"
    scale_categories: bool = False
    covering: Literal["expected", "middle"] = "expected"
    clock: tuple[Clock, ...] = ("position", "hour", "weekday")
    cyclic: bool = False
    most_values: int = 256


def column_features(
    column: PairedColumn, encoding: Encoding, reference: Sequence[int]
) -> tuple[Any, tuple[Cells, ...]]:
    """Encode a column.

    Parameters
    ----------
    reference
        The tables whose means and standard deviations scale the features.

    Returns
    -------
    table, sides
        (cells x features), and the cell of every row of every table. Cells with equal features
        may have been made one. A column that says nothing has no feature.
    """
    if column.ordered:
        table = _ordered_features(column, encoding)
        sides, table = _merged(column.sides, table)
    else:
        table, sides = _category_features(column, encoding), column.sides
    scaled = column.ordered or encoding.scale_categories or encoding.categories == "frequency"
    counts = np.zeros(table.shape[0])
    for side in reference:
        counts += np.bincount(sides[side], minlength=len(counts))
    return _standardized(table, counts, scaled), sides


# --- numbers, dates and times --------------------------------------------------------------------


def _ordered_features(column: PairedColumn, encoding: Encoding) -> Floats:
    axis = column.axis
    own = axis.places[: axis.occurring]
    # Of the original's values: their share decides what is expected under a wide cell.
    counts = np.bincount(column.sides[0], minlength=axis.size)[: axis.occurring].astype(float)
    spoken = ~column.open & ~column.missing
    features = [
        _over_cells(column, own, counts, function, encoding)
        for function in _functions(column, encoding)
    ]
    if column.missing.any():
        present = np.bincount(column.sides[0], minlength=len(column))
        share = present[column.missing].sum() / max(present.sum(), 1)
        indicator = np.where(spoken, 0.0, np.where(column.missing, 1.0, share))
        features.append(indicator)
    table: Floats = np.stack(features, axis=1)
    return table


def _functions(column: PairedColumn, encoding: Encoding) -> list[Any]:
    """The features of a single value, as functions of its place."""
    if column.type == "number":
        return [_itself]
    unit = 1 if column.type == "date" else SECONDS
    functions: list[Any] = []
    if "position" in encoding.clock:
        functions.append(_itself)
    circles = []
    if "hour" in encoding.clock and column.type == "time":
        circles.append((lambda place: np.floor(place % SECONDS / 3600), 24))
    if "weekday" in encoding.clock:
        circles.append((lambda place: (np.floor(place / unit) + THURSDAY) % 7, 7))
    for phase, period in circles:
        functions += _on_a_circle(phase, period) if encoding.cyclic else [phase]
    return functions


def _itself(place: Floats) -> Floats:
    return place


def _on_a_circle(phase: Any, period: int) -> list[Any]:
    turn = 2 * np.pi / period
    return [lambda place: np.cos(turn * phase(place)), lambda place: np.sin(turn * phase(place))]


def _over_cells(
    column: PairedColumn, own: Floats, counts: Floats, function: Any, encoding: Encoding
) -> Floats:
    """A feature of every cell: of single values itself, of others its mean over what they cover."""
    lo, hi = column.lo, column.hi
    values = function(np.where(np.isnan(lo), 0.0, lo))
    whole = float(function(own) @ counts / counts.sum()) if counts.sum() else 0.0
    wide = np.flatnonzero((hi > lo) & ~column.open)
    if len(wide):
        first = np.searchsorted(own, lo[wide], side="left")
        stop = np.searchsorted(own, hi[wide], side="right")
        rows = np.r_[0.0, np.cumsum(counts)]
        sums = np.r_[0.0, np.cumsum(function(own) * counts)]
        inside = rows[stop] - rows[first]
        middle = function((lo[wide] + hi[wide]) / 2)
        mean = np.divide(sums[stop] - sums[first], inside, out=middle.copy(), where=inside > 0)
        straight = encoding.covering == "middle" and function is _itself
        values[wide] = middle if straight else mean
    values[column.open | column.missing] = whole
    return values


def _merged(sides: tuple[Cells, ...], table: Floats) -> tuple[tuple[Cells, ...], Floats]:
    """Make cells with equal features one: a year of moments has 168 hours of the week."""
    key = np.zeros(len(table), np.int64)
    for feature in table.T:
        codes, distinct = pd.factorize(feature)
        key = pd.factorize(key * len(distinct) + codes)[0]
    first = np.full(int(key.max(initial=-1)) + 1, -1, np.int64)
    first[key[::-1]] = np.arange(len(key) - 1, -1, -1)
    numbers = key.astype(np.int32)
    return tuple(numbers[side] for side in sides), table[first]


# --- categories ----------------------------------------------------------------------------------


def _category_features(column: PairedColumn, encoding: Encoding) -> Any:
    leaves = column.covers.shape[1]
    counts = np.bincount(column.sides[0], minlength=leaves)[:leaves].astype(float)
    if encoding.covering == "expected":
        weights = column.covers @ sparse.diags_array(counts)
        # Where nothing of the original lies below a cell, its leaves are equally likely.
        empty = np.asarray(weights.sum(axis=1)).ravel() == 0
        if empty.any():
            weights = weights + sparse.diags_array(empty.astype(float)) @ column.covers
    else:
        weights = column.covers
    sums = np.asarray(weights.sum(axis=1)).ravel()
    shares = sparse.diags_array(np.divide(1.0, sums, where=sums > 0, out=np.zeros(len(sums))))
    shares = (shares @ weights).tocsr()
    if encoding.categories == "frequency":
        return np.asarray(shares @ (counts / max(counts.sum(), 1.0)))[:, None]
    indicators = sparse.eye_array(leaves, format="csr")
    if encoding.categories == "hierarchical":
        indicators = _with_nodes(column, leaves)
    return (shares @ _most_frequent(indicators, counts, encoding.most_values)).tocsr()


def _with_nodes(column: PairedColumn, leaves: int) -> Any:
    """Indicators of the leaves and of all nodes above them but the root, (leaves x features)."""
    hierarchy, occurring = column.axis.hierarchy, column.axis.occurring
    blocks = [sparse.eye_array(leaves, format="csr")]
    for level in range(1, hierarchy.depth - 1) if hierarchy is not None else ():
        nodes, number = np.unique(hierarchy.ancestors[level], return_inverse=True)
        ones = np.ones(occurring)
        shape = (leaves, len(nodes))
        blocks.append(sparse.csr_array((ones, (np.arange(occurring), number)), shape=shape))
    return sparse.hstack(blocks, format="csr")


def _most_frequent(indicators: Any, counts: Floats, most: int) -> Any:
    """Keep the indicators that occur most; the others become one."""
    if indicators.shape[1] <= most:
        return indicators
    order = np.argsort(-np.asarray(counts @ indicators), kind="stable")
    rest = np.asarray(indicators[:, order[most:]].sum(axis=1))[:, None]
    return sparse.hstack([indicators[:, np.sort(order[:most])], sparse.csr_array(rest)]).tocsr()


# --- scale ---------------------------------------------------------------------------------------


def _standardized(table: Any, counts: NDArray[np.float64], scaled: bool) -> Any:
    """Centre and scale features where asked, and drop those that have no scale."""
    if not scaled:
        return table
    total = counts.sum()
    mean = np.asarray(counts @ table).ravel() / total
    if sparse.issparse(table):
        # Indicators: their squares are small numbers, and centring would fill the table.
        variance = np.asarray(counts @ table.multiply(table)).ravel() / total - mean**2
        varying = np.flatnonzero(variance > 1e-12)
        return (table[:, varying] @ sparse.diags_array(1 / np.sqrt(variance[varying]))).tocsr()
    table = table - mean
    variance = (counts @ table**2) / total
    varying = np.flatnonzero(variance > 1e-24 * np.maximum(mean**2, 1.0))
    return table[:, varying] / np.sqrt(variance[varying])
