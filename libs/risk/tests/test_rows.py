"""Nearest rows, right rows, covered people: each against a slow and obvious count."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from risk_people import SCHEMA, case, frame, published, table

from anonloom import AuditInput, Classes, Release, Table
from anonloom_linkage.top2_search import Blocks
from anonloom_risk import (
    CoveringRows,
    NearestRows,
    Passes,
    align_evidence,
    covering_rows,
    passes,
    right_rows,
)
from anonloom_risk.left_out import generalizes, halves, leave_out, truth_is_known
from anonloom_risk.nearest_rows import ORIGINAL, RELEASE, TARGETS, nearest_two

NAMES = ["age", "town", "income"]


def in_classes(original, size):
    """Publish a table in classes of rows of like age."""
    order = np.argsort(original.codes[0], kind="stable")
    labels = np.empty(len(original), np.int64)
    labels[order] = np.minimum(np.arange(len(original)) // size, len(original) // size - 1)
    classes = Classes.from_labels(labels)
    lo, hi = classes.extents(original.codes)
    cells = [axis.publish(lo[:, i], hi[:, i]) for i, axis in enumerate(original.axes)]
    release = Release.from_cells(original, classes, cells, truthful=True)
    return Release(release.schema, release.frame, None, release.classes, True)


@given(st.integers(0, 10**6), st.integers(1, 40), st.integers(1, 40), st.integers(1, 5))
def test_the_two_nearest_are_those_of_all_pairs(seed, asking, asked, width):
    rng = np.random.default_rng(seed)
    first, second = (rng.normal(size=(n, width)).astype(np.float32) for n in (asking, asked))
    squared = ((first[:, None, :].astype(float) - second[None]) ** 2).sum(axis=2)

    row, nearest, next_to_it = nearest_two(first, second)

    np.testing.assert_allclose(squared[np.arange(asking), row], squared.min(axis=1), atol=1e-4)
    np.testing.assert_allclose(nearest, squared.min(axis=1), atol=1e-4)
    if asked > 1:
        np.testing.assert_allclose(next_to_it, np.sort(squared, axis=1)[:, 1], atol=1e-4)
    else:
        assert np.isinf(next_to_it).all()


def test_a_person_s_own_row_is_the_nearest_and_the_reference_is_of_others():
    original = table(100, 1)
    columns = align_evidence(case(original, published(frame(100, 1)), table(80, 2)), original)

    result = NearestRows.of(columns)

    np.testing.assert_array_equal(np.arange(100), result.row)
    np.testing.assert_allclose(0.0, result.distance, atol=1e-4)
    assert (result.reference > 0).all()
    assert (result.surprise > 0).all()


def test_without_a_control_the_reference_is_the_nearest_other_person():
    original = table(60, 1)
    evidence = case(original, published(frame(60, 1)))

    result = NearestRows.of(align_evidence(evidence, original))

    assert (result.reference > 1e-4).all()


def test_where_no_column_differs_nobody_is_named():
    rows = pd.concat([frame(1, 1)] * 5, ignore_index=True)
    alike = Table.build(rows, SCHEMA)

    result = NearestRows.of(align_evidence(case(alike, published(rows)), alike))

    assert [-1] * 5 == result.row.tolist()
    assert [-np.inf] * 5 == result.surprise.tolist()


def slow_right(evidence, targets, rows, how):
    """Judge every answer with plain Python."""
    original = [tuple(r) for r in evidence.original.frame[NAMES].itertuples(index=False)]
    people = [tuple(r) for r in targets.frame[NAMES].itertuples(index=False)]
    release = [tuple(r) for r in evidence.release.frame[NAMES].itertuples(index=False)]
    results = []
    for person, row in zip(people, rows, strict=True):
        alike = [index for index, other in enumerate(release) if other == release[row]]
        if how == "truth":
            own = [original[evidence.truth[i]] == person for i in alike if evidence.truth[i] >= 0]
            results.append(sum(own) / len(alike))
        else:
            covers = all(
                holds(cell, value) for cell, value in zip(release[row], person, strict=True)
            )
            twins = sum(other == person for other in original)
            results.append(min(twins / len(alike), 1.0) if covers else 0.0)
    return results


def holds(cell, value):
    """Whether a published cell may stand for a value."""
    cell = str(cell)
    if cell == "*":
        return True
    if cell.startswith("["):
        lo, hi = (float(end) for end in cell[1:-1].split(", "))
        return lo <= float(value) <= hi
    try:
        return float(cell) == float(value)
    except ValueError:
        return cell == str(value)


@given(st.integers(0, 10**6), st.booleans())
def test_a_generalized_row_is_right_with_the_share_of_the_people_who_equal_the_target(seed, twins):
    rng = np.random.default_rng(seed)
    people = frame(40, seed)
    if twins:
        people = people.iloc[rng.integers(0, 12, 40)].reset_index(drop=True)
    original = Table.build(people, SCHEMA)
    evidence = case(original, in_classes(original, 5))
    targets = Table.build(pd.concat([people.iloc[:20], frame(10, seed + 1)]), SCHEMA)
    rows = rng.integers(0, 40, len(targets))

    result = right_rows(evidence, align_evidence(evidence, targets, NAMES), rows, rng)

    if generalizes(evidence):
        np.testing.assert_allclose(slow_right(evidence, targets, rows, "cover"), result)


@given(st.integers(0, 10**6))
def test_where_owners_are_known_the_row_of_a_twin_is_right(seed):
    rng = np.random.default_rng(seed)
    people = frame(12, seed).iloc[rng.integers(0, 12, 40)].reset_index(drop=True)
    original = Table.build(people, SCHEMA)
    truth = np.where(rng.random(40) < 0.2, -1, rng.permutation(40))
    evidence = AuditInput(published(frame(40, seed + 5)), original, truth=truth)
    rows = rng.integers(0, 40, 40)

    result = right_rows(evidence, align_evidence(evidence, original, NAMES), rows, rng)

    np.testing.assert_allclose(slow_right(evidence, original, rows, "truth"), result)


def test_a_changed_row_is_right_for_whom_it_fits_best():
    original = table(50, 1)
    moved = frame(50, 1).astype({"age": float})
    moved["age"] += 0.01
    evidence, rng = case(original, published(moved)), np.random.default_rng(1)
    columns = align_evidence(evidence, original, NAMES)

    own = right_rows(evidence, columns, np.arange(50), rng)
    others = right_rows(evidence, columns, np.roll(np.arange(50), 1), rng)
    nobody = right_rows(evidence, columns, np.full(50, -1), rng)

    assert [1.0] * 50 == own.tolist()
    assert [0.0] * 50 == others.tolist()
    assert [0.0] * 50 == nobody.tolist()


def test_halves_share_no_row():
    first, second = halves(table(101, 1), np.random.default_rng(1))

    assert list(range(101)) == sorted([*first, *second])
    assert (50, 51) == (len(first), len(second))


def test_whose_row_is_known_loses_his_own_row():
    original, rng = table(30, 1), np.random.default_rng(1)
    evidence = case(original, published(frame(30, 1)), truth=np.arange(30))

    without, rows = leave_out(evidence, np.array([3, 7]), rng)

    assert [3, 7] == rows.tolist()
    assert truth_is_known(without)
    assert (28, 28) == (len(without.release), len(without.original))
    left = without.original.frame.reset_index(drop=True)[NAMES]
    for row, person in enumerate(without.truth):
        published_age = without.release.frame.iloc[row]["age"]
        assert float(left.iloc[person]["age"]) == float(published_age)


@given(st.integers(0, 10**6), st.integers(1, 12))
def test_a_generalized_release_loses_a_row_that_covers_each_who_is_left_out(seed, number):
    original = Table.build(frame(40, seed), SCHEMA)
    evidence, rng = case(original, in_classes(original, 5)), np.random.default_rng(seed)
    people = np.sort(rng.choice(40, number, replace=False))
    if not generalizes(evidence):
        return

    without, rows = leave_out(evidence, people, rng)

    assert people.tolist() == rows.tolist()
    assert 40 - number == len(without.release) == len(without.original)
    # Every class keeps as many rows as people of it are left.
    kept = without.release.frame[NAMES].astype(str).value_counts().to_dict()
    rest = evidence.release.frame[NAMES].astype(str).drop(index=people).value_counts().to_dict()
    assert sum(rest.values()) == sum(kept.values())


def test_nobody_knows_whose_row_a_made_up_one_is():
    original, rng = table(40, 1), np.random.default_rng(1)
    evidence = case(original, published(frame(40, 9)))

    without, rows = leave_out(evidence, np.arange(5), rng)

    assert 5 == len(rows)
    assert (20, 20) == (len(without.release), len(without.original))
    assert without.release.origin is None
    # The people who are attacked are among those who are taken for the original.
    texts = {tuple(map(str, row)) for row in without.original.frame[NAMES].to_numpy()}
    assert {tuple(map(str, r)) for r in original.frame[NAMES].to_numpy()[rows]} <= texts


@pytest.mark.parametrize("size", [1, 5])
def test_a_release_is_generalized_when_cells_stand_for_several_values(size):
    original = table(60, 1)

    release = in_classes(original, size) if size > 1 else published(frame(60, 1))

    assert (size > 1) == generalizes(case(original, release))


def slow_covering(evidence, targets, columns):
    """Name the most specific class of every target by looking at all rows."""
    release = [tuple(row) for row in evidence.release.frame[NAMES].itertuples(index=False)]
    known = [tuple(row) for row in evidence.original.frame[NAMES].itertuples(index=False)]
    results = []
    for person in targets.frame[NAMES].itertuples(index=False):
        classes = []
        for row in sorted(set(release), key=release.index):
            if all(holds(cell, value) for cell, value in zip(row, person, strict=True)):
                shares = [
                    max(np.mean([holds(cell, other[i]) for other in known]), 1e-6)
                    for i, cell in enumerate(row)
                ]
                classes.append((np.prod(shares), release.count(row), row))
        if not classes:
            results.append((None, -np.inf))
            continue
        dense = sum(size / share for share, size, _ in classes) + len(release)
        share, _, row = min(classes, key=lambda entry: entry[:2])
        results.append((row, -np.log(share) - np.log(dense)))
    return results


@given(st.integers(0, 10**6), st.integers(2, 7), st.booleans())
def test_the_most_specific_class_that_covers_is_named(seed, size, some_silent):
    original = table(40, seed)
    release = in_classes(original, size)
    if some_silent:
        silent = release.frame.astype(object)
        silent.loc[silent.index[:4], "town"] = "*"
        release = Release(release.schema, silent, None, None, True)
    evidence = case(original, release)
    targets = Table.build(pd.concat([frame(40, seed), frame(10, seed + 1)]), SCHEMA)
    columns = align_evidence(evidence, targets, NAMES)

    result = CoveringRows.of(columns, RELEASE, TARGETS, ORIGINAL)

    named = [tuple(row) for row in release.frame[NAMES].itertuples(index=False)]
    slow = slow_covering(evidence, targets, columns)
    np.testing.assert_allclose([chance for _, chance in slow], result.chance, rtol=1e-9)
    for (expected, _), row in zip(slow, result.row, strict=True):
        assert (expected is None) == (row < 0)
        if expected is not None and len(set(slow)) == len(slow):
            assert expected == named[row]


def test_targets_in_small_parts_find_the_same_classes(monkeypatch):
    original = table(60, 3)
    columns = align_evidence(case(original, in_classes(original, 4)), original, NAMES)
    whole = CoveringRows.of(columns, RELEASE, TARGETS, ORIGINAL)

    monkeypatch.setattr(covering_rows, "CHUNK", 7)
    parts = CoveringRows.of(columns, RELEASE, TARGETS, ORIGINAL)

    assert whole.row.tolist() == parts.row.tolist()
    assert whole.chance.tolist() == parts.chance.tolist()


def test_of_a_generalized_release_a_row_of_the_class_that_covers_is_named():
    original = table(200, 2)
    evidence = case(original, in_classes(original, 4), table(100, 5))
    columns = align_evidence(evidence, original, NAMES)

    result = NearestRows.of(columns)

    right = right_rows(evidence, columns, result.row, np.random.default_rng(1))
    assert (right > 0).all()
    assert 0.2 < right.mean()
    assert (result.covering > 0).all()


def test_a_release_that_changes_values_and_withholds_some_rows_is_not_judged_by_cover():
    original = table(60, 1)
    moved = frame(60, 1).astype({"age": float})
    moved["age"] += 0.01
    release = published(moved)
    some = release.frame.astype(object)
    some.loc[some.index[:10], "town"] = "*"

    assert not generalizes(case(original, Release(release.schema, some, None, None, True)))


def test_too_many_pairs_are_compared_in_several_passes(monkeypatch):
    original = table(400, 1)
    columns = align_evidence(case(original, published(frame(400, 1)), table(100, 2)), original)
    assert () == Passes.of(columns, TARGETS, 14).schemes

    monkeypatch.setattr(passes, "AFFORDABLE", 3_600_000.0)
    several = Passes.of(columns, TARGETS, 14)
    result = NearestRows.of(columns)

    assert len(several.schemes) > 1
    keys = [{key.column.name for key in scheme.keys} for scheme in several.schemes]
    assert keys[0] != keys[1]
    assert sum(int(b.comparisons.sum()) for b in several.blocks(RELEASE)) < 400 * 400
    np.testing.assert_array_equal(np.arange(400), result.row)


@given(st.integers(0, 10**6))
def test_the_two_nearest_of_a_block_are_those_of_its_pairs(seed):
    rng = np.random.default_rng(seed)
    first, second = (rng.normal(size=(n, 2)).astype(np.float32) for n in (9, 30))
    own, others = rng.integers(0, 3, 9), np.arange(30) % 3
    squared = ((first[:, None, :].astype(float) - second[None]) ** 2).sum(axis=2)
    squared[own[:, None] != others] = np.inf

    _, nearest, next_to_it = nearest_two(first, second, 1, Blocks.of(own, others, np.arange(30)))

    np.testing.assert_allclose(np.sort(squared)[:, 0], nearest, atol=1e-4)
    np.testing.assert_allclose(np.sort(squared)[:, 1], next_to_it, atol=1e-4)
