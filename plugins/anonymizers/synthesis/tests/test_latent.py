"""Correlations before the cut, scores, and the nearest matrix, each against something slow."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtri

from anonloom_synthesis.latent import (
    LEAST,
    MOST_LEVELS,
    TERMS,
    Latent,
    correlations,
    normal_scores,
    shrink_correlations,
    uncut,
)


def cut(normal, *shares):
    """Cut a normal variable into levels with these shares."""
    return np.searchsorted(ndtri(np.cumsum(shares)[:-1]), normal).astype(np.int64)


def normals(correlation, rows=200_000, seed=1):
    x, noise = np.random.default_rng(seed).standard_normal((2, rows))
    return x, correlation * x + np.sqrt(1 - correlation**2) * noise


def exact(*shares):
    """Levels of exactly these shares of a thousand rows."""
    counts = [round(share * 1000) for share in shares]
    return np.repeat(np.arange(len(counts)), counts)


@pytest.mark.parametrize("correlation", [-0.9, -0.5, -0.1, 0.05, 0.3, 0.6, 0.9])
def test_two_halves_follow_the_formula_of_sheppard(correlation):
    """Cut in the middle, a correlation r becomes 2/pi arcsin r."""
    half = Latent.of(exact(0.5, 0.5)).series
    measured = np.full((2, 2), 2 / np.pi * np.arcsin(correlation))

    result = uncut(measured, np.stack([half, half]))

    assert correlation == pytest.approx(result[0, 1], abs=1e-4)


@pytest.mark.parametrize("correlation", [-0.8, -0.3, 0.4, 0.9])
@pytest.mark.parametrize(
    ("one", "other"),
    [((0.9, 0.1), (0.2, 0.3, 0.5)), ((0.05, 0.9, 0.05), (0.5, 0.5)), ((0.25,) * 4, (0.1,) * 10)],
)
def test_the_series_agrees_with_integration_on_a_grid(one, other, correlation):
    """Slow: the bivariate density on a fine grid, summed."""
    grid = np.linspace(-6, 6, 801)
    x, y = np.meshgrid(grid, grid, indexing="ij")
    density = np.exp(-(x**2 - 2 * correlation * x * y + y**2) / (2 * (1 - correlation**2)))
    density /= density.sum()
    heights = []
    for shares, index in ((one, x), (other, y)):
        codes = exact(*shares)
        of_level = [normal_scores(codes)[codes == level][0] for level in range(len(shares))]
        heights.append(np.array(of_level)[cut(index, *shares)])
    means = [(density * height).sum() for height in heights]
    deviations = [
        np.sqrt((density * (height - mean) ** 2).sum())
        for height, mean in zip(heights, means, strict=True)
    ]
    centred = [height - mean for height, mean in zip(heights, means, strict=True)]
    measured = (density * centred[0] * centred[1]).sum() / np.prod(deviations)

    series = [Latent.of(exact(*shares)).series for shares in (one, other)]
    result = (series[0] * series[1] * correlation ** np.arange(1, TERMS + 1)).sum()

    assert measured == pytest.approx(result, abs=0.01)


@pytest.mark.parametrize("correlation", [-0.7, 0.2, 0.5, 0.95])
def test_the_correlation_behind_cut_variables_is_found(correlation):
    x, y = normals(correlation)
    rounded = np.unique(np.round(y, 1), return_inverse=True)[1]
    latents = [Latent.of(codes) for codes in (cut(x, 0.7, 0.2, 0.1), cut(y, 0.5, 0.5), rounded)]

    result = correlations(latents)

    assert [correlation, correlation] == pytest.approx(result[0, 1:].tolist(), abs=0.01)


def test_many_levels_are_as_good_as_none():
    x, y = normals(0.6, rows=50_000)
    ranks = [np.argsort(np.argsort(values)) for values in (x, y)]

    latents = [Latent.of(codes) for codes in ranks]

    assert 50_000 > MOST_LEVELS
    assert 1.0 == pytest.approx(latents[0].series[0], abs=1e-3)
    assert 0.6 == pytest.approx(correlations(latents)[0, 1], abs=0.01)


@given(seed=st.integers(0, 99), rows=st.integers(1, 40), columns=st.integers(1, 5))
@settings(deadline=None, max_examples=60)
def test_pairs_are_measured_on_the_rows_that_have_both(seed, rows, columns):
    """The sign and the zeros are those of pandas' pairwise correlations of the scores."""
    drawn = np.random.default_rng(seed).integers(-1, 3, (columns, rows))
    codes = [pd.factorize(np.where(c < 0, None, c), sort=True)[0] for c in drawn]
    latents = [Latent.of(c) for c in codes]
    frame = pd.DataFrame(
        {
            index: np.where(latent.present, latent.scores, np.nan)
            for index, latent in enumerate(latents)
        }
    )
    with np.errstate(all="ignore"):
        expected = frame.corr().fillna(0.0).to_numpy()

    result = correlations(latents)

    assert np.isfinite(result).all()
    assert (np.abs(result) <= 1.0).all()
    sure = np.abs(expected) > 1e-6
    np.fill_diagonal(sure, False)
    assert np.sign(expected[sure]).tolist() == np.sign(result[sure]).tolist()
    # A cut takes from a correlation, never the other way round.
    assert (np.abs(result[sure]) > np.abs(expected[sure]) * 0.9).all()


def test_scores_are_the_quantiles_of_mid_ranks():
    codes = np.array([0, 0, 1, -1, 2, 2])

    expected = [ndtri(0.2), ndtri(0.2), ndtri(0.5), 0.0, ndtri(0.8), ndtri(0.8)]
    assert expected == pytest.approx(normal_scores(codes).tolist())


def test_a_constant_column_says_nothing():
    x, _ = normals(0.5, rows=100)
    latents = [Latent.of(cut(x, 0.5, 0.5)), Latent.of(np.zeros(100, np.int64))]

    assert [[1.0, 0.0], [0.0, 1.0]] == correlations(latents).tolist()


def test_a_retained_share_multiplies_what_is_off_the_diagonal():
    matrix = np.array([[1.0, 0.5, -0.2], [0.5, 1.0, 0.1], [-0.2, 0.1, 1.0]])

    expected = [[1.0, 0.3, -0.12], [0.3, 1.0, 0.06], [-0.12, 0.06, 1.0]]
    assert np.allclose(expected, shrink_correlations(matrix, 0.6))
    assert np.allclose(np.eye(3), shrink_correlations(matrix, 0.0))


def test_the_nearest_matrix_is_that_of_higham():
    """Higham 2002, Computing the nearest correlation matrix, section 4."""
    impossible = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 1.0], [0.0, 1.0, 1.0]])

    result = shrink_correlations(impossible, 1.0)

    expected = [[1.0, 0.7607, 0.1573], [0.7607, 1.0, 0.7607], [0.1573, 0.7607, 1.0]]
    assert np.allclose(expected, result, atol=1e-4)


@given(seed=st.integers(0, 99), size=st.integers(1, 12), share=st.floats(0, 1))
@settings(deadline=None, max_examples=60)
def test_whatever_is_wanted_can_be_drawn(seed, size, share):
    half = np.triu(np.random.default_rng(seed).uniform(-1, 1, (size, size)), 1)
    wanted = half + half.T + np.eye(size)

    result = shrink_correlations(wanted, share)

    assert np.allclose(1.0, np.diag(result))
    assert np.linalg.eigvalsh(result)[0] > LEAST / 2
    np.linalg.cholesky(result)
