"""Associations of columns against slow and obvious references."""

import math
from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from anonloom import AuditInput, Column, Release, Schema, Table
from anonloom_distribution import association
from anonloom_distribution.association import Associations, Change, cramers_v
from anonloom_distribution.tables import Tables

SCHEMA = Schema(
    [
        Column(name="x", role="quasi", type="number"),
        Column(name="y", role="sensitive", type="number"),
        Column(name="a", role="quasi", publish="set"),
        Column(name="b", role="sensitive"),
    ]
)
rows_ = st.lists(
    st.tuples(
        st.one_of(st.none(), st.integers(0, 5)),
        st.integers(-3, 3),
        st.one_of(st.none(), st.sampled_from("abc")),
        st.sampled_from("uv"),
    ),
    min_size=4,
    max_size=30,
)


def matrix(table: Table, release: Release, side: int, correlation: Any = "pearson") -> Any:
    tables = Tables.of(AuditInput(release=release, original=table), scaled=True)
    result = Associations.of(tables, correlation)
    return result.matrix([column.sides[side] for column in tables.columns.values()])


def slow_correlation(x: list[float], y: list[float]) -> float:
    if len(set(x)) < 2 or len(set(y)) < 2:
        return 0.0
    return float(np.corrcoef(x, y)[0, 1])


def slow_ratio(x: list[float], groups: list[str]) -> float:
    mean = sum(x) / len(x) if x else 0.0
    whole = sum((value - mean) ** 2 for value in x)
    between = 0.0
    for name in set(groups):
        own = [value for value, group in zip(x, groups, strict=True) if group == name]
        between += len(own) * (sum(own) / len(own) - mean) ** 2
    return math.sqrt(between / whole) if len(set(x)) > 1 else 0.0


def slow_v(a: list[str], b: list[str]) -> float:
    n, r, c = len(a), len(set(a)), len(set(b))
    if min(r, c) < 2 or n < 2:
        return 0.0
    rows, columns, both = Counter(a), Counter(b), Counter(zip(a, b, strict=True))
    phi = 0.0
    for row in rows:
        for other in columns:
            expected = rows[row] * columns[other] / n
            phi += (both[row, other] - expected) ** 2 / expected / n
    phi = max(0.0, phi - (r - 1) * (c - 1) / (n - 1))
    size = min(r - (r - 1) ** 2 / (n - 1), c - (c - 1) ** 2 / (n - 1)) - 1
    return min(1.0, math.sqrt(phi / size)) if size > 0 else 0.0


@given(rows_)
def test_every_association_agrees_with_loops_over_the_rows_that_tell_both(
    rows: list[tuple[int | None, int, str | None, str]],
) -> None:
    table = Table.build(pd.DataFrame(rows, columns=SCHEMA.names), SCHEMA)
    result = matrix(table, Release.as_it_is(table), 1)

    def pairs(i: int, j: int) -> tuple[list[Any], list[Any]]:
        both = [(row[i], row[j]) for row in rows if row[i] is not None and row[j] is not None]
        return [item for item, _ in both], [other for _, other in both]

    assert slow_correlation(*pairs(0, 1)) == pytest.approx(result[0, 1], abs=1e-9)
    assert slow_v(*pairs(2, 3)) == pytest.approx(result[2, 3], abs=1e-7)
    for number in (0, 1):
        for category in (2, 3):
            expected = slow_ratio(*pairs(number, category))
            assert expected == pytest.approx(result[number, category], abs=1e-7)
    assert (result == result.T).all()
    assert [1.0] * 4 == np.diag(result).tolist()


def test_spearmans_is_that_of_ranks_with_ties() -> None:
    rng = np.random.default_rng(1)
    x = rng.integers(0, 9, 200)
    y = np.exp(x) + rng.integers(0, 5, 200) * 100
    frame = pd.DataFrame({"x": x, "y": y, "a": "a", "b": "u"})
    table = Table.build(frame, SCHEMA)
    result = matrix(table, Release.as_it_is(table), 1, "spearman")
    assert stats.spearmanr(x, y).statistic == pytest.approx(result[0, 1])


def test_generalized_cells_count_as_their_middles_and_as_parts_of_their_values() -> None:
    frame = pd.DataFrame(
        {"x": [0, 2, 4, 8], "y": [1, 2, 3, 5], "a": list("abcc"), "b": list("uvuv")}
    )
    table = Table.build(frame, SCHEMA)
    cells = {
        "x": pd.Categorical(["[0, 2]", "[0, 2]", "[4, 8]", "*"]),
        "y": frame["y"],
        "a": pd.Categorical(['{"a", "b"}', '{"a", "b"}', "c", "*"]),
        "b": frame["b"],
    }
    release = Release(schema=SCHEMA, frame=pd.DataFrame(cells))
    result = matrix(table, release, 1)
    assert np.corrcoef([1, 1, 6], [1, 2, 3])[0, 1] == pytest.approx(result[0, 1])
    # Half a row of a and of b with each of the first two rows.
    counts = np.array([[0.5, 0.5], [0.5, 0.5], [1.0, 0.0]])
    assert cramers_v(counts) == pytest.approx(result[2, 3])
    means = [1.5, 1.5, 3.0]
    between = sum(n * (m - 2) ** 2 for n, m in zip([1, 1, 1], means, strict=True))
    assert math.sqrt(between / 2) == pytest.approx(result[2, 1])


def test_bias_correction_keeps_independent_categories_apart() -> None:
    rng = np.random.default_rng(2)
    a, b = rng.integers(0, 20, 300), rng.integers(0, 20, 300)
    counts = np.zeros((20, 20))
    np.add.at(counts, (a, b), 1)
    assert cramers_v(counts) < 0.1 < math.sqrt(stats.chi2_contingency(counts)[0] / 300 / 19)
    assert 1.0 == pytest.approx(cramers_v(np.diag([5.0, 7.0, 9.0])))


def test_rare_values_are_one_and_large_tables_of_cells_give_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(3)
    a = [f"v{item}" for item in rng.geometric(0.1, 500)]
    frame = pd.DataFrame({"x": 1, "y": 1, "a": a, "b": np.where(rng.random(500) < 0.5, "u", "v")})
    table = Table.build(frame, SCHEMA)
    monkeypatch.setattr(association, "MOST_VALUES", 3)
    dense = matrix(table, Release.as_it_is(table), 0)
    common = frame["a"].value_counts().index[:3]
    merged = [item if item in common else "other" for item in a]
    assert slow_v(merged, list(frame["b"])) == pytest.approx(dense[2, 3])
    monkeypatch.setattr(association, "MOST_CELLS", 1)
    assert pytest.approx(dense) == matrix(table, Release.as_it_is(table), 0)


def test_large_numbers_with_small_differences_keep_their_correlation() -> None:
    x = np.arange(100) + 1e9
    frame = pd.DataFrame({"x": x, "y": -x * 1e-12, "a": "a", "b": "u"})
    table = Table.build(frame, SCHEMA)
    assert -1.0 == pytest.approx(matrix(table, Release.as_it_is(table), 0)[0, 1], abs=1e-6)


def test_the_change_is_over_pairs_and_names_the_largest() -> None:
    before = np.array([[1, 0.5, 0.1], [0.5, 1, 0.0], [0.1, 0.0, 1]])
    after = np.array([[1, 0.2, 0.1], [0.2, 1, -0.9], [0.1, -0.9, 1]])
    change = Change.between(before, after)
    assert ((0.3 + 0.0 + 0.9) / 3, 0.9, (1, 2)) == (
        pytest.approx(change.mean),
        pytest.approx(change.most),
        change.pair,
    )
