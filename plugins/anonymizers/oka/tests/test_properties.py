"""What holds for every table: sizes, cells, workers, seeds, findings."""

import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from anonloom import Column, Findings, Guard, Schema, StageContext, Table
from anonloom_oka.oka import OnePassKMeans
from anonloom_testing.privacy_cases import AtLeast
from anonloom_testing.random_tables import mixed_table


def partition(table, k, context=None, **params):
    guard = Guard([AtLeast(k=k)])
    return OnePassKMeans(**params).partition(
        table, table.whole(), guard, context or StageContext(seed=1)
    )


def in_order(classes):
    return [classes.members(index).tolist() for index in range(len(classes))]


@given(
    rows=st.integers(1, 60),
    columns=st.sampled_from([1, 2, 3, 5, 30]),
    k=st.integers(1, 7),
    cell=st.sampled_from([2, 9, 20, 1000]),
    missing=st.booleans(),
    constant=st.booleans(),
    seed=st.integers(0, 9),
)
@example(rows=5, columns=3, k=6, cell=9, missing=True, constant=False, seed=0)
@example(rows=6, columns=3, k=6, cell=9, missing=True, constant=False, seed=0)
@example(rows=11, columns=3, k=6, cell=9, missing=True, constant=False, seed=0)
@example(rows=12, columns=30, k=6, cell=9, missing=True, constant=True, seed=0)
@settings(deadline=None, max_examples=120)
def test_every_class_has_k_to_2k_minus_1_rows(rows, columns, k, cell, missing, constant, seed):
    table = mixed_table(rows, columns, seed, missing, constant)

    result = partition(table, k, cell=cell)

    if rows < k:
        assert list(range(rows)) == result.suppressed.tolist()
    else:
        assert list(range(rows)) == sorted(result.rows.tolist())
        assert result.sizes.min() >= k
        assert result.sizes.max() <= 2 * k - 1


def test_the_number_of_workers_changes_nothing():
    table = mixed_table(20_000, 4, seed=5, missing=True)

    alone = partition(table, 5, StageContext(seed=2, workers=1), cell=500)
    together = partition(table, 5, StageContext(seed=2, workers=3), cell=500)

    assert in_order(alone) == in_order(together)


def test_another_seed_gives_other_clusters():
    table = mixed_table(300, 4, seed=5)

    one, other = (partition(table, 5, StageContext(seed=seed)) for seed in (1, 2))

    assert in_order(one) != in_order(other)


@pytest.mark.parametrize(("cell", "expected"), [(1000, 1), (300, 1), (299, 2), (50, 6)])
def test_says_how_many_cells_there_were_and_what_was_moved(cell, expected):
    context = StageContext()

    partition(mixed_table(300, 3, seed=1), 5, context, cell=cell)

    result = Findings.of(context.found)
    cells, moved, share = result
    assert (expected > 1) == bool(result.notices)
    assert ("cells", expected) == (cells.name, cells.value)
    assert ("moved", "moved_share") == (moved.name, share.name)
    assert 0 < moved.value < 300
    assert moved.value / 300 == share.value


def test_progress_rises_to_all_rows():
    reports = []
    context = StageContext(report=lambda done, total: reports.append((done, total)))

    partition(mixed_table(10_000, 3, seed=1), 5, context, cell=1000)

    assert (10_000, 10_000) == reports[-1]
    assert sorted(reports) == reports
    assert len(reports) > 1


def test_no_quasi_identifier_is_no_trouble():
    table = Table.build(
        pd.DataFrame({"illness": list("xyxyx")}), Schema([Column(name="illness", role="sensitive")])
    )

    result = partition(table, 2)

    assert [2, 3] == sorted(result.sizes.tolist())
