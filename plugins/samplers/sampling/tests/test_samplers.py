"""How many rows are drawn, and that each is as likely as any other of its class."""

from fractions import Fraction
from math import ceil
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonloom import Classes, Guard, StageContext
from anonloom_sampling.samplers import PreSampler, SimpleRandomSampler, StratifiedSampler


def classes_of(sizes):
    return Classes(np.arange(sum(sizes)), np.append(0, np.cumsum(sizes)).astype(np.int64))


def kept_per_class(mask, classes):
    return np.add.reduceat(mask.astype(int), classes.starts).tolist()


sizes = st.lists(st.integers(1, 50), min_size=1, max_size=20)
percent = st.integers(1, 100)


@given(sizes=sizes, percent=percent, seed=st.integers(0, 5))
def test_stratified_keeps_exactly_the_share_rounded_up(sizes, percent, seed):
    method, classes = StratifiedSampler(share=percent / 100), classes_of(sizes)

    kept = kept_per_class(method.sample(classes, StageContext(seed=seed)), classes)

    assert [ceil(Fraction(percent, 100) * size) for size in sizes] == kept
    assert kept == method.least_kept(np.array(sizes)).tolist()


@given(sizes=sizes, number=st.integers(1, 60))
def test_stratified_keeps_exactly_so_many_per_class(sizes, number):
    method, classes = StratifiedSampler(per_class=number), classes_of(sizes)

    kept = kept_per_class(method.sample(classes, StageContext()), classes)

    assert [min(size, number) for size in sizes] == kept
    assert kept == method.least_kept(np.array(sizes)).tolist()


@given(sizes=sizes, number=st.integers(1, 60))
def test_stratified_leaves_out_exactly_so_many_per_class(sizes, number):
    """The literal mu of Anonify's section 4.2; of a class that is not larger, nothing is kept."""
    method, classes = StratifiedSampler(remove=number), classes_of(sizes)

    kept = kept_per_class(method.sample(classes, StageContext()), classes)

    assert [max(size - number, 0) for size in sizes] == kept
    assert kept == method.least_kept(np.array(sizes)).tolist()


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        (StratifiedSampler(share=0.7), [1, 2, 3, 3, 7, 70, 175]),
        (StratifiedSampler(share=0.3), [1, 1, 1, 2, 3, 30, 75]),
        (StratifiedSampler(per_class=3), [1, 2, 3, 3, 3, 3, 3]),
        (StratifiedSampler(remove=3), [0, 0, 0, 1, 7, 97, 247]),
    ],
    ids=str,
)
def test_the_rounding_rule_on_a_few_sizes(method, expected):
    assert expected == method.least_kept(np.array([1, 2, 3, 4, 10, 100, 250])).tolist()


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        (StratifiedSampler(share=0.7), 356),
        (StratifiedSampler(per_class=250), 250),
        (StratifiedSampler(remove=30), 280),
    ],
    ids=str,
)
def test_classes_are_made_so_large_that_250_remain(method, expected):
    wanted = SimpleNamespace(min_size=250)
    assert expected == Guard((wanted,), method.least_kept).min_size


@given(sizes=sizes, percent=percent, number=st.integers(1, 900))
def test_pre_sample_keeps_exactly_the_share_or_number_of_all_rows(sizes, percent, number):
    classes, total = classes_of(sizes), sum(sizes)
    by_share, by_number = PreSampler(share=percent / 100), PreSampler(rows=number)

    assert ceil(Fraction(percent, 100) * total) == by_share.sample(classes, StageContext()).sum()
    assert min(number, total) == by_number.sample(classes, StageContext()).sum()
    assert [0] * len(sizes) == by_share.least_kept(np.array(sizes)).tolist()


@given(sizes=sizes, percent=percent)
def test_simple_random_keeps_exactly_the_share_of_all_rows(sizes, percent):
    method, classes = SimpleRandomSampler(share=percent / 100), classes_of(sizes)

    mask = method.sample(classes, StageContext())

    assert ceil(Fraction(percent, 100) * sum(sizes)) == mask.sum()
    assert [0] * len(sizes) == method.least_kept(np.array(sizes)).tolist()


@pytest.mark.parametrize(
    "method",
    [StratifiedSampler(share=0.4), StratifiedSampler(per_class=4), StratifiedSampler(remove=6)],
    ids=str,
)
def test_every_row_of_a_class_is_equally_likely(method):
    """2,000 draws of 4 out of 10: 800 each, give or take six standard deviations."""
    classes = classes_of([10, 10, 10])

    times = sum(method.sample(classes, StageContext(seed=seed)).astype(int) for seed in range(2000))

    assert (abs(times - 800) < 6 * (2000 * 0.4 * 0.6) ** 0.5).all()


@pytest.mark.parametrize(
    "method", [SimpleRandomSampler(share=0.4), PreSampler(share=0.4), PreSampler(rows=12)], ids=str
)
def test_every_row_is_equally_likely_in_a_sample_of_all(method):
    classes = classes_of([10, 10, 10])

    times = sum(method.sample(classes, StageContext(seed=seed)).astype(int) for seed in range(2000))

    assert (abs(times - 800) < 6 * (2000 * 0.4 * 0.6) ** 0.5).all()


def test_the_seed_decides():
    classes = classes_of([10] * 20)
    method = StratifiedSampler(share=0.5)

    first, again, other = (method.sample(classes, StageContext(seed=seed)) for seed in (1, 1, 2))

    assert first.tolist() == again.tolist()
    assert first.tolist() != other.tolist()


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: StratifiedSampler(), "give one of 'share', 'per_class' and 'remove'"),
        (
            lambda: StratifiedSampler(share=0.5, per_class=2),
            "give one of 'share', 'per_class' and 'remove'",
        ),
        (
            lambda: StratifiedSampler(share=0.5, per_class=2, remove=1),
            "give one of 'share', 'per_class' and 'remove'",
        ),
        (
            lambda: StratifiedSampler(remove=0),
            "The 'remove' parameter of StratifiedSampler must be an integer of at least 1, or "
            "None. Got 0 instead.",
        ),
        (lambda: PreSampler(), "give either 'share' or 'rows'"),
        (lambda: PreSampler(share=0.5, rows=2), "give either 'share' or 'rows'"),
        (
            lambda: PreSampler(rows=0),
            "The 'rows' parameter of PreSampler must be an integer of at least 1, or None. "
            "Got 0 instead.",
        ),
        (
            lambda: StratifiedSampler(share=0),
            "The 'share' parameter of StratifiedSampler must be a number above 0 and at most 1, "
            "or None. Got 0 instead.",
        ),
        (
            lambda: StratifiedSampler(per_class=0),
            "The 'per_class' parameter of StratifiedSampler must be an integer of at least 1, or "
            "None. Got 0 instead.",
        ),
        (
            lambda: SimpleRandomSampler(share=1.2),
            "The 'share' parameter of SimpleRandomSampler must be a number above 0 and at most 1. "
            "Got 1.2 instead.",
        ),
    ],
)
def test_parameters_are_checked(make, expected):
    with pytest.raises(ValueError) as caught:  # noqa: PT011  # the whole text is compared
        make()

    assert expected == str(caught.value)
