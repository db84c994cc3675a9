"""Published cells as features, against a slow and obvious reading of every form."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom import Column, Release, Schema, Table
from anonloom.hierarchies import Prefix, Tree
from anonloom_columns import NotationReader
from anonloom_learning.encoding import (
    MOST_LEAVES,
    absence_features,
    encode,
    place_features,
    share_features,
)
from anonloom_linkage.aligned_columns import align_columns
from anonloom_testing.auditor import in_classes
from anonloom_testing.random_tables import TREE, mixed_table


def paired(original, cells, **how):
    """The column `x` of an original with these cells, and of a release with those."""
    schema = Schema([Column(name="x", role=how.pop("role", "quasi"), **how)])
    table = Table.build(pd.DataFrame({"x": original}), schema).with_reader(NotationReader)
    release = Release(schema=schema, frame=pd.DataFrame({"x": pd.Series(cells, dtype=object)}))
    (column,) = align_columns(table, [release], ["x"])
    return column


def features_of(column, table):
    """Features of the rows of the release."""
    return table[column.sides[1]].tolist()


@pytest.mark.parametrize(
    ("cell", "middle", "width"),
    [
        ("10", -0.5, 0.0),
        ("40", 0.25, 0.0),
        ("[10, 50]", 0.0, 1.0),
        ("[20, 40]", 0.0, 0.5),
        ("[20, 30)", -0.1375, 0.225),  # whole numbers: up to 29
        ("20-30", -0.125, 0.25),
        ('{"10", "30"}', -0.25, 0.5),
        ("*", 0.0, 1.0),
        ("33", 0.075, 0.0),
    ],
)
def test_a_number_is_the_middle_and_the_width_of_its_cell_in_ranges_of_the_column(
    cell, middle, width
):
    column = paired([10, 20, 30, 40, 50], [cell], type="number")
    (result,) = features_of(column, place_features(column, widths=True))
    assert pytest.approx([middle, width]) == result
    assert [pytest.approx([middle])] == features_of(column, place_features(column, widths=False))


def test_a_missing_number_is_in_the_middle_and_said_to_be_missing():
    column = paired([10, None, 50], [None, "[10, 50]", "*"], type="number")
    assert [[0.0, 0.0], [0.0, 1.0], [0.0, 1.0]] == features_of(column, place_features(column, True))
    assert [[0.0, 1.0], [1.0, 0.0], [1.0, 0.0]] == features_of(column, absence_features(column))


def test_the_middle_does_not_depend_on_how_frequent_values_are():
    rare = paired([10] * 9 + [50], ["[10, 50]"], type="number")
    often = paired([10] + [50] * 9, ["[10, 50]"], type="number")
    assert features_of(rare, place_features(rare, True)) == features_of(
        often, place_features(often, True)
    )


def test_a_node_counts_in_equal_parts_for_its_leaves_however_frequent_they_are():
    tree = {"north": ["a", "b"], "south": ["c", "d", "e"]}
    column = paired(list("aaaaabcde"), ["a", "north", "south", "*"], hierarchy=Tree(tree=tree))
    third = pytest.approx(1 / 3)
    assert [
        [1.0, 0.0, 0.0, 0.0, 0.0],
        [0.5, 0.5, 0.0, 0.0, 0.0],
        [0.0, 0.0, third, third, third],
        pytest.approx([0.2] * 5),
    ] == features_of(column, share_features(column))


def test_a_set_counts_in_equal_parts_for_its_members():
    column = paired(list("abc"), ['{"a", "c"}', "b"], publish="set")
    assert [[0.5, 0.0, 0.5], [0.0, 1.0, 0.0]] == features_of(column, share_features(column))


def test_a_missing_category_is_a_value_of_its_own_and_no_part_of_a_star():
    column = paired(["a", "b", None], [None, "*", "a"])
    assert [[0.0, 0.0, 1.0], [0.5, 0.5, 0.0], [1.0, 0.0, 0.0]] == features_of(
        column, share_features(column)
    )


def test_a_category_of_many_values_is_encoded_by_the_groups_of_its_hierarchy():
    codes = [f"{number:04}" for number in range(3 * MOST_LEAVES)]
    column = paired(codes, ["0001", "01**", "*"], hierarchy=Prefix(keep=(2, 1)))
    result = features_of(column, share_features(column))
    assert [
        pytest.approx([1.0, 0.0, 0.0]),
        pytest.approx([0.0, 1.0, 0.0]),
        pytest.approx([1 / 3, 1 / 3, 1 / 3]),
    ] == result


def test_a_flat_category_of_many_values_is_left_out():
    texts = [f"text {number}" for number in range(MOST_LEAVES + 1)]
    column = paired(texts, texts, role="other")
    encoded = encode([column], [len(texts)] * 2, widths=True)
    assert (("x",), (len(texts), 0)) == (encoded.left_out, encoded.rows[0].shape)


def test_original_rows_have_a_width_of_0_and_whole_shares():
    age = paired([1, 2, 3], ["[1, 3]"] * 3, type="number")
    sex = paired(list("fmf"), ["*"] * 3)
    encoded = encode([age, sex], [3, 3], widths=True)
    assert [False, False, True, True] == encoded.shares.tolist()
    original, release = encoded.rows
    assert [[-0.5, 0, 1, 0], [0, 0, 0, 1], [0.5, 0, 1, 0]] == original.tolist()
    assert [[0, 1, 0.5, 0.5]] * 3 == release.tolist()


def test_features_that_are_the_same_in_every_row_of_every_version_are_left_out():
    age = paired([1, 2, 3], ["1", "2", "3"], type="number")
    job = paired(["a"] * 3, ["a"] * 3)
    assert [False] == encode([age, job], [3, 3], widths=True).shares.tolist()


def test_noise_that_throws_a_value_far_away_leaves_a_number():
    column = paired([0.0, 1.0], ["1e300"], type="number")
    assert np.isfinite(encode([column], [2, 1], widths=True).rows[1]).all()


def test_dates_are_days_between_the_first_and_the_last():
    column = paired(["2020-01-01", "2020-12-31"], ["2020-01", "2020"], type="date")
    year = 365
    # A node covers the days under it that occur: January has one of them here.
    assert [[-0.5, 0.0], [0.0, year / year]] == features_of(column, place_features(column, True))


# --- every form of every table ------------------------------------------------------------------


def expected(cell, values):
    """What a reader knows of a cell: slowly, and by its text alone."""
    present = [value for value in values if value is not None]
    if isinstance(present[0], float):
        lo, hi = min(present), max(present)
        if cell is None:
            return [0.0, 0.0, 0.0, 1.0]
        if cell == "*":
            ends = lo, hi
        elif cell.startswith("{"):
            members = [float(member) for member in json.loads("[" + cell[1:-1] + "]")]
            ends = min(members), max(members)
        else:
            numbers = [float(text) for text in re.findall(r"[0-9.]+", cell)]
            ends = numbers[0], numbers[-1]
        unit = (hi - lo) or 1.0
        return [(sum(ends) / 2 - (lo + hi) / 2) / unit, (ends[1] - ends[0]) / unit, 1.0, 0.0]
    order = [leaf for leaves in TREE.values() for leaf in leaves if leaf in present]
    if cell is None:
        covered = {None}
    elif cell == "*":
        covered = set(order)
    elif cell in TREE:
        covered = set(TREE[cell]) & set(order)
    else:
        covered = set(json.loads("[" + cell[1:-1] + "]")) if cell.startswith("{") else {cell}
    leaves = [*order, *([None] if None in values else [])]
    return [float(leaf in covered) / len(covered) for leaf in leaves]


@settings(max_examples=30)
@given(st.integers(1, 20), st.integers(0, 99), st.booleans(), st.integers(1, 5))
def test_every_cell_is_read_as_a_slow_reader_reads_it(rows, seed, missing, size):
    table = mixed_table(rows, 6, seed, missing)
    release = in_classes(table, size)
    for column in align_columns(table, [release], table.schema.quasi):
        raw = [None if pd.isna(cell) else cell for cell in table.column(column.name)]
        if all(cell is None for cell in raw):
            continue
        cells = [None if pd.isna(cell) else cell for cell in release.frame[column.name]]
        if column.is_ordered:
            made = np.hstack([place_features(column, True), absence_features(column)])
        else:
            # Siblings stand in the order of their first appearance: by the axis's own order.
            made = share_features(column)
            leaves = [*column.axis.texts(np.arange(column.axis.size))]
            order = [leaf for tree in TREE.values() for leaf in tree if leaf in leaves]
            made = made[:, [leaves.index(leaf) for leaf in [*order, None] if leaf in leaves]]
        for row, cell in enumerate(cells):
            assert pytest.approx(expected(cell, raw)) == made[column.sides[1][row]].tolist()
