"""What holds for every table: the loss never rises, sizes, guards, workers."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from anonloom import Classes, Guard, StageContext
from anonloom.data import Regions
from anonloom_loss import gcp
from anonloom_regroup.method import Regroup
from anonloom_testing import tables
from anonloom_testing.privacy_cases import DEMANDS, AtLeast
from anonloom_testing.random_tables import mixed_table


def in_turn(rows, k, suppressed=0):
    """Return classes of k rows and more, as bad as it gets: every row beside a stranger."""
    kept = rows - suppressed
    labels = np.arange(kept) % max(1, kept // k)
    return Classes.from_labels(labels, suppressed=np.arange(kept, rows))


@given(
    rows=st.integers(1, 70),
    columns=st.sampled_from([1, 2, 3, 5, 30]),
    k=st.integers(1, 7),
    block=st.sampled_from([2, 15, 1000]),
    missing=st.booleans(),
    constant=st.booleans(),
    seed=st.integers(0, 9),
)
@example(rows=6, columns=3, k=6, block=15, missing=True, constant=False, seed=0)
@example(rows=11, columns=3, k=6, block=15, missing=True, constant=False, seed=0)
@example(rows=12, columns=30, k=6, block=15, missing=True, constant=True, seed=0)
@settings(deadline=None, max_examples=80)
def test_the_loss_never_rises_and_classes_have_k_to_2k_minus_1_rows(
    rows, columns, k, block, missing, constant, seed
):
    table = mixed_table(rows, columns, seed, missing, constant)
    given_classes = in_turn(rows, k, suppressed=rows // 10)
    context = StageContext(seed=1)

    result = Regroup(block=block).handle(table, given_classes, Guard([AtLeast(k=k)]), context)

    before, after = gcp(table, given_classes), gcp(table, result)
    assert after <= before + 1e-9
    assert given_classes.suppressed.tolist() == result.suppressed.tolist()
    assert sorted(given_classes.rows.tolist()) == sorted(result.rows.tolist())
    if given_classes.sizes.min() >= k:
        assert result.sizes.min() >= k
        assert result.sizes.max() <= 2 * k - 1
    saved = {finding.name: finding.value for finding in context.found}
    assert before - after == pytest.approx(saved["loss_saved"], abs=1e-9)


@pytest.mark.parametrize("demand", DEMANDS, ids=lambda demand: demand.words)
def test_every_class_stays_admitted(demand):
    sample = tables.clinic(120)
    table, guard = sample.table(), demand.guard()
    labels = np.arange(len(table)) % max(1, len(table) // (3 * guard.min_size))
    given_classes = Classes.from_labels(labels)
    admitted = guard.admits_classes(table, given_classes)
    given_classes = given_classes.suppress(~admitted)

    result = Regroup(rounds=4, tolerance=0.0).handle(table, given_classes, guard, StageContext())

    for index in range(len(result)):
        assert demand.holds([sample.rows[row] for row in result.members(index)], sample)
    if len(given_classes) > 1:
        assert gcp(table, result) < gcp(table, given_classes)


def test_any_number_of_workers_finds_the_same():
    table = mixed_table(600, 4, seed=3)
    given_classes, guard = in_turn(600, 5), Guard([AtLeast(k=5)])
    method = Regroup(block=60)

    one = method.handle(table, given_classes, guard, StageContext(workers=1))
    many = method.handle(table, given_classes, guard, StageContext(workers=3))

    assert one.rows.tolist() == many.rows.tolist()
    assert one.bounds.tolist() == many.bounds.tolist()


def test_regions_end_where_classes_change():
    table = mixed_table(40, 2, seed=1)
    labels = in_turn(40, 4)
    lo = np.zeros((len(labels), 2), np.int32)
    regions = Regions(lo, lo + 4)
    given_classes = Classes(labels.rows, labels.bounds, labels.suppressed, regions, True)

    result = Regroup().handle(table, given_classes, Guard([AtLeast(k=4)]), StageContext())

    assert result.regions is None
    assert not result.global_recoding


def test_nothing_to_regroup_is_returned_as_it_came():
    table = mixed_table(5, 2, seed=1)
    nothing = Classes.whole(np.empty(0, np.int64), suppressed=np.arange(5))

    assert nothing is Regroup().handle(table, nothing, Guard([AtLeast(k=2)]), StageContext())
