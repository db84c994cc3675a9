"""How many rows are drawn, and that each is as likely as any other of its class."""

from fractions import Fraction
from math import ceil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonloom.data.classes import Classes
from anonloom.kinds.context import Run
from anonloom_sampling.samplers import SimpleRandom, Stratified


def classes_of(sizes):
    return Classes(np.arange(sum(sizes)), np.append(0, np.cumsum(sizes)).astype(np.int64))


def kept_per_class(mask, classes):
    return np.add.reduceat(mask.astype(int), classes.starts).tolist()


sizes = st.lists(st.integers(1, 50), min_size=1, max_size=20)
percent = st.integers(1, 100)


@given(sizes=sizes, percent=percent, seed=st.integers(0, 5))
def test_stratified_keeps_exactly_the_share_rounded_up(sizes, percent, seed):
    method, classes = Stratified(share=percent / 100), classes_of(sizes)

    kept = kept_per_class(method.sample(classes, Run(seed=seed)), classes)

    assert [ceil(Fraction(percent, 100) * size) for size in sizes] == kept
    assert kept == method.least_kept(np.array(sizes)).tolist()


@given(sizes=sizes, number=st.integers(1, 60))
def test_stratified_keeps_exactly_so_many_per_class(sizes, number):
    method, classes = Stratified(per_class=number), classes_of(sizes)

    kept = kept_per_class(method.sample(classes, Run()), classes)

    assert [min(size, number) for size in sizes] == kept
    assert kept == method.least_kept(np.array(sizes)).tolist()


@given(sizes=sizes, percent=percent)
def test_simple_random_keeps_exactly_the_share_of_all_rows(sizes, percent):
    method, classes = SimpleRandom(share=percent / 100), classes_of(sizes)

    mask = method.sample(classes, Run())

    assert ceil(Fraction(percent, 100) * sum(sizes)) == mask.sum()
    assert [0] * len(sizes) == method.least_kept(np.array(sizes)).tolist()


@pytest.mark.parametrize("method", [Stratified(share=0.4), Stratified(per_class=4)], ids=str)
def test_every_row_of_a_class_is_equally_likely(method):
    """2,000 draws of 4 out of 10: 800 each, give or take six standard deviations."""
    classes = classes_of([10, 10, 10])

    times = sum(method.sample(classes, Run(seed=seed)).astype(int) for seed in range(2000))

    assert (abs(times - 800) < 6 * (2000 * 0.4 * 0.6) ** 0.5).all()


def test_every_row_is_equally_likely_in_a_simple_random_sample():
    classes = classes_of([10, 10, 10])
    method = SimpleRandom(share=0.4)

    times = sum(method.sample(classes, Run(seed=seed)).astype(int) for seed in range(2000))

    assert (abs(times - 800) < 6 * (2000 * 0.4 * 0.6) ** 0.5).all()


def test_the_seed_decides():
    classes = classes_of([10] * 20)
    method = Stratified(share=0.5)

    first, again, other = (method.sample(classes, Run(seed=seed)) for seed in (1, 1, 2))

    assert first.tolist() == again.tolist()
    assert first.tolist() != other.tolist()


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: Stratified(), "give either 'share' or 'per_class'"),
        (lambda: Stratified(share=0.5, per_class=2), "give either 'share' or 'per_class'"),
        (
            lambda: Stratified(share=0),
            "The 'share' parameter of Stratified must be a number above 0 and at most 1, or None. "
            "Got 0 instead.",
        ),
        (
            lambda: Stratified(per_class=0),
            "The 'per_class' parameter of Stratified must be an integer of at least 1, or None. "
            "Got 0 instead.",
        ),
        (
            lambda: SimpleRandom(share=1.2),
            "The 'share' parameter of SimpleRandom must be a number above 0 and at most 1. "
            "Got 1.2 instead.",
        ),
    ],
)
def test_parameters_are_checked(make, expected):
    with pytest.raises(ValueError) as caught:  # noqa: PT011  # the whole text is compared
        make()

    assert expected == str(caught.value)
