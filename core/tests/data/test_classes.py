"""Classes as rows and offsets agree with classes as lists of lists."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonloom import Classes
from anonloom.data import Regions, row_keys

labels_strategy = st.lists(st.integers(-2, 5), max_size=25)


def lists(classes: Classes) -> list[list[int]]:
    return [classes.members(index).tolist() for index in range(len(classes))]


def grouped(labels: list[int]) -> list[list[int]]:
    return [
        [row for row, label in enumerate(labels) if label == item]
        for item in sorted({label for label in labels if label >= 0})
    ]


@given(labels_strategy)
def test_classes_from_labels_are_the_rows_of_each_label(labels: list[int]) -> None:
    classes = Classes.from_labels(np.array(labels, np.int64))
    expected = grouped(labels)
    assert expected == lists(classes)
    assert [row for row, label in enumerate(labels) if label < 0] == classes.suppressed.tolist()
    assert [len(rows) for rows in expected] == classes.sizes.tolist()
    assert (len(expected), len(labels)) == (len(classes), classes.total)
    assert classes.bounds[:-1].tolist() == classes.starts.tolist()
    assert classes.bounds[1:].tolist() == classes.stops.tolist()
    assert (np.int64, np.int64) == (classes.rows.dtype, classes.bounds.dtype)


@given(labels_strategy)
def test_labels_number_the_classes(labels: list[int]) -> None:
    classes = Classes.from_labels(np.array(labels, np.int64))
    expected = [-1] * len(labels)
    for index, rows in enumerate(grouped(labels)):
        for row in rows:
            expected[row] = index
    assert expected == classes.labels(len(labels)).tolist()
    of_position = [index for index, rows in enumerate(grouped(labels)) for _ in rows]
    assert of_position == classes.class_of_position().tolist()


@given(labels_strategy, st.randoms(use_true_random=False))
def test_labels_of_some_rows_in_any_order(labels: list[int], random: object) -> None:
    rows = list(range(100, 100 + len(labels)))
    random.shuffle(rows)  # type: ignore[attr-defined]
    given_rows, before = np.array(rows, np.int64), np.array([7, 3], np.int64)
    classes = Classes.from_labels(np.array(labels, np.int64), given_rows, before)
    of = dict(zip(rows, labels, strict=True))
    assert [
        sorted(row for row in rows if of[row] == item)
        for item in sorted({label for label in labels if label >= 0})
    ] == lists(classes)
    assert sorted([7, 3, *(row for row in rows if of[row] < 0)]) == classes.suppressed.tolist()


@given(
    st.lists(
        st.tuples(st.sampled_from([0, 1, 2**31, 2**62, 2**63 - 1]), st.integers(0, 2**33)),
        unique_by=lambda pair: pair[1],
        max_size=12,
    )
)
def test_labels_and_rows_may_be_larger_than_one_integer_holds(pairs: list[tuple[int, int]]) -> None:
    labels, rows = (np.array([pair[side] for pair in pairs], np.int64) for side in (0, 1))
    classes = Classes.from_labels(labels, rows)
    assert [
        sorted(row for label, row in pairs if label == item)
        for item in sorted({label for label, _ in pairs})
    ] == lists(classes)


@given(
    st.integers(1, 4).flatmap(
        lambda width: st.lists(st.tuples(*[st.integers(-1, 3)] * width), min_size=1, max_size=12)
    ),
    st.sampled_from([4, 2**30]),
)
def test_keys_order_rows_with_missing_cells_as_their_codes_do(
    rows: list[tuple[int, ...]], count: int
) -> None:
    """However many codes a column says to have: beyond 64 bits keys are ranked in between."""
    keys = row_keys(((column, count) for column in np.array(rows, np.int8).T), len(rows))
    for key, row in zip(keys, rows, strict=True):
        for other_key, other in zip(keys, rows, strict=True):
            assert ((row < other), (row == other)) == ((key < other_key), (key == other_key))


@given(labels_strategy, st.integers(0, 3), st.data())
def test_extents_are_the_least_and_greatest_codes(
    labels: list[int], axes: int, data: st.DataObject
) -> None:
    n = len(labels)
    codes = [data.draw(st.lists(st.integers(0, 9), min_size=n, max_size=n)) for _ in range(axes)]
    array = np.array(codes, np.int32).reshape(axes, n)
    lo, hi = Classes.from_labels(np.array(labels, np.int64)).extents(array)
    groups = grouped(labels)
    assert [[min(axis[row] for row in rows) for axis in codes] for rows in groups] == lo.tolist()
    assert [[max(axis[row] for row in rows) for axis in codes] for rows in groups] == hi.tolist()
    assert (len(groups), axes) == lo.shape == hi.shape


@given(labels_strategy, st.data())
def test_suppressed_classes_leave_the_others_as_they_were(
    labels: list[int], data: st.DataObject
) -> None:
    classes = Classes.from_labels(np.array(labels, np.int64))
    n = len(classes)
    marked = data.draw(st.lists(st.booleans(), min_size=n, max_size=n))
    numbers = np.arange(n, dtype=np.int32)[:, None]
    regions = Regions(numbers, numbers + 1, numbers + 2)
    classes = Classes(classes.rows, classes.bounds, classes.suppressed, regions, True)
    result = classes.suppress(np.array(marked, bool))
    groups = grouped(labels)
    kept = [index for index in range(n) if not marked[index]]
    assert [groups[index] for index in kept] == lists(result)
    gone = [row for index in range(n) if marked[index] for row in groups[index]]
    assert sorted([*classes.suppressed.tolist(), *gone]) == result.suppressed.tolist()
    assert result.regions is not None
    assert result.regions.level is not None
    assert kept == result.regions.lo[:, 0].tolist()
    assert [index + 2 for index in kept] == result.regions.level[:, 0].tolist()
    assert result.global_recoding


def test_the_whole_is_one_class_or_none() -> None:
    whole = Classes.whole(np.array([4, 2]), np.array([1]))
    assert ([[4, 2]], [1], 3) == (lists(whole), whole.suppressed.tolist(), whole.total)
    nothing = Classes.whole(np.empty(0, np.int64))
    assert (0, 0) == (len(nothing), nothing.total)
    assert [-1, -1] == nothing.labels(2).tolist()
    assert [] == nothing.suppress(np.empty(0, bool)).rows.tolist()


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ([], "bounds must run from 0 to the number of rows"),
        ([1, 3], "bounds must run from 0 to the number of rows"),
        ([0, 2], "bounds must run from 0 to the number of rows"),
        ([0], "bounds must run from 0 to the number of rows"),
        ([0, 0, 3], "a class must have at least one row"),
        ([0, 2, 1, 3], "a class must have at least one row"),
    ],
)
def test_offsets_that_are_none_are_refused(bounds: list[int], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        Classes(np.arange(3), np.array(bounds, np.int64))


def test_regions_belong_to_classes() -> None:
    one = np.zeros((1, 2), np.int32)
    with pytest.raises(ValueError, match=r"^regions must have one row per class$"):
        Classes(np.arange(3), np.array([0, 1, 3]), regions=Regions(one, one))
    assert None is Regions(one, one).take(np.array([0])).level


def test_only_one_class_or_classes_with_regions_divide_space() -> None:
    sizes, rows = [4, 3], np.arange(3)
    whole = Classes.whole(rows)
    assert whole.divide_space
    assert ([[0, 0]], [[3, 2]]) == (whole.space(sizes).lo.tolist(), whole.space(sizes).hi.tolist())
    several = Classes(rows, np.array([0, 1, 3]))
    assert not several.divide_space
    assert [[3, 2], [3, 2]] == several.space(sizes).hi.tolist()
    regions = Regions(np.zeros((2, 2), np.int32), np.ones((2, 2), np.int32))
    given = Classes(rows, np.array([0, 1, 3]), regions=regions)
    assert given.divide_space
    assert regions is given.space(sizes)
    assert Classes.whole(np.empty(0, np.int64)).space(sizes).lo.shape == (0, 2)
