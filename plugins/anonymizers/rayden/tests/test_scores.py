"""Connectivity-based outlier factors: those of a slow reference, and those of pyod."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyod.models.cof import COF

from anonloom import Classes, Column, Schema, StageContext, Table
from anonloom_rayden import detection, scores
from anonloom_rayden.detection import ScoreSettings, beyond
from anonloom_rayden.gower import space_of


def scored(table, classes, neighbours, chain, workers=1):
    space = space_of(table, "gower", "equality")
    return ScoreSettings(space, neighbours, chain).scores(
        table, classes, StageContext(workers=workers)
    )


def numbers(values):
    frame = pd.DataFrame({f"q{index}": column for index, column in enumerate(values)})
    return Table.build(
        frame, Schema([Column(name=name, role="quasi", type="number") for name in frame])
    )


# --- one row at a time ----------------------------------------------------------------------------


def slow_scores(table, rows, neighbours, chain, between):
    """Scores of the rows of one class, in their order."""
    space = space_of(table, "gower", "equality")
    codes = {row: tuple(table.codes[:, row].tolist()) for row in rows}
    apart = {(a, b): round(between(space, table.codes, a, b), 11) for a in rows for b in rows}
    nb = min(neighbours, len(rows) - 1)

    def neighbourhood(row):
        # Equal rows first; then by distance, ties in the order of the codes.
        others = [other for other in rows if other != row]
        others.sort(key=lambda other: (codes[other] != codes[row], apart[row, other], codes[other]))
        return others[:nb]

    def length(row):
        path = [row, *neighbourhood(row)]
        if chain == "paper":
            steps = [(index, apart[path[index], path[index - 1]]) for index in range(1, nb + 1)]
        elif chain == "sbn":
            return trail_length(row, path[1:])
        else:
            steps = [
                (nb + 1 - index, min(apart[path[index], earlier] for earlier in path[:index]))
                for index in range(1, nb + 1)
            ]
        return 2 / (nb * (nb + 1)) * sum(weight * step for weight, step in steps) if nb else 0.0

    def trail_length(row, others):
        """Tang et al., definitions 2 to 5: path, trail, its edges and their weights."""
        path, left, trail = [row], list(others), []
        r = 1 + len(left)
        while left:
            # The nearest to the set so far; of several, the one that comes first among neighbours.
            edges = [(min(apart[o, p] for o in path), place, p) for place, p in enumerate(left)]
            edge, _, nearest = min(edges)
            trail.append(edge)
            path.append(nearest)
            left.remove(nearest)
        weights = [2 * (r - i) / (r * (r - 1)) for i in range(1, r)]
        return sum(weight * edge for weight, edge in zip(weights, trail, strict=True))

    lengths = {row: length(row) for row in rows}

    def score(row):
        around = sum(lengths[other] for other in neighbourhood(row))
        if around == 0:
            return 1.0 if lengths[row] == 0 else np.inf
        return nb * lengths[row] / around

    return [score(row) for row in rows]


@pytest.mark.parametrize("chain", ["paper", "sbn", "pyod"])
def test_scores_are_those_of_the_definition(chain, drawn):
    @given(data=st.data(), table=drawn.tables(), neighbours=st.integers(1, 9))
    @settings(deadline=None, max_examples=200)
    def holds(data, table, neighbours):
        classes = data.draw(drawn.starts(table))
        expected = [
            score
            for rows in drawn.members(classes)
            for score in slow_scores(table, rows, neighbours, chain, drawn.between)
        ]
        for workers in (1, 3):
            result = scored(table, classes, neighbours, chain, workers)
            assert np.allclose(expected, result, rtol=1e-8, atol=0), workers

    holds()


def test_neighbours_in_large_classes_are_looked_for_in_cells(monkeypatch):
    """Two clouds far apart: every row's neighbours are in its own, also when each is a cell."""
    rng = np.random.default_rng(5)
    table = numbers([np.append(rng.random(150), 50 + rng.random(150)), rng.random(300)])
    expected = scored(table, table.whole(), 5, "paper")
    looked_at = []
    score = detection.score_classes
    monkeypatch.setattr(detection, "_CELL", 150)
    monkeypatch.setattr(
        detection,
        "score_classes",
        lambda *given: looked_at.append(given[3].tolist()) or score(*given),
    )

    result = scored(table, table.whole(), 5, "paper")

    assert expected.tolist() == result.tolist()
    assert [[0, 150, 300]] == looked_at


# --- the set-based nearest path -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("chain", "steps"),
    [
        # 3, then 5 (2 from 3), 7 (2 from 5), -4 (4 from 0): earlier steps weigh more.
        (scores.SBN, 4 * 3 + 3 * 2 + 2 * 2 + 1 * 4),
        # By distance from 0: 3, -4 (4 from 0), 5 (2 from 3), 7 (2 from 5).
        (scores.PYOD, 4 * 3 + 3 * 4 + 2 * 2 + 1 * 2),
        # From one to the next in that order: 3, 7, 9, 2; later steps weigh more.
        (scores.PAPER, 1 * 3 + 2 * 7 + 3 * 9 + 4 * 2),
    ],
)
def test_the_chain_of_0_through_3_5_7_and_minus_4(chain, steps):
    values = np.array([0.0, 3.0, 5.0, 7.0, -4.0])
    apart = np.abs(np.subtract.outer(values, values))
    nearest, weight = np.array([1, 4, 2, 3]), np.ones(5, np.int64)

    assert 2 / (4 * 5) * steps == scores.chain_length(apart, nearest, weight, 0, 4, chain)


# --- pyod -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("neighbours", [2, 5, 20])
def test_the_chain_of_pyod_agrees_with_pyod_on_numbers(neighbours):
    """On one axis Gower's distance is the Euclidean one over the range; scores are ratios."""
    values = np.random.default_rng(1).normal(size=200)
    table = numbers([values])

    result = scored(table, table.whole(), neighbours, "pyod")

    expected = COF(n_neighbors=neighbours).fit(values[:, None]).decision_scores_
    assert np.allclose(expected, result, rtol=1e-6)


def test_the_chain_of_pyod_agrees_with_pyod_inside_classes():
    rng = np.random.default_rng(2)
    values, label = rng.normal(size=120), np.repeat([0, 1, 2, 3], 30)
    table = numbers([values])

    result = scored(table, Classes.from_labels(label), 7, "pyod")

    for index in range(4):
        own = values[label == index][:, None]
        expected = COF(n_neighbors=7).fit(own).decision_scores_
        assert np.allclose(expected, result[label == index], rtol=1e-6)


def test_the_chain_of_pyod_agrees_with_pyod_on_euclidean_distances():
    rng = np.random.default_rng(3)
    points = rng.random((150, 4))
    # The same range on every axis, so that scaling changes all distances alike.
    points[0], points[1] = 0.0, 1.0
    table = numbers(points.T)
    scoring = ScoreSettings(space_of(table, "euclidean", "equality"), 10, "pyod")

    result = scoring.scores(table, table.whole(), StageContext())

    expected = COF(n_neighbors=10).fit(points).decision_scores_
    assert np.allclose(expected, result, rtol=1e-6)


# --- the threshold --------------------------------------------------------------------------------


def one_class(*scores):
    return np.array(scores, float), Classes.whole(np.arange(len(scores)))


def marked(alpha, *scores):
    return np.flatnonzero(beyond(*one_class(*scores), alpha)).tolist()


def test_a_score_beyond_mean_and_deviations_is_marked():
    scores = [1, 1.1, 0.9, 1, 1.05, 0.95, 3]
    above = np.mean(scores) + 2 * np.std(scores)
    assert (
        [index for index, score in enumerate(scores) if score > above] == marked(2, *scores) == [6]
    )


def test_equal_scores_mark_nobody():
    assert [] == marked(0, 1, 1, 1, 1)
    assert [] == marked(0, 0.1, 0.1, 0.1)


@given(score=st.floats(1.1, 1e6), rest=st.floats(0.1, 1.0))
def test_two_deviations_never_mark_one_of_five(score, rest):
    """One of p lies sqrt(p - 1) deviations off at most; rounding must not say otherwise."""
    assert [] == marked(2, rest, rest, score, rest, rest)
    assert [2] == marked(1.99, rest, rest, score, rest, rest)


def test_infinite_scores_are_judged_in_the_limit():
    """One of five or two of ten lie exactly two deviations off, one of six lies farther."""
    inf = np.inf
    assert [] == marked(2, 1, 1, inf, 1, 1)
    assert [2] == marked(2, 1, 1, inf, 1, 1, 1)
    assert [] == marked(2, inf, inf, *[1] * 8)
    assert [0, 1] == marked(2, inf, inf, *[1] * 9)
    # What is finite lies below the mean then.
    assert [0] == marked(2, inf, 50, *[1] * 9)


@given(
    finite=st.lists(st.floats(0.1, 9), min_size=1, max_size=20),
    count=st.integers(1, 4),
    alpha=st.sampled_from([0.5, 1.3, 2.1]),
)
def test_the_limit_is_that_of_large_scores(finite, count, alpha):
    in_limit = marked(alpha, *[np.inf] * count, *finite)
    assert marked(alpha, *[1e7] * count, *finite) == in_limit


def test_every_class_has_a_threshold_of_its_own():
    scores = np.array([1, 1, 1, 1, 1, 1, 5, 5, 5, 5, 5, 5, 5, 9], float)
    classes = Classes.from_labels(np.repeat([0, 1], 7))
    assert [6, 13] == np.flatnonzero(beyond(scores, classes, 2)).tolist()
