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
from anonloom_kernels import losses as losses_module
from anonloom_kernels.comparison import assert_same
from anonloom_kernels.compiled import is_compiled
from anonloom_kernels.losses import losses_of
from anonloom_regroup.dissolution import dissolve_all
from anonloom_regroup.exchange import RECORD, sweep, take_back
from anonloom_regroup.groups import groups_of, link_rows, weigh_all

pytestmark = pytest.mark.skipif(
    not is_compiled("anonloom_regroup"),
    reason="the C was not built: there is nothing to compare with",
)

TOWNS = {"north": {"coast": ["a", "b"], "hills": ["c"]}, "south": ["d", "e"], "f": None}
COLUMNS = (
    Column(name="age", role="quasi", type="number"),
    Column(name="town", role="quasi", hierarchy=Tree(tree=TOWNS), weight=2),
    Column(name="job", role="quasi", publish="set"),
    Column(name="shoe", role="quasi", type="number", publish="set"),
)

cells = st.tuples(
    st.sampled_from([None, 0.0, 1.0, 2.5, 3.0, 1e9]),
    st.sampled_from([None, *"abcdef"]),
    st.sampled_from([None, *"vwxyz"]),
    st.sampled_from([None, 36.0, 40.0, 41.0]),
)


def table_of(rows, columns):
    frame = pd.DataFrame(rows, columns=[column.name for column in COLUMNS])
    return Table.build(frame[[column.name for column in columns]], Schema(columns))


def losses_with(table, dense):
    """Losses in which axes with more codes than `dense` have no table of pairs."""
    with patch.object(losses_module, "DENSE_CODES", dense):
        return losses_of(table)


@st.composite
def blocks(draw, strange=False):
    """Losses and classes; `strange` losses are endless or no numbers."""
    rows = draw(st.lists(cells, min_size=1, max_size=24))
    chosen = draw(st.sets(st.integers(0, 3), min_size=1))
    columns = [COLUMNS[index] for index in sorted(chosen)]
    table = table_of(rows, columns)
    losses = losses_with(table, draw(st.sampled_from([0, 256])))
    if strange:
        # Not both: where two NaN of different signs meet, C does not say which of them it takes.
        odd = draw(st.sampled_from([np.inf, np.nan]))
        numbers = st.sampled_from([0.0, -0.0, 0.25, 1.0, odd])
        values = draw(arrays(float, len(losses.values), elements=numbers))
        losses = losses._replace(values=values)
    owner = draw(arrays(np.int64, len(rows), elements=st.integers(0, min(len(rows), 6) - 1)))
    # Every number up to the largest occurs.
    _, owner = np.unique(owner, return_inverse=True)
    return losses, groups_of(losses, table.codes, owner.astype(np.int64))


def compare_turns(losses, groups, allowed, most, barred, data):
    """Sweep, take back and dissolve, each turn with what the last one left."""
    classes = len(groups.size)
    for turn in (1, 2, 3):
        once = data.draw(st.booleans())
        record = np.full((classes, RECORD), 7, np.int64)
        changes, _ = assert_same(sweep, losses, groups, allowed, most, turn, once, barred, record)
        if once:
            refused = data.draw(arrays(bool, classes))
            assert_same(take_back, losses, groups, record[:changes], refused, barred)
        else:
            assert_same(dissolve_all, losses, groups, allowed, most, turn)


@given(owner=st.lists(st.integers(0, 4), max_size=20))
@settings(deadline=None)
def test_rows_are_chained_alike(owner):
    room = (np.full(len(owner), 7, np.int64) for _ in range(2))
    head, size = np.full(5, -1, np.int64), np.zeros(5, np.int64)
    assert_same(link_rows, np.array(owner, np.int64), head, *room, size)


@given(block=blocks())
@settings(deadline=None)
def test_classes_are_weighed_alike(block):
    assert_same(weigh_all, *block)


@given(block=blocks(), least=st.integers(0, 5), most=st.integers(0, 30), data=st.data())
@settings(deadline=None)
def test_rows_move_alike(block, least, most, data):
    """Also where classes already are smaller or larger than they may be."""
    losses, groups = block
    rows = len(groups.owner)
    allowed = np.arange(rows + 2) >= least
    compare_turns(losses, groups, allowed, most, data.draw(arrays(bool, rows)), data)


@given(block=blocks(strange=True), data=st.data())
@settings(deadline=None)
def test_rows_move_alike_whatever_classes_lose_and_whichever_sizes_are_allowed(block, data):
    losses, groups = block
    rows = len(groups.owner)
    allowed = data.draw(arrays(bool, rows + 2))
    compare_turns(losses, groups, allowed, rows, np.zeros(rows, bool), data)


@pytest.mark.parametrize("once", [False, True])
@pytest.mark.parametrize("dense", [0, 256])
def test_a_block_of_many_rows_is_swept_alike(dense, once):
    rng = np.random.default_rng(1)
    rows = [
        (rng.choice([None, 1.0, 2.0, 5.0, 8.0]), rng.choice(list("abcdef")),
         rng.choice(list("vwxyz")), rng.choice([None, 36.0, 40.0]))
        for _ in range(150)
    ]  # fmt: skip
    table = table_of(rows, COLUMNS)
    losses = losses_with(table, dense)
    groups = groups_of(losses, table.codes, rng.permutation(np.arange(150) // 5))
    allowed, barred = np.arange(152) >= 5, np.zeros(150, bool)
    before = groups.owner.copy()
    for turn in (1, 2):
        record = np.full((30, RECORD), 7, np.int64)
        changes, gained = assert_same(
            sweep, losses, groups, allowed, 20, turn, once, barred, record
        )
        assert (changes > 0) == (gained > 0)
        if once:
            refused = rng.random(30) < 0.5
            assert_same(take_back, losses, groups, record[:changes], refused, barred)
        else:
            assert_same(dissolve_all, losses, groups, allowed, 20, turn)
    assert (groups.owner != before).any()
