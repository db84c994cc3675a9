"""The features of a column: numbers on one scale, categories as indicators, times as a clock.

A generalized cell is encoded as what is to be expected of a record of which no more is known: the
mean of the features of the values that it covers. `*` is then the mean of the whole column, and
says nothing after centring.
"""

from collections.abc import Sequence
from typing import Any, Literal

import attrs
import numpy as np

from anonloom.lazy import lazy_module, pd
from anonloom.typing import BoolArray, FloatArray
from anonloom_linkage.aligned_columns import AlignedColumn, Cells

sparse = lazy_module("scipy.sparse")

__all__ = ["Categories", "Clock", "Encoding", "column_features"]

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
    column: AlignedColumn, encoding: Encoding, reference: Sequence[int]
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
        may have been made one. What is the same in every row of all tables is no feature.
    """
    if column.is_ordered:
        table = _ordered_features(column, encoding)
        sides = column.sides
        if column.type != "number" and "position" not in encoding.clock:
            sides, table = _merge_equal_cells(sides, table)
    else:
        table, sides = _category_features(column, encoding), column.sides
    counts = [np.bincount(side, minlength=table.shape[0]).astype(float) for side in sides]
    if column.is_ordered or encoding.scale_categories or encoding.categories == "frequency":
        return _standardize(table, np.sum([counts[side] for side in reference], axis=0)), sides
    return _drop_constant(table, np.sum(counts, axis=0) > 0), sides


# --- numbers, dates and times --------------------------------------------------------------------


def _ordered_features(column: AlignedColumn, encoding: Encoding) -> FloatArray:
    axis = column.axis
    own = axis.places[: axis.value_count]
    # Of the original's values: their share decides what is expected under a wide cell.
    counts = np.bincount(column.sides[0], minlength=axis.size)[: axis.value_count].astype(float)
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
    # A date has no hour: the clock may leave nothing of a column.
    return np.stack(features, axis=1) if features else np.empty((len(column), 0))


def _functions(column: AlignedColumn, encoding: Encoding) -> list[Any]:
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


def _itself(place: FloatArray) -> FloatArray:
    return place


def _on_a_circle(phase: Any, period: int) -> list[Any]:
    turn = 2 * np.pi / period
    return [lambda place: np.cos(turn * phase(place)), lambda place: np.sin(turn * phase(place))]


def _over_cells(
    column: AlignedColumn, own: FloatArray, counts: FloatArray, function: Any, encoding: Encoding
) -> FloatArray:
    """A feature of every cell: of single values itself, of others its mean over what they cover."""
    lo, hi = column.lo, column.hi
    values = function(np.where(np.isnan(lo), 0.0, lo))
    of_own = function(own)
    whole = float(of_own @ (counts / counts.sum())) if counts.sum() else 0.0
    wide = np.flatnonzero((hi > lo) & ~column.open)
    if len(wide):
        first = np.searchsorted(own, lo[wide], side="left")
        stop = np.searchsorted(own, hi[wide], side="right")
        rows = np.r_[0.0, np.cumsum(counts)]
        # Differences from the mean: sums of large numbers would swallow small ones.
        sums = np.r_[0.0, np.cumsum((of_own - whole) * counts)]
        inside = rows[stop] - rows[first]
        middle = function(lo[wide] / 2 + hi[wide] / 2)
        some = inside > 0
        mean = middle.copy()
        mean[some] = whole + (sums[stop] - sums[first])[some] / inside[some]
        straight = encoding.covering == "middle" and function is _itself
        values[wide] = middle if straight else mean
    values[column.open | column.missing] = whole
    return values


def _merge_equal_cells(
    sides: tuple[Cells, ...], table: FloatArray
) -> tuple[tuple[Cells, ...], FloatArray]:
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


def _category_features(column: AlignedColumn, encoding: Encoding) -> Any:
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


def _with_nodes(column: AlignedColumn, leaves: int) -> Any:
    """Indicators of the leaves and of all nodes above them but the root, (leaves x features)."""
    hierarchy, occurring = column.axis.hierarchy, column.axis.value_count
    blocks = [sparse.eye_array(leaves, format="csr")]
    if hierarchy is not None and occurring:
        above = hierarchy.ancestors[1:-1]
        # Where a tree is ragged, a leaf or a node stands on several levels: it counts once.
        nodes = np.setdiff1d(above, hierarchy.ancestors[[0, -1]])
        kept = np.isin(above, nodes)
        leaf = np.broadcast_to(np.arange(occurring), above.shape)[kept]
        where = (leaf, np.searchsorted(nodes, above[kept]))
        shape = (leaves, len(nodes))
        result = sparse.coo_array((np.ones(len(leaf)), where), shape=shape).tocsr()
        result.data[:] = 1.0
        blocks.append(result)
    return sparse.hstack(blocks, format="csr")


def _most_frequent(indicators: Any, counts: FloatArray, most: int) -> Any:
    """Keep the indicators that occur most; the others become one."""
    if indicators.shape[1] <= most:
        return indicators
    order = np.argsort(-np.asarray(counts @ indicators), kind="stable")
    rest = np.asarray(indicators[:, order[most:]].sum(axis=1))[:, None]
    return sparse.hstack([indicators[:, np.sort(order[:most])], sparse.csr_array(rest)]).tocsr()


# --- scale ---------------------------------------------------------------------------------------


def _standardize(table: Any, counts: FloatArray) -> Any:
    """Centre and scale features, and drop those that have no scale: they do not vary."""
    total = counts.sum()
    if not total:
        return table[:, :0]
    shares = counts / total
    if sparse.issparse(table):
        # Indicators: their squares are small numbers, and centring would fill the table.
        mean = np.asarray(shares @ table).ravel()
        variance = np.asarray(shares @ table.multiply(table)).ravel() - mean**2
        varying = np.flatnonzero(variance > 1e-12)
        return (table[:, varying] @ sparse.diags_array(1 / np.sqrt(variance[varying]))).tocsr()
    scaled = [_scale_feature(feature, shares) for feature in table.T]
    kept = [feature for feature in scaled if feature is not None]
    return np.stack(kept, axis=1) if kept else table[:, :0]


def _scale_feature(feature: FloatArray, shares: FloatArray) -> FloatArray | None:
    """Give a feature the mean 0 and the variance 1; None if it has the variance 0."""
    # First to a size of which the square is a number, and small differences are seen.
    largest = max(feature.max(initial=0.0), -feature.min(initial=0.0))
    feature = feature / (largest or 1.0)
    feature -= shares @ feature
    variance = shares @ feature**2
    if not variance > 1e-24:
        return None
    feature /= np.sqrt(variance)
    return feature


def _drop_constant(table: Any, occurring: BoolArray) -> Any:
    """Drop the features that are the same in all cells that occur."""
    seen = table[np.flatnonzero(occurring)]
    if not seen.shape[0]:
        return table[:, :0]
    spread = (seen.max(axis=0) - seen.min(axis=0)).toarray().ravel()
    # A mean of equal numbers is only nearly that number.
    return table[:, np.flatnonzero(spread > 1e-9)]
