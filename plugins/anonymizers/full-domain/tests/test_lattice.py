"""Levels are nested partitions into intervals; the kernel groups points as a dictionary does."""

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom import Column, Schema, Table
from anonloom.hierarchies import Tree
from anonloom_full_domain.grid import Grid
from anonloom_full_domain.lattice import Lattice
from anonloom_testing.strategies import samples


@given(sample=samples())
@settings(max_examples=100)
def test_levels_are_nested_and_lose_ever_more(sample):
    table = sample.table()

    for levels, axis in zip(Lattice.of(table).every, table.axes, strict=True):
        codes = np.arange(axis.size)
        assert codes.tolist() == levels.lo[0].tolist()
        assert {0} == set(levels.lo[-1].tolist())
        assert (levels.lo <= codes).all()
        assert (codes <= levels.hi).all()
        assert (np.diff(levels.lo, axis=0) <= 0).all()
        assert (np.diff(levels.hi, axis=0) >= 0).all()
        assert (np.diff(levels.loss, axis=0) >= -1e-12).all()
        # No level says the same as the one before.
        assert all((np.diff(levels.lo, axis=0) != 0).any(axis=1))


def test_a_number_without_a_hierarchy_is_halved():
    frame = pd.DataFrame({"x": [0, 1, 5, 9, 16]})
    table = Table.build(frame, Schema([Column(name="x", role="quasi", type="number")]))

    levels = Lattice.of(table).axes[0]

    # Single values; quarters of the range [0, 4), [4, 8), [8, 12), [12, 16]; halves; everything.
    assert [[0, 1, 2, 3, 4], [0, 0, 2, 3, 4], [0, 0, 0, 3, 3], [0, 0, 0, 0, 0]] == (
        levels.lo.tolist()
    )
    assert [-1, -1, -1, -1] == levels.of_hierarchy.tolist()


def halved(groups):
    return [half for group in groups for half in _halves(group)]


def _halves(group):
    middle = -(-len(group) // 2)
    return [half for half in (group[:middle], group[middle:]) if half]


def test_below_sixteen_bins_the_values_of_each_are_halved():
    values = sorted({round(1.3**index, 3) for index in range(60)})
    table = Table.build(
        pd.DataFrame({"x": values}), Schema([Column(name="x", role="quasi", type="number")])
    )
    width = (values[-1] - values[0]) / 16
    bins = {}
    for value in values:
        bins.setdefault(min(int((value - values[0]) / width), 15), []).append(value)
    expected = [list(bins.values())]
    while any(len(group) > 1 for group in expected[0]):
        expected.insert(0, halved(expected[0]))

    levels = Lattice.of(table).axes[0]

    results = [
        [[values[code] for code in np.flatnonzero(lo == first)] for first in np.unique(lo)]
        for lo in levels.lo[: len(expected)]
    ]
    assert expected == results


def test_a_level_on_which_no_cell_has_enough_rows_is_left_out():
    frame = pd.DataFrame({"x": [0, 1, 5, 9, 16]})
    table = Table.build(frame, Schema([Column(name="x", role="quasi", type="number")]))

    assert [[0, 0, 0, 3, 3], [0, 0, 0, 0, 0]] == Lattice.of(table, 3).axes[0].lo.tolist()
    assert [[0, 0, 0, 0, 0]] == Lattice.of(table, 6).axes[0].lo.tolist()


def test_a_level_that_divides_no_more_is_left_out():
    """Of both regions only one town occurs each, so that regions say what towns say."""
    frame = pd.DataFrame({"town": ["a", "d"]})
    tree = Tree(tree={"north": ["a", "b"], "south": ["c", "d"]})
    table = Table.build(frame, Schema([Column(name="town", role="quasi", hierarchy=tree)]))

    levels = Lattice.of(table).axes[0]

    assert [0, 2] == levels.of_hierarchy.tolist()


def test_missing_values_lie_with_others_on_the_last_level_only():
    frame = pd.DataFrame({"sex": ["f", "m", None]})
    table = Table.build(frame, Schema([Column(name="sex", role="quasi")]))

    levels = Lattice.of(table).axes[0]

    assert [[0, 1, 2], [0, 0, 2], [0, 0, 0]] == levels.lo.tolist()
    assert [[0.0, 0.0, 0.0], [1.0, 1.0, 0.0], [1.0, 1.0, 1.0]] == levels.loss.tolist()
    assert [[True, True, True], [True, True, False], [True, True, True]] == levels.fresh.tolist()


def grouped(grid, node, points, weights, only_fresh):
    """Return the boxes of a node as a dictionary finds them."""
    results = {}
    for point, weight in zip(points.tolist(), weights.tolist(), strict=True):
        label, *codes = grid.codes[point].tolist()
        steps = [
            (axis.lo[level, code], axis.fresh[level, code], axis.loss[level, code])
            for axis, level, code in zip(grid.lattice.axes, node, codes, strict=True)
        ]
        if only_fresh and not all(fresh for _, fresh, _ in steps):
            continue
        key = (label, *(lo for lo, _, _ in steps))
        members, size, _ = results.get(key, ([], 0, 0.0))
        lost = round(float(sum(loss for _, _, loss in steps)), 9)
        results[key] = ([*members, point], size + weight, lost)
    return sorted(results.values())


def by_kernel(grid, node, points, weights, only_fresh):
    boxes = grid.boxes(node, points, weights, only_fresh=only_fresh)
    return sorted(
        (points[boxes.of_point == box].tolist(), int(boxes.sizes[box]), round(boxes.lost[box], 9))
        for box in range(len(boxes))
    )


@given(sample=samples(), only_fresh=st.booleans(), data=st.data())
@settings(max_examples=100)
def test_boxes_are_those_of_a_dictionary(sample, only_fresh, data):
    table = sample.table()
    grid = Grid.of(table, table.whole())
    node = tuple(data.draw(st.integers(0, levels - 1)) for levels in grid.lattice.shape)
    some = data.draw(st.lists(st.booleans(), min_size=len(grid), max_size=len(grid)))
    points = np.flatnonzero(np.array(some, bool))

    expected = grouped(grid, node, points, grid.weights[points], only_fresh)
    assert expected == by_kernel(grid, node, points, grid.weights[points], only_fresh)


def test_more_columns_than_fit_one_number():
    """Seventy columns of three values: boxes are compared, not only their numbers."""
    rng = np.random.default_rng(3)
    rows = np.repeat(rng.integers(0, 3, (40, 70)), 3, axis=0)
    rows[::3, 0] = 3
    frame = pd.DataFrame(rows.astype(str), columns=[f"q{index}" for index in range(70)])
    table = Table.build(frame, Schema([Column(name=name, role="quasi") for name in frame]))
    grid = Grid.of(table, table.whole())
    points = np.arange(len(grid))

    for node in (tuple([0] * 70), tuple([1] + [0] * 69), tuple([1] * 69 + [0])):
        expected = grouped(grid, node, points, grid.weights, False)
        assert expected == by_kernel(grid, node, points, grid.weights, False)
