"""What a split is to make uniform: the labels, or, for clustering, the quasi-identifiers.

All targets are of two shapes. A category has a number for the value of every point; it is impure
by the entropy or by Gini's index of its values. A number has sums over the rows of every point; it
is impure by its variance. Impurities of a node are summed over its rows, so that those of two
parts add up to at most that of the whole.
"""

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple, TypeVar

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom import Classes, Table
from anonloom.data import Axis
from anonloom.typing import BoolArray, FloatArray, IntArray
from anonloom_tada.weighted_points import WeightedPoints

Gain = Literal["auto", "entropy", "gini", "variance"]
Target = TypeVar("Target", "Category", "Number")


class Targets(NamedTuple):
    """The targets of all points, as arrays that compiled code can take apart.

    Attributes
    ----------
    value
        (categories x points): number of the value, -1 where it is not known.
    start
        (categories + 1): where the values of each target begin when all are numbered through.
    entropy
        (categories): whether entropy counts; Gini's index otherwise.
    worth
        (categories): factor of the impurity.
    known, total, square
        (numbers x points): how many rows have a number, their sum and their sum of squares.
    number_worth
        (numbers): factor of the impurity.
    """

    value: NDArray[np.int32]
    start: IntArray
    entropy: BoolArray
    worth: FloatArray
    known: IntArray
    total: FloatArray
    square: FloatArray
    number_worth: FloatArray


@attrs.frozen(eq=False)
class Category:
    """One target of values."""

    value: NDArray[np.int32]
    weight: IntArray
    size: int
    entropy: bool
    worth: float

    @property
    def impurity(self) -> float:
        """Impurity of all points together."""
        known = self.value >= 0
        counts = np.bincount(self.value[known], self.weight[known], self.size)
        rows = counts.sum()
        if not rows:
            return 0.0
        shares = counts[counts > 0] / rows
        if self.entropy:
            return float(-rows * (shares * np.log(shares)).sum())
        return float(rows * (1 - (shares**2).sum()))


@attrs.frozen(eq=False)
class Number:
    """One target of numbers."""

    known: IntArray
    total: FloatArray
    square: FloatArray
    worth: float

    @property
    def impurity(self) -> float:
        """Impurity of all points together."""
        rows = int(self.known.sum())
        return float(self.square.sum() - self.total.sum() ** 2 / rows) if rows else 0.0


def gain_of(table: Table, name: str, gain: Gain) -> Literal["entropy", "gini", "variance"]:
    """Return the gain that suits a label."""
    if gain != "auto":
        return gain
    return "entropy" if table.schema[name].type == "category" else "variance"


def for_labels(
    table: Table, classes: Classes, weights: Mapping[str, float], gain: Gain
) -> tuple[WeightedPoints, Targets]:
    """Collapse the rows of the classes and make targets of the labels.

    A missing label says nothing and counts nowhere. Every label's impurity is taken as a share of
    what all rows have, so that labels of different units can be weighed against each other.
    """
    kinds = {name: gain_of(table, name, gain) for name in weights}
    coded = {name: table.encode_column(name) for name in weights}
    values = [name for name in weights if kinds[name] != "variance"]
    extra = [coded[name].codes[classes.rows] for name in values]
    width = len(classes.rows)
    weighted = WeightedPoints.of(
        table, classes, np.array(extra, np.int32).reshape(len(extra), width)
    )
    categories, numbers = [], []
    for index, name in enumerate(values):
        axis, codes = coded[name].axis, weighted.extra[index]
        value = np.where(codes == axis.missing, -1, codes).astype(np.int32)
        entropy = kinds[name] == "entropy"
        categories.append(Category(value, weighted.weight, axis.size, entropy, weights[name]))
    for name in weights:
        if kinds[name] == "variance":
            axis, codes = coded[name].axis, coded[name].codes[classes.rows]
            numbers.append(_label_sums(axis, codes, weighted, weights[name]))
    return weighted, _target_arrays(
        weighted, map(_share_of_all, categories), map(_share_of_all, numbers)
    )


def _share_of_all(one: Target) -> Target:
    """Count a target's impurity as a share of that of all rows; without any it is worth nothing."""
    return attrs.evolve(one, worth=one.worth / one.impurity if one.impurity > 0 else 0.0)


def _label_sums(
    axis: Axis, codes: NDArray[np.int32], weighted: WeightedPoints, worth: float
) -> Number:
    """Sums of a label over the rows of every point; centred, so that squares stay small."""
    known = codes != axis.missing
    own = axis.places[codes]
    spread = float(own[known].std()) if known.any() else 0.0
    middle = float(own[known].mean()) if known.any() else 0.0
    scaled: FloatArray = np.where(known, (own - middle) / (spread or 1.0), 0.0)
    count = len(weighted.weight)
    return Number(
        np.bincount(weighted.point, known, count).astype(np.int64),
        np.bincount(weighted.point, scaled, count).astype(np.float64),
        np.bincount(weighted.point, scaled**2, count).astype(np.float64),
        worth if spread > 0 else 0.0,
    )


def for_clusters(table: Table, classes: Classes) -> tuple[WeightedPoints, Targets]:
    """Collapse the rows of the classes and make targets of the quasi-identifiers.

    What is summed is half the mean squared distance between the rows of a node, times its rows:
    what k-means makes small. Two numbers are as far apart as their difference over the range; of
    two categories the square is the height of their lowest common node over that of the tree. A
    missing value is as far as can be from every other. Known numbers of a node are compared among
    themselves, over their own count: over all rows, a part could be further apart than the whole.
    """
    weighted = WeightedPoints.of(table, classes, np.empty((0, len(classes.rows)), np.int32))
    categories: list[Category] = []
    numbers: list[Number] = []
    for axis, codes in zip(table.axes, weighted.codes, strict=True):
        if axis.type == "category":
            categories += _levels(axis, codes, weighted.weight)
            continue
        known = codes != axis.missing
        place = np.where(known, (axis.places[codes] - axis.places[0]) / (axis.range or 1.0), 0.0)
        counted = np.where(known, weighted.weight, 0)
        numbers.append(Number(counted, counted * place, counted * place**2, axis.weight))
        if axis.missing >= 0:
            value = (codes == axis.missing).astype(np.int32)
            categories.append(Category(value, weighted.weight, 2, False, axis.weight / 2))
    return weighted, _target_arrays(weighted, categories, numbers)


def _levels(axis: Axis, codes: NDArray[np.int32], weight: IntArray) -> list[Category]:
    """One target per level below the root: rows differ on as many levels as their node is high."""
    assert axis.hierarchy is not None
    results = []
    levels = axis.hierarchy.ancestors[:-1]
    for nodes in levels:
        rank = np.append(0, np.cumsum(nodes[1:] != nodes[:-1]))[: len(nodes)]
        if axis.missing >= 0:
            rank = np.append(rank, rank.max(initial=-1) + 1)
        value = rank[codes].astype(np.int32)
        size = int(rank[-1]) + 1
        results.append(Category(value, weight, size, False, axis.weight / 2 / len(levels)))
    return results


def _target_arrays(
    weighted: WeightedPoints, categories: Iterable[Category], numbers: Iterable[Number]
) -> Targets:
    """Put targets into arrays, scaled so that the impurity of all rows is 1 if they have any."""
    values, sums = [*categories], [*numbers]
    points = len(weighted.weight)
    whole = sum(value.worth * value.impurity for value in values)
    whole += sum(item.worth * item.impurity for item in sums)
    scale = whole if whole > 0 else 1.0
    return Targets(
        np.array([value.value for value in values], np.int32).reshape(len(values), points),
        np.cumsum([0, *(value.size for value in values)], dtype=np.int64),
        np.array([value.entropy for value in values], bool),
        np.array([value.worth / scale for value in values], np.float64),
        np.array([item.known for item in sums], np.int64).reshape(len(sums), points),
        np.array([item.total for item in sums], np.float64).reshape(len(sums), points),
        np.array([item.square for item in sums], np.float64).reshape(len(sums), points),
        np.array([item.worth / scale for item in sums], np.float64),
    )
