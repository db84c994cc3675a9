"""Nearness, covering rows, single values, learned ratios: each against an obvious count."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from membership_population import evidence, frame, in_classes, published, table

from anonloom_linkage.aligned_columns import align_columns
from anonloom_membership.covering import Covering
from anonloom_membership.density_ratio import RIDGE, learn_density_ratio, quadratic
from anonloom_membership.nearness import PARTS, Nearness
from anonloom_membership.value_shares import value_evidence
from anonloom_risk import align_evidence

NUMBERS = ("age", "rent")


def aligned(original, release, targets, control, names=NUMBERS):
    return align_evidence(evidence(original, release, control), table(targets), names)


@settings(deadline=None)
@given(st.integers(0, 10**6))
def test_neighbours_are_those_of_all_pairs_but_for_a_part_of_the_control(seed):
    tables = [frame(count, seed + index) for index, count in enumerate((30, 25, 12, 20))]
    original, release, targets, control = tables
    columns = aligned(original, published(release), targets, control)
    learned = np.array([3, 17, 5])
    both = np.concatenate([people[list(NUMBERS)] for people in tables]).astype(float)
    points = [
        ((people[list(NUMBERS)] - both.mean(axis=0)) / both.std(axis=0)).to_numpy()
        for people in tables
    ]
    asking = np.concatenate([points[2], points[3][learned]])
    rng = np.random.default_rng(seed)
    part = rng.integers(0, PARTS, 20)
    left_out = np.append(rng.integers(0, PARTS, 12), part[learned])

    result = Nearness.of(columns, learned, np.random.default_rng(seed))

    for index, point in enumerate(asking):
        to_release = np.sort(((points[1] - point) ** 2).sum(axis=1))[:2]
        others = points[3][part != left_out[index]]
        to_control = np.sort(((others - point) ** 2).sum(axis=1))[:2]
        np.testing.assert_allclose(result.release[index], to_release, atol=1e-3)
        np.testing.assert_allclose(result.control[index], to_control, atol=1e-3)


def test_a_value_that_the_table_lacks_brings_nobody_nearer():
    people, stranger = frame(30, 1), frame(30, 1).assign(area="abroad")
    columns = aligned(people, published(people), stranger, people, (*NUMBERS, "area"))

    result = Nearness.of(columns, np.arange(2), np.random.default_rng(1))

    # The two differ in two indicators of one column.
    np.testing.assert_allclose(result.release[:30, 0], 2.0, atol=1e-3)


def test_nobody_of_the_control_is_near_to_herself():
    people = frame(60, 4).drop_duplicates(list(NUMBERS))
    columns = aligned(frame(30, 1), published(frame(30, 2)), frame(5, 3), people)

    result = Nearness.of(columns, np.arange(len(people)), np.random.default_rng(1))

    assert (result.control[5:, 0] > 0).all()


def test_where_nothing_varies_everybody_is_equally_near():
    same = frame(10, 1).assign(age=30, rent=500)
    columns = aligned(same, published(same), same, same)

    result = Nearness.of(columns, np.arange(3), np.random.default_rng(1))

    assert [[0.0, 0.0]] * 13 == result.release.tolist() == result.control.tolist()


def bounds(cell):
    if isinstance(cell, str) and cell.startswith("["):
        low, high = re.fullmatch(r"\[(.+), (.+)\]", cell).groups()
        return float(low), float(high)
    return float(cell), float(cell)


def test_covering_rows_are_counted_as_by_hand():
    original, targets, control = frame(60, 1), frame(15, 2), frame(25, 3)
    release = in_classes(original, 5)
    learned = np.array([0, 7, 11])
    columns = aligned(original, release, targets, control)

    result = Covering.of(columns, learned)

    rows = [
        tuple(bounds(release.frame[name].iloc[index]) for name in NUMBERS)
        for index in range(len(release))
    ]

    def covers(row, person):
        return all(
            low <= person[name] <= high for (low, high), name in zip(row, NUMBERS, strict=True)
        )

    people = [targets.iloc[i] for i in range(15)] + [control.iloc[i] for i in learned]
    assert [sum(covers(row, person) for row in rows) for person in people] == result.rows.tolist()
    strangers = [[control.iloc[j] for j in range(25)]] * 15
    strangers += [[control.iloc[j] for j in range(25) if j != own] for own in learned]
    expected = [
        sum(covers(row, other) for row in set(rows) if covers(row, person) for other in others)
        for person, others in zip(people, strangers, strict=True)
    ]
    assert expected == result.others.tolist()


def test_values_are_counted_as_by_hand():
    original, release, control = frame(40, 1), frame(30, 2), frame(20, 3)
    columns = align_columns(table(original), [published(release), table(control)], ("age", "area"))
    known = np.arange(8)

    result = value_evidence(columns, [column.sides[0] for column in columns], 1, 2, known)

    for index in range(40):
        expected = 0.0
        for name in ("age", "area"):
            own = original[name].iloc[index]
            published_share = ((release[name] == own).sum() + 0.5) / 30.5
            expected += np.log(published_share / (((control[name][:8] == own).sum() + 0.5) / 8.5))
        assert result[index] == pytest.approx(expected)


@given(st.integers(0, 10**6))
def test_the_ratio_learned_has_the_least_loss(seed):
    rng = np.random.default_rng(seed)
    unlabelled = np.arange(90) < 60
    features = rng.normal(size=(90, 3)) + np.where(unlabelled, 0.5, 0)[:, None]
    features[:, 2] = 1.0  # says nothing

    ratio = learn_density_ratio(features, unlabelled)

    varying = features[:, :2]
    design = np.column_stack([np.ones(90), (varying - varying.mean(0)) / varying.std(0)])
    odds = ratio + np.log(60 / 30)
    weights = np.linalg.lstsq(design, odds, rcond=None)[0]

    def loss(candidate):
        margins = np.where(unlabelled, 1, -1) * (design @ candidate)
        return np.log1p(np.exp(-margins)).sum() + RIDGE / 2 * (candidate[1:] ** 2).sum()

    np.testing.assert_allclose(design @ weights, odds, atol=1e-6)
    for _ in range(20):
        assert loss(weights) <= loss(weights + rng.normal(scale=0.1, size=3)) + 1e-6


def test_the_ratio_learned_is_the_true_one_of_two_normal_distributions():
    rng = np.random.default_rng(1)
    unlabelled = np.arange(40_000) < 20_000
    features = rng.normal(size=(40_000, 1)) + unlabelled[:, None]

    ratio = learn_density_ratio(features, unlabelled)

    np.testing.assert_allclose(ratio, features[:, 0] - 0.5, atol=0.1)


def test_features_have_their_squares_and_products():
    assert [[2.0, 3.0, 4.0, 6.0, 9.0]] == quadratic(np.array([[2.0, 3.0]])).tolist()
