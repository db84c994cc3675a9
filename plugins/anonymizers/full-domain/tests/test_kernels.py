"""The C of every kernel leaves the same bits everywhere as its Python text."""

from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from anonloom import Column, Schema, Table
from anonloom.hierarchies import Tree
from anonloom_full_domain.box_kernel import NodeRecoding, group_points, slots_for
from anonloom_full_domain.refused_rows import choose_classes
from anonloom_kernels import losses as losses_module
from anonloom_kernels.comparison import assert_same
from anonloom_kernels.compiled import is_compiled
from anonloom_kernels.losses import losses_of

needs_c = pytest.mark.skipif(
    not is_compiled("anonloom_full_domain"),
    reason="the C was not built: there is nothing to compare with",
)

TOWNS = {"north": {"coast": ["a", "b"], "hills": ["c"]}, "south": ["d", "e"], "f": None}


# --- points in boxes -----------------------------------------------------------------------------


@st.composite
def groupings(draw):
    """Points and a node; factors are few, so that different boxes have equal numbers."""
    axes, points = draw(st.integers(1, 4)), draw(st.integers(1, 12))
    sizes = np.array(draw(st.lists(st.integers(1, 5), min_size=axes, max_size=axes)))
    codes = np.stack(
        [draw(arrays(np.int32, points, elements=st.integers(0, int(size) - 1))) for size in sizes],
        axis=1,
    )
    starts = np.cumsum(np.append(0, sizes))
    cells = draw(arrays(np.int32, int(starts[-1]), elements=st.sampled_from([-1, 0, 1, 2**31 - 1])))
    # Not both: where two NaN of different signs meet, C does not say which of them it takes.
    odd = st.sampled_from([np.inf, -np.inf]) if draw(st.booleans()) else st.just(np.nan)
    loss = draw(arrays(float, int(starts[-1]), elements=st.floats(-1e9, 1e9) | odd))
    factors = st.sampled_from([0, 1, 3, 2**63, 2**64 - 1, 0xD1B54A32D192ED03])
    node = NodeRecoding(
        cells,
        loss,
        starts[:-1].astype(np.int64),
        draw(arrays(np.uint64, axes, elements=factors)),
        draw(st.booleans()),
    )
    asked = draw(arrays(np.int64, draw(st.integers(0, 20)), elements=st.integers(0, points - 1)))
    weights = draw(arrays(np.int64, len(asked), elements=st.integers(1, 2**61)))
    return np.ascontiguousarray(codes), asked, weights, node


def room(count, slots=None):
    """Room for the table and the results, full of what must not matter."""
    return (
        np.full(slots or slots_for(count), 7, np.int32),
        np.full(count, 7, np.uint64),
        *(np.full(count, 7, np.int64) for _ in range(3)),
        np.full(count, np.nan),
    )


@needs_c
@given(grouping=groupings())
@settings(deadline=None)
def test_boxes_are_the_same(grouping):
    assert_same(group_points, *grouping, *room(len(grouping[1])))


@needs_c
@pytest.mark.parametrize("exact", [True, False])
def test_boxes_with_equal_numbers_are_told_apart_where_numbers_are_not_exact(exact):
    """All five points have number 0; a table of 16 wraps around at its end."""
    codes = np.arange(5, dtype=np.int32)[:, None]
    node = NodeRecoding(
        codes.ravel(), np.zeros(5), np.zeros(1, np.int64), np.zeros(1, np.uint64), exact
    )

    results = room(5)
    boxes = assert_same(group_points, codes, np.arange(5), np.ones(5, np.int64), node, *results)

    assert (1 if exact else 5) == boxes
    assert ([0] * 5 if exact else [0, 1, 2, 3, 4]) == results[2].tolist()


@needs_c
def test_a_full_table_is_searched_around_its_end():
    """Numbers whose products fall into the last slots, in a table without an empty one to spare."""
    codes = np.arange(16, dtype=np.int32)[:, None]
    last = pow(0x9E3779B97F4A7C15, -1, 2**64) * (2**64 - 1) % 2**64
    node = NodeRecoding(
        np.ones(16, np.int32), np.zeros(16), np.zeros(1, np.int64),
        np.array([last], np.uint64), False,
    )  # fmt: skip
    assert 1 == assert_same(
        group_points, codes, np.arange(16), np.ones(16, np.int64), node, *room(16, 16)
    )
    node = node._replace(cells=codes.ravel() + np.int32(1))
    assert 16 == assert_same(
        group_points, codes, np.arange(16), np.ones(16, np.int64), node, *room(16, 16)
    )


@given(points=st.integers(0, 10**6))
def test_a_table_has_twice_as_many_slots_as_points(points):
    slots = slots_for(points)
    assert slots >= max(16, 2 * points)
    assert slots == 16 or slots < 4 * points
    assert slots & (slots - 1) == 0


# --- the rows that no box admits -----------------------------------------------------------------


def table_of(rows):
    """Numbers, a tree, and both published as sets."""
    frame = pd.DataFrame(rows, columns=["age", "town", "job", "shoe"])
    columns = [
        Column(name="age", role="quasi", type="number"),
        Column(name="town", role="quasi", hierarchy=Tree(tree=TOWNS), weight=2),
        Column(name="job", role="quasi", publish="set"),
        Column(name="shoe", role="quasi", type="number", publish="set"),
    ]
    return Table.build(frame, Schema(columns))


cells = st.tuples(
    st.sampled_from([None, 0.0, 1.0, 2.5, 1e9]),
    st.sampled_from([None, *"abcdef"]),
    st.sampled_from([None, *"vwxyz"]),
    st.sampled_from([None, 36.0, 40.0, 41.0]),
)


@needs_c
@given(
    rows=st.lists(cells, min_size=1, max_size=20),
    dense=st.sampled_from([0, 256]),
    data=st.data(),
)
@settings(deadline=None)
def test_the_rest_goes_to_the_same_classes(rows, dense, data):
    table = table_of(rows)
    with patch.object(losses_module, "DENSE_CODES", dense):
        losses = losses_of(table)
    codes, count = table.codes, len(rows)
    # A column with nothing but a single value is no axis of the lattice.
    places = np.flatnonzero([axis.size > 1 for axis in table.axes])
    classes = data.draw(st.integers(1, 5))
    parents = data.draw(arrays(np.int32, count, elements=st.integers(0, 1)))
    one, other = (
        data.draw(arrays(np.int64, classes, elements=st.integers(0, count - 1))) for _ in range(2)
    )
    lo, hi = (end(codes[:, one], codes[:, other])[places].T for end in (np.minimum, np.maximum))
    asked = data.draw(
        arrays(np.int64, data.draw(st.integers(0, 9)), elements=st.integers(0, count - 1))
    )
    sizes = st.integers(0, 2**40)

    assert_same(
        choose_classes,
        np.ascontiguousarray(np.concatenate([parents[None], codes[places]]).T),
        asked,
        data.draw(arrays(np.int64, len(asked), elements=sizes)),
        parents[one],
        places,
        np.ascontiguousarray(lo),
        np.ascontiguousarray(hi),
        data.draw(arrays(np.int64, classes, elements=sizes)),
        losses,
        np.full(len(asked), -1, np.int64),
    )
