"""The guard is all models at once, whatever ranges are asked for and whatever a sampler keeps."""

from typing import ClassVar

import attrs
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonloom import Classes, Column, Guard, PrivacyModel, Schema, Table


@attrs.frozen
class Sizes(PrivacyModel):
    """At least k persons; slow on purpose."""

    monotone: ClassVar[bool] = True
    k: int
    on: tuple[tuple[str, ...], ...] | None = None
    fast: bool = True

    def admits(self, table, rows, starts, stops):
        persons = np.arange(len(table)) if table.persons is None else table.persons
        results = [
            len({int(persons[row]) for row in rows[start:stop]}) >= self.k
            for start, stop in zip(starts, stops, strict=True)
        ]
        return np.array(results, bool)

    def would_pass(self, table, rows, starts, stops):
        return ""

    @property
    def min_size(self):
        return self.k

    @property
    def size_only(self):
        return self.fast

    def combinations(self, schema):
        return (schema.quasi,) if self.on is None else self.on


@attrs.frozen
class NoSecretTwice(PrivacyModel):
    """All sensitive values of a range differ: not monotone, and sees a hidden column."""

    monotone: ClassVar[bool] = False

    def admits(self, table, rows, starts, stops):
        values = table.encode_column("illness").codes
        # The guard asks only for what is still standing.
        assert len(starts)
        results = [
            len(set(values[rows[a:b]].tolist())) == b - a
            for a, b in zip(starts, stops, strict=True)
        ]
        return np.array(results, bool)

    def would_pass(self, table, rows, starts, stops):
        return ""


def table(n: int, persons: list[int] | None = None) -> Table:
    frame = pd.DataFrame(
        {"age": range(n), "zip": range(n), "illness": [index % 3 for index in range(n)]}
    )
    columns = [
        Column(name="age", role="quasi", type="number"),
        Column(name="zip", role="quasi"),
        Column(name="illness", role="sensitive"),
    ]
    if persons is not None:
        frame["who"] = persons
        columns.append(Column(name="who", role="person"))
    return Table.build(frame, Schema(columns))


@st.composite
def questions(draw: st.DrawFn) -> tuple[int, np.ndarray, np.ndarray, np.ndarray]:
    """Ranges of a row order that may overlap and may be empty."""
    n = draw(st.integers(1, 12))
    rows = np.array(draw(st.permutations(range(n))))
    ranges = draw(
        st.lists(st.tuples(st.integers(0, n), st.integers(0, n)).map(sorted), max_size=10)
    )
    starts = np.array([start for start, _ in ranges], np.int64)
    return n, rows, starts, np.array([stop for _, stop in ranges], np.int64)


@given(questions(), st.integers(1, 5), st.integers(1, 5))
def test_a_range_is_admitted_when_every_model_admits_it(question, k: int, other: int) -> None:
    n, rows, starts, stops = question
    models = (Sizes(k), NoSecretTwice(), Sizes(other, fast=False))
    expected = [
        b - a >= max(k, other) and len({int(row) % 3 for row in rows[a:b]}) == b - a
        for a, b in zip(starts.tolist(), stops.tolist(), strict=True)
    ]
    seen = table(n).restricted_to(frozenset({"quasi"}))
    assert expected == Guard(models).admits(seen, rows, starts, stops).tolist()


@given(questions(), st.integers(1, 5))
def test_sizes_alone_give_the_verdict_that_the_model_gives(question, k: int) -> None:
    n, rows, starts, stops = question
    fast, slow = Guard((Sizes(k),)), Guard((Sizes(k, fast=False),))
    assert fast.size_only
    assert not slow.size_only
    results = [guard.admits(table(n), rows, starts, stops).tolist() for guard in (fast, slow)]
    assert results[0] == results[1]


@given(questions(), st.integers(1, 4), st.data())
def test_persons_are_counted_and_not_rows(question, k: int, data: st.DataObject) -> None:
    n, rows, starts, stops = question
    persons = data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    expected = [
        len({persons[row] for row in rows[a:b]}) >= k
        for a, b in zip(starts.tolist(), stops.tolist(), strict=True)
    ]
    result = Guard((Sizes(k),)).admits(table(n, persons), rows, starts, stops)
    assert expected == result.tolist()


def test_persons_are_counted_also_for_a_method_that_does_not_see_them() -> None:
    seen = table(3, [0, 0, 0]).restricted_to(frozenset())
    assert [False] == Guard((Sizes(2),)).admits(seen, np.arange(3), [0], [3]).tolist()


def test_ranges_may_be_lists_and_nothing_is_asked_of_no_ranges() -> None:
    guard = Guard((Sizes(2), NoSecretTwice()))
    assert [True, False] == guard.admits(table(4), np.arange(4), [0, 0], [2, 4]).tolist()
    assert [] == guard.admits(table(4), np.arange(4), [], []).tolist()


def test_without_models_every_class_that_has_a_row_is_admitted() -> None:
    guard = Guard()
    assert (1, 1) == (guard.demanded, guard.min_size)
    assert guard.size_only
    assert guard.monotone
    assert [True, False] == guard.admits(table(2), np.arange(2), [0, 1], [1, 1]).tolist()
    assert () == guard.columns(table(2).schema)


def test_classes_are_ranges() -> None:
    classes = Classes.from_labels(np.array([0, 0, 1, -1]))
    assert [True, False] == Guard((Sizes(2),)).admits_classes(table(4), classes).tolist()


def test_the_strictest_model_decides_what_is_demanded() -> None:
    guard = Guard([Sizes(3), Sizes(7), NoSecretTwice()])
    assert (7, 7) == (guard.demanded, guard.min_size)
    assert not guard.monotone


def test_columns_are_those_that_some_model_speaks_of() -> None:
    schema = table(1).schema
    assert ("age", "zip") == Guard((Sizes(2),)).columns(schema)
    assert ("zip",) == Guard((Sizes(2, on=(("zip",),)),)).columns(schema)
    both = (Sizes(2, on=(("zip",),)), Sizes(2, on=(("age",), ("zip",))))
    assert ("age", "zip") == Guard(both).columns(schema)


def odd(sizes: np.ndarray) -> np.ndarray:
    """Keep the rows of odd classes only."""
    return np.where(sizes % 2 == 1, sizes, 0)


SAMPLERS = {
    "all": lambda sizes: sizes,
    "half, rounded down": lambda sizes: sizes // 2,
    "seven tenths, rounded up": lambda sizes: np.ceil(sizes * 0.7).astype(np.int64),
    "all but five": lambda sizes: np.maximum(sizes - 5, 0),
    "odd": odd,
    "at most nine": lambda sizes: np.minimum(sizes, 9),
    "saw": lambda sizes: sizes % 10,
    "once and never again": lambda sizes: np.where(sizes == 23, 20, 0),
    "one in a thousand": lambda sizes: sizes // 1000,
}


@pytest.mark.parametrize("name", SAMPLERS)
@pytest.mark.parametrize("k", [1, 2, 4, 9])
def test_the_least_size_is_the_first_of_which_enough_are_kept(name: str, k: int) -> None:
    kept = SAMPLERS[name]
    expected = next(size for size in range(1, 20_000) if int(kept(np.array([size]))[0]) >= k)
    assert expected == Guard((Sizes(k),), kept).min_size


@given(questions(), st.sampled_from(sorted(SAMPLERS)), st.integers(1, 5))
def test_a_class_is_admitted_when_enough_of_it_is_kept(question, name: str, k: int) -> None:
    n, rows, starts, stops = question
    kept = SAMPLERS[name]
    expected = [int(kept(np.array([b - a]))[0]) >= k for a, b in zip(starts, stops, strict=True)]
    result = Guard((Sizes(k),), kept).admits(table(n), rows, starts, stops)
    assert expected == result.tolist()


def test_a_sampler_that_keeps_too_few_of_any_class_is_refused() -> None:
    guard = Guard((Sizes(5),), lambda sizes: np.minimum(sizes, 4))
    with pytest.raises(ValueError, match=r"^the sampler keeps too few rows of any class$"):
        guard.min_size  # noqa: B018  # asking is the test


def test_verdicts_do_not_write_into_what_a_sampler_returned() -> None:
    shared = np.array([True, True])
    guard = Guard((NoSecretTwice(),), lambda sizes: shared)
    assert [True, False] == guard.admits(table(4), np.arange(4), [0, 0], [2, 4]).tolist()
    assert [True, True] == shared.tolist()
