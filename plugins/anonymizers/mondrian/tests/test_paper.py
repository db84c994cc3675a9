"""Claims of LeFevre, DeWitt and Ramakrishnan, Mondrian Multidimensional K-Anonymity, ICDE 2006."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom import Column, Guard, Schema, StageContext, Table
from anonloom_mondrian.mondrian import Mondrian
from anonloom_testing.privacy_cases import AtLeast

#: Figure 1, Patient Data, without the disease.
PATIENTS = pd.DataFrame(
    {
        "sex": ["Male", "Female", "Male", "Male", "Female", "Male"],
        "age": [25, 25, 26, 27, 27, 28],
        "zip": [53711, 53712, 53711, 53710, 53712, 53711],
    }
)


def partition(table, k, cut, mode="strict"):
    return Mondrian(mode=mode, cut=cut).partition(
        table, table.whole(), Guard([AtLeast(k=k)]), StageContext()
    )


def number_table(rows):
    frame = pd.DataFrame(rows, columns=[f"q{index}" for index in range(len(rows[0]))])
    return Table.build(
        frame, Schema([Column(name=name, role="quasi", type="number") for name in frame])
    )


def test_the_multidimensional_2_anonymization_of_the_patients():
    """Section 2: two women of 53712, men of 25-26 in 53711, men of 27-28 in 53710-53711.

    All three axes are equally wide at first; the figure comes out when sex is cut first, which the
    order of the columns decides.
    """
    table = Table.build(
        PATIENTS,
        Schema(
            [
                Column(name="sex", role="quasi"),
                Column(name="age", role="quasi", type="number"),
                Column(name="zip", role="quasi", type="number"),
            ]
        ),
    )

    result = partition(table, k=2, cut="widest")

    lo, hi = result.extents(table.codes)
    published = [
        tuple(tuple(axis.texts([lo[index, a], hi[index, a]])) for a, axis in enumerate(table.axes))
        for index in range(len(result))
    ]
    assert [
        (("Female", "Female"), ("25", "27"), ("53712", "53712")),
        (("Male", "Male"), ("25", "26"), ("53711", "53711")),
        (("Male", "Male"), ("27", "28"), ("53710", "53711")),
    ] == sorted(published)


points = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 3), st.integers(0, 9)), min_size=1, max_size=60
)


@pytest.mark.parametrize("cut", ["widest", "best-loss"])
@given(rows=points, k=st.integers(2, 6))
@settings(deadline=None)
def test_strict_classes_are_at_most_2d_k_minus_1_plus_m(cut, rows, k):
    """Section 2, bounds on partition size: 2d(k-1)+m, m copies at most of any point.

    The bound holds where no allowable cut is left, so this also shows that neither way to cut
    misses any.
    """
    table = number_table(rows)
    if len(rows) < k:
        return

    result = partition(table, k, cut)

    assert result.sizes.max() <= 2 * 3 * (k - 1) + max(Counter(rows).values())


@pytest.mark.parametrize("cut", ["widest", "best-loss"])
@given(rows=points, k=st.integers(2, 6))
@settings(deadline=None)
def test_relaxed_classes_have_at_most_2k_minus_1_rows(cut, rows, k):
    """Section 2, bounds on partition size; a class of equal rows has nothing to be cut."""
    table = number_table(rows)
    if len(rows) < k:
        return

    result = partition(table, k, cut, mode="relaxed")

    lo, hi = result.extents(table.codes)
    varied = (lo < hi).any(axis=1)
    assert (result.sizes[varied] <= 2 * k - 1).all()
    assert (result.sizes >= k).all()


@pytest.mark.parametrize("cut", ["widest", "best-loss"])
@given(rows=points, k=st.integers(2, 6))
@settings(deadline=None)
def test_no_allowable_cut_is_left(cut, rows, k):
    """Figure 6: the recursion ends where no axis has a cut with k rows on both sides."""
    table = number_table(rows)
    if len(rows) < k:
        return

    result = partition(table, k, cut)

    for index in range(len(result)):
        for codes in table.codes[:, result.members(index)]:
            below = [int((codes <= value).sum()) for value in np.unique(codes)]
            assert all(left < k or len(codes) - left < k for left in below)
