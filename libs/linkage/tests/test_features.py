"""Features of cells: what is to be expected of a record of which no more is known."""

from datetime import datetime, timedelta

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom import Column, Release, Schema, Table
from anonloom.hierarchies import Tree
from anonloom_linkage.aligned_columns import align_columns
from anonloom_linkage.features import Encoding, column_features
from anonloom_testing.auditor import in_classes, publish_suppressed
from anonloom_testing.random_tables import TREE, mixed_table
from anonloom_testing.strategies import samples

PUBLISHED = st.sampled_from([Release.as_it_is, publish_suppressed, in_classes])
TABLES = st.one_of(
    samples(max_rows=15).map(lambda sample: sample.table()),
    st.builds(mixed_table, st.integers(1, 20), st.just(4), st.integers(0, 99), st.booleans()),
)


def table_of(cells, type_="number", **how):
    schema = Schema([Column(name="x", role="quasi", type=type_, **how)])
    return Table.build(pd.DataFrame({"x": cells}), schema)


def paired(table, *cells):
    others = [
        cell
        if isinstance(cell, Table)
        else Release(schema=table.schema, frame=pd.DataFrame({"x": cell}))
        for cell in cells
    ]
    return align_columns(table, others, ["x"])[0]


def features_of(column, encoding=None, reference=(0, 1)):
    """Features of the rows of every table, written out."""
    table, sides = column_features(column, encoding or Encoding(), reference)
    table = table if isinstance(table, np.ndarray) else table.toarray()
    return [table[side] for side in sides]


def row_by_row(column, cell, function):
    """Mean of a function over the rows of the original that a cell may stand for; None if none."""
    results = []
    for code in column.sides[0]:
        if column.missing[code] or not (
            column.open[cell] or column.lo[cell] <= column.axis.places[code] <= column.hi[cell]
        ):
            continue
        results.append(function(column.axis.places[code]))
    return np.mean(results) if results else None


def ordered_by_hand(column, functions):
    """Features of the rows of the original and the release, before scaling, cell by cell."""
    rows = []
    any_missing = column.missing.any()
    absent = np.mean(column.missing[column.sides[0]])
    for side in column.sides:
        for cell in side:
            vague = column.open[cell] or column.missing[cell]
            single = not vague and column.lo[cell] == column.hi[cell]
            row = []
            for function in functions:
                mean = row_by_row(column, cell, function)
                if single:
                    mean = function(column.lo[cell])
                elif vague:
                    mean = np.mean(
                        [
                            function(column.axis.places[code])
                            for code in column.sides[0]
                            if not column.missing[code]
                        ]
                        or [0.0]
                    )
                elif mean is None:
                    mean = function((column.lo[cell] + column.hi[cell]) / 2)
                row.append(mean)
            if any_missing:
                state = absent if column.open[cell] else float(column.missing[cell])
                row.append(state)
            rows.append(row)
    return np.array(rows, float).reshape(len(rows), -1)


def scaled_by_hand(rows, reference):
    kept = []
    for feature in rows.T:
        spread = feature[reference].std()
        if spread > 1e-11 * np.abs(feature).max(initial=0.0):
            kept.append((feature - feature[reference].mean()) / spread)
    return np.array(kept).T.reshape(len(rows), -1)


def moment(place, type_):
    seconds = place * (86_400 if type_ == "date" else 1)
    return datetime(1970, 1, 1) + timedelta(seconds=float(seconds))


def functions_of(type_, cyclic):
    if type_ == "number":
        return [float]
    phases = [(lambda place: moment(place, type_).weekday(), 7)]
    if type_ == "time":
        phases.insert(0, (lambda place: moment(place, type_).hour, 24))
    functions = [float]
    for phase, period in phases:
        if cyclic:
            functions.append(lambda place, p=phase, n=period: np.cos(2 * np.pi * p(place) / n))
            functions.append(lambda place, p=phase, n=period: np.sin(2 * np.pi * p(place) / n))
        else:
            functions.append(phase)
    return functions


# --- numbers, dates and times --------------------------------------------------------------------


@settings(deadline=None, max_examples=60)
@given(TABLES, PUBLISHED, st.booleans())
def test_ordered_cells_are_what_is_expected_of_the_values_that_they_cover(table, publish, cyclic):
    release = publish(table)
    for column in align_columns(table, [release], table.schema.quasi):
        if not column.is_ordered:
            continue
        result = np.concatenate(features_of(column, Encoding(cyclic=cyclic)))
        rows = ordered_by_hand(column, functions_of(column.type, cyclic))
        want = scaled_by_hand(rows, np.arange(len(rows)))
        assert want.shape == result.shape
        np.testing.assert_allclose(result, want, atol=1e-6)


def test_the_middle_of_an_interval_needs_no_values():
    column = paired(table_of([0, 1, 2, 10]), ["[0, 10]", "5", "[11, 13]", "*"])
    (expected, _) = column_features(column, Encoding(), (0,))
    (middle, _) = column_features(column, Encoding(covering="middle"), (0,))
    mean, spread = 3.25, np.std([0, 1, 2, 10])
    cells = column.sides[1]
    np.testing.assert_allclose(middle[cells, 0] * spread + mean, [5, 5, 12, 3.25])
    np.testing.assert_allclose(expected[cells, 0] * spread + mean, [3.25, 5, 12, 3.25])


@pytest.mark.parametrize("clock", [(), ("hour",), ("weekday",), ("hour", "weekday")])
def test_the_clock_chooses_what_counts_and_equal_moments_are_made_one(clock):
    days = table_of([f"2020-03-{day:02}" for day in range(1, 29)], "date")
    column = paired(days, ["2020-03", "2020-03-05"])
    table, sides = column_features(column, Encoding(clock=clock), (0, 1))
    assert (1 if "weekday" in clock else 0) == table.shape[1]
    # The month's mean weekday is that of a Thursday, in the middle of the week.
    assert (7 if "weekday" in clock else 1) == table.shape[0]
    assert [28, 2] == [len(side) for side in sides]
    assert np.int32 == sides[0].dtype


def test_missing_numbers_are_the_mean_and_say_so():
    original, published = features_of(
        paired(table_of([1, 3, None, None]), ["1", None, "*"]), reference=(0,)
    )
    np.testing.assert_allclose(original[:, 0], [-np.sqrt(2), np.sqrt(2), 0, 0])
    np.testing.assert_allclose(original[:, 1], [-1, -1, 1, 1])
    # `*` may be missing or not, as the others are.
    np.testing.assert_allclose(published, [[-np.sqrt(2), -1], [0, 1], [0, 0]], atol=1e-12)


@pytest.mark.parametrize("reference", [(0,), (1,), (0, 1)])
def test_only_the_reference_scales(reference):
    column = paired(table_of([1, 2, 3]), ["10", "20", "60"], table_of([1000, 2000]))
    features = features_of(column, reference=reference)
    rows = np.concatenate([features[side] for side in reference])
    np.testing.assert_allclose([rows.mean(), rows.std()], [0, 1], atol=1e-12)


def test_a_column_that_does_not_vary_in_the_reference_has_no_feature():
    column = paired(table_of([1, 2, 3]), ["*", "*"])
    assert 0 == features_of(column, reference=(1,))[0].shape[1]
    assert 0 == features_of(paired(table_of([5, 5]), ["5"]))[0].shape[1]
    assert 0 == features_of(paired(table_of([None, None]), [None]))[0].shape[1]
    # Nor if there is nobody in it.
    column = paired(table_of([1, 2, 3]), np.array([], object))
    assert 0 == features_of(column, reference=(1,))[0].shape[1]


@pytest.mark.parametrize("factor", [1e-200, 1e-15, 1.0, 1e15, 1e299])
def test_the_unit_of_a_number_does_not_matter(factor):
    cells = np.array([1.0, 2, 4, 9])
    column = paired(table_of(cells * factor), cells[:2] * factor)
    np.testing.assert_allclose(
        features_of(column)[0], features_of(paired(table_of(cells), cells[:2]))[0]
    )


def test_small_differences_of_large_numbers_are_seen():
    column = paired(table_of([1e9, 1e9 + 1, 1e9 + 2, 0]), ["[1000000000, 1000000001]"])
    table, sides = column_features(column, Encoding(), (0,))
    result = table[sides[1][0], 0] * np.std([1e9, 1e9 + 1, 1e9 + 2, 0])
    np.testing.assert_allclose(result + np.mean([1e9, 1e9 + 1, 1e9 + 2, 0]), 1e9 + 0.5, atol=1e-3)


# --- categories ----------------------------------------------------------------------------------


def leaves_under(column, cell):
    return np.flatnonzero(column.covers[[cell]].toarray().ravel())


def shares_by_hand(column, cell, covering):
    """Probability of every leaf under a cell."""
    leaves = leaves_under(column, cell)
    counts = [int((column.sides[0] == leaf).sum()) for leaf in leaves]
    if covering == "middle" or not sum(counts):
        counts = [1] * len(leaves)
    return {int(leaf): n / sum(counts) for leaf, n in zip(leaves, counts, strict=True)}


def names_of(column, leaf, hierarchical):
    """Labels of a leaf and of what is above it but the root."""
    hierarchy = column.axis.hierarchy
    if leaf >= column.axis.value_count:
        return {f"leaf {leaf}"}
    levels = range(hierarchy.depth - 1) if hierarchical else [0]
    return {hierarchy.labels[hierarchy.ancestors[level, leaf]] for level in levels}


@settings(deadline=None, max_examples=60)
@given(TABLES, PUBLISHED, st.booleans(), st.sampled_from(["expected", "middle"]))
def test_categories_are_shares_of_the_leaves_and_nodes(table, publish, hierarchical, covering):
    release = publish(table)
    encoding = Encoding(categories="hierarchical" if hierarchical else "one-hot", covering=covering)
    for column in align_columns(table, [release, table], table.schema.quasi):
        if column.is_ordered:
            continue
        rows = []
        for side in column.sides:
            for cell in side:
                row = {}
                for leaf, share in shares_by_hand(column, cell, covering).items():
                    for name in names_of(column, leaf, hierarchical):
                        row[name] = row.get(name, 0.0) + share
                rows.append(row)
        every = sorted({name for row in rows for name in row})
        want = np.array([[row.get(name, 0.0) for name in every] for row in rows])
        varying = want.max(axis=0) - want.min(axis=0) > 1e-9
        result = np.concatenate(features_of(column, encoding))
        assert by_columns(want[:, varying]) == by_columns(result)


def by_columns(rows):
    return sorted(map(tuple, np.round(rows.T, 9) + 0.0))


def test_a_ragged_tree_counts_no_node_twice():
    tree = {"north": ["a", "b"], "c": None, "south": {"east": ["d", "e"], "f": None}}
    table = table_of(list("abcdef"), "category", hierarchy=Tree(tree=tree))
    rows = features_of(paired(table, ["a"]), Encoding(categories="hierarchical"))[0]
    # Six leaves, and north, south and east.
    assert (6, 9) == rows.shape
    assert 9 == len(set(by_columns(rows)))


def test_frequency_is_the_share_of_the_original():
    column = paired(
        table_of(list("aaab"), "category"), ["a", '{"a", "b"}'], table_of(["z"], "category")
    )
    table, sides = column_features(column, Encoding(categories="frequency"), (0,))
    raw = np.array([0.75, 0.75, 0.75, 0.25])
    want = (np.array([0.75, 0.75 * 0.75 + 0.25 * 0.25, 0.0]) - raw.mean()) / raw.std()
    np.testing.assert_allclose(table[[*sides[1], *sides[2]], 0], want)


def test_rare_values_share_one_indicator():
    column = paired(table_of(list("aaabbcde"), "category"), ["c", "a", '{"b", "c"}'])
    result = features_of(column, Encoding(most_values=2))[1]
    np.testing.assert_allclose(result, [[0, 0, 1], [1, 0, 0], [0, 2 / 3, 1 / 3]])


def test_scaled_categories_have_a_standard_deviation_of_one():
    table = table_of(list("aaabbc"), "category", hierarchy=Tree(tree=TREE))
    column = paired(table, ["north", "c"])
    result = np.concatenate(features_of(column, Encoding(scale_categories=True)))
    np.testing.assert_allclose(result.std(axis=0), np.ones(3))


def test_a_category_that_never_varies_has_no_feature():
    assert 0 == features_of(paired(table_of(["a", "a"], "category"), ["a", "*"]))[0].shape[1]
    varying = paired(table_of(["a", "a"], "category"), table_of(["b"], "category"))
    assert 2 == features_of(varying)[0].shape[1]


def test_a_star_is_the_mean_of_the_column():
    table = mixed_table(30, 4, seed=3, missing=True)
    for categories in ("one-hot", "frequency", "hierarchical"):
        for column in align_columns(table, [publish_suppressed(table)], table.schema.quasi):
            original, stars = features_of(column, Encoding(categories=categories))
            np.testing.assert_allclose(stars[0], original.mean(axis=0), atol=1e-9)
