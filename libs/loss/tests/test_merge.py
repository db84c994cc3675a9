"""Merging until the guard admits: what holds for every partition."""

import attrs
import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from anonloom import Classes, Column, Guard, PrivacyModel, Schema, Table
from anonloom_loss import merge_until_admitted

SCHEMA = Schema(
    (
        Column(name="age", role="quasi", type="number"),
        Column(name="sex", role="quasi"),
        Column(name="ill", role="sensitive"),
    )
)


@attrs.frozen
class SizeAndTwo(PrivacyModel):
    """At least k rows and two illnesses."""

    k: int
    monotone = True

    @property
    def min_size(self):
        return self.k

    def admits(self, table, rows, starts, stops):
        ill = table.encode_column("ill").codes
        return np.array(
            [
                b - a >= self.k and len(set(ill[rows[a:b]])) > 1
                for a, b in zip(starts, stops, strict=True)
            ],
            bool,
        )

    def would_pass(self, table, rows, starts, stops):
        return "less"


def table_of(draw_rows):
    return Table.build(pd.DataFrame(draw_rows, columns=["age", "sex", "ill"]), SCHEMA)


ROWS = st.lists(
    st.tuples(st.integers(0, 9), st.sampled_from("fm"), st.sampled_from("abc")),
    min_size=1,
    max_size=40,
)


@given(ROWS, st.lists(st.integers(-1, 6), min_size=40, max_size=40), st.integers(1, 6))
def test_every_class_is_admitted_and_every_row_kept_or_suppressed(rows, labels, k):
    table = table_of(rows)
    classes = Classes.from_labels(np.array(labels[: len(rows)]))
    guard = Guard((SizeAndTwo(k),))

    merged = merge_until_admitted(table, classes, guard)

    assert guard.admits_classes(table, merged).all()
    assert list(range(len(rows))) == sorted([*merged.rows, *merged.suppressed])
    assert set(classes.suppressed) <= set(merged.suppressed)
    # Classes are only ever joined: rows of one class stay together.
    before, after = classes.labels(len(rows)), merged.labels(len(rows))
    for label in set(before[before >= 0]):
        assert 1 == len(set(after[before == label]))


@given(ROWS, st.lists(st.integers(0, 1), min_size=40, max_size=40), st.integers(1, 4))
def test_parents_are_never_crossed(rows, sides, k):
    table = table_of(rows)
    parents = Classes.from_labels(np.array(sides[: len(rows)]))
    singles = Classes.from_labels(np.arange(len(rows)))

    merged = merge_until_admitted(table, singles, Guard((SizeAndTwo(k),)), parents)

    side = parents.labels(len(rows))
    for which in range(len(merged)):
        assert 1 == len(set(side[merged.members(which)]))


def test_the_nearest_class_by_loss_is_chosen():
    """A refused class of age 31 joins the thirties, not the sixties, though both are one group."""
    rows = [(31, "f", "a"), (32, "f", "a"), (33, "f", "b"), (61, "f", "a"), (62, "f", "b")]
    table = table_of(rows)
    classes = Classes.from_labels(np.array([0, 1, 1, 2, 2]))

    merged = merge_until_admitted(table, classes, Guard((SizeAndTwo(2),)))

    assert [[0, 1, 2], [3, 4]] == [merged.members(c).tolist() for c in range(len(merged))]


def test_a_single_class_that_is_refused_is_suppressed():
    table = table_of([(31, "f", "a"), (32, "f", "a")])
    merged = merge_until_admitted(table, Classes.whole(np.arange(2)), Guard((SizeAndTwo(2),)))

    assert (0, [0, 1]) == (len(merged), merged.suppressed.tolist())


def test_admitted_classes_are_returned_as_they_are():
    """Regions that a method assigned survive where nothing is merged."""
    table = table_of([(31, "f", "a"), (32, "f", "b")])
    classes = Classes.whole(np.arange(2))

    assert classes is merge_until_admitted(table, classes, Guard((SizeAndTwo(2),)))
