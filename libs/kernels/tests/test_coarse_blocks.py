"""Coarse cells: every class is cut into blocks of its level-key order of nearly equal size."""

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom import Classes, Column, Schema, StageContext, Table
from anonloom.findings import Notice
from anonloom_kernels.coarse_blocks import cells_of, each_cell
from anonloom_kernels.level_order_key import level_order


def number_table(rows):
    frame = pd.DataFrame({"a": np.arange(rows) * 7 % 11, "b": np.arange(rows) * 5 % 3})
    return Table.build(
        frame, Schema([Column(name=name, role="quasi", type="number") for name in frame])
    )


def classes_of(sizes):
    rows = np.random.default_rng(1).permutation(sum(sizes)).astype(np.int64)
    return Classes(rows, np.append(0, np.cumsum(sizes)).astype(np.int64), np.array([10**6]))


@given(
    sizes=st.lists(st.integers(1, 60), min_size=1, max_size=6),
    limit=st.integers(1, 70),
    least=st.integers(1, 25),
)
@settings(deadline=None, max_examples=100)
def test_cells_refine_classes_within_the_limits(sizes, limit, least):
    classes = classes_of(sizes)

    cells = cells_of(number_table(sum(sizes)), classes, limit, least, StageContext())

    assert classes.suppressed.tolist() == cells.suppressed.tolist()
    assert set(classes.bounds.tolist()) <= set(cells.bounds.tolist())
    owner = np.searchsorted(classes.bounds, cells.starts, side="right") - 1
    for index, size in enumerate(sizes):
        assert set(classes.members(index).tolist()) == {
            row for cell in np.flatnonzero(owner == index) for row in cells.members(cell).tolist()
        }
        own = cells.sizes[owner == index]
        assert own.max() - own.min() <= 1
        assert own.min() >= min(least, size)
        # One cell fewer would break the limit; one more, the least size.
        wanted = -(-size // limit)
        assert min(wanted, max(1, size // least)) == len(own)


def test_a_class_that_is_cut_is_ordered_for_itself_and_another_is_left_alone():
    classes, table = classes_of([40, 9]), number_table(49)

    context = StageContext()
    cells = cells_of(table, classes, limit=10, least=2, context=context)

    text = (
        "More than 10 rows are not clustered at once ('cell'): they were cut into 4 blocks first, "
        "and clusters across blocks, which might lose less, were not tried."
    )
    assert [Notice(text)] == context.found
    first = classes.members(0)
    assert first[level_order(table, first)].tolist() == cells.rows[:40].tolist()
    assert classes.members(1).tolist() == cells.rows[40:].tolist()


def test_classes_within_the_limit_are_the_cells():
    classes = classes_of([5, 5])

    context = StageContext()
    assert classes is cells_of(number_table(10), classes, limit=5, least=2, context=context)
    assert [] == context.found


@given(sizes=st.lists(st.integers(1, 9000), min_size=1, max_size=8), workers=st.integers(1, 3))
@settings(deadline=None, max_examples=30)
def test_every_cell_is_done_once_and_in_order(sizes, workers):
    cells = classes_of(sizes)
    reports = []
    context = StageContext(
        workers=workers, report=lambda done, total: reports.append((done, total))
    )

    def work(start, stop):
        return np.arange(cells.bounds[start], cells.bounds[stop])

    result = each_cell(work, cells, context)

    assert list(range(sum(sizes))) == result.tolist()
    assert (sum(sizes), sum(sizes)) == reports[-1]
    assert sorted(reports) == reports


def test_many_small_cells_share_a_batch():
    calls = []

    def work(start, stop):
        calls.append((start, stop))
        return np.zeros((2, 10 * (stop - start)), np.int64)

    result = each_cell(work, classes_of([10] * 1000), StageContext())

    assert (2, 10_000) == result.shape
    assert [(0, 410), (410, 820), (820, 1000)] == calls
