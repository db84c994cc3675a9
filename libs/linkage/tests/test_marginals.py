"""Parts of cells in bins, and distances of distributions, against slow and obvious references."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon

from anonloom import Column, Release, Schema, Table
from anonloom_linkage.aligned_columns import align_columns
from anonloom_linkage.marginals import (
    distribution,
    divergence,
    leaf_parts,
    place_parts,
    quantile_edges,
)


def paired(values, cells, **options):
    column = Column(name="x", role="quasi", **options)
    schema = Schema([column])
    table = Table.build(pd.DataFrame({"x": values}), schema)
    release = Release(schema=schema, frame=pd.DataFrame({"x": pd.Categorical(cells)}))
    return align_columns(table, [release], ["x"])[0]


def of_release(column, parts):
    return parts.toarray()[column.sides[1]].round(12).tolist()


histograms = st.integers(1, 8).flatmap(
    lambda n: st.tuples(
        *[st.lists(st.integers(0, 50), min_size=n, max_size=n).filter(any) for _ in range(2)]
    )
)


@given(histograms)
def test_divergence_is_symmetric_bounded_and_nothing_only_for_equal_histograms(both):
    p, q = (np.array(counts) / sum(counts) for counts in both)
    result = divergence(p, q)
    assert result == divergence(q, p)
    assert 0.0 <= result <= 1.0
    assert (result == 0.0) == (np.abs(p - q).max() < 1e-15)
    assert math.sqrt(result) == pytest.approx(jensenshannon(p, q, base=2), abs=1e-7)


def test_distributions_that_share_nothing_are_one_bit_apart():
    assert 1.0 == divergence(np.array([1.0, 0.0]), np.array([0.0, 1.0]))
    assert 0.0 == divergence(np.array([0.1, 0.9]), np.array([0.1, 0.9]))


@given(
    st.lists(st.integers(-5, 5), min_size=1, max_size=40),
    st.integers(1, 6),
)
def test_edges_are_the_lower_quantiles(values, bins):
    column = paired(values, ["1"], type="number")
    expected = np.unique(np.quantile(values, np.arange(bins + 1) / bins, method="lower"))[1:]
    assert expected.tolist() == quantile_edges(column, column.counts(0), bins).tolist()


def test_an_interval_counts_for_the_bins_that_it_covers_by_their_widths():
    column = paired(
        [0, 10, 20, 30, None], ["5", "[0, 20]", "[5, 25]", "*", None, "[10, 20]"], type="number"
    )
    edges = np.array([10.0, 20.0])
    assert [
        [1, 0, 0, 0],
        [0.5, 0.5, 0, 0],
        [0.25, 0.5, 0.25, 0],
        pytest.approx([1 / 3, 1 / 3, 1 / 3, 0]),
        [0, 0, 0, 1],
        [0, 1, 0, 0],
    ] == of_release(column, place_parts(column, edges, "spread"))
    assert [
        [1, 0, 0, 0],
        [0, 1, 0, 0],
        [0, 1, 0, 0],
        [0, 0, 0, 0],
        [0, 0, 0, 1],
        [0, 1, 0, 0],
    ] == of_release(column, place_parts(column, edges, "midpoint"))


def test_a_node_counts_for_its_values_in_equal_parts_and_star_only_where_it_is_spread():
    column = paired(["a", "b", "c", None], ["b", '{"a", "c"}', "*", None], publish="set")
    spread = of_release(column, leaf_parts(column, "spread"))
    third = pytest.approx([1 / 3, 1 / 3, 1 / 3, 0])
    assert [[0, 1, 0, 0], [0.5, 0, 0.5, 0], third, [0, 0, 0, 1]] == spread
    middle = of_release(column, leaf_parts(column, "midpoint"))
    assert [[0, 1, 0, 0], [0.5, 0, 0.5, 0], [0, 0, 0, 0], [0, 0, 0, 1]] == middle


@pytest.mark.parametrize("reading", ["midpoint", "spread"])
def test_what_cannot_be_read_falls_in_no_bin(reading):
    column = paired([0, 10], ["0", "what", "*", "10"], type="number")
    parts = place_parts(column, np.array([5.0]), reading)
    result = distribution(column, parts, column.counts(1), column.unread[1])
    outside, text = (0.5, 0.25) if reading == "midpoint" else (0.25, 0.375)
    assert [text, text, 0.0, outside] == result.tolist()
    assert [0.5, 0.5, 0.0, 0.0] == distribution(column, parts, column.counts(0)).tolist()
