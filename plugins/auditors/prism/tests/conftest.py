"""Random tables for several tests, and slow measures to compare with."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import contingency

from anonloom_prism.encoding import EncodedTable
from anonloom_prism.pair_counts import Grams
from anonloom_prism.targets import Targets

Slow = Callable[[NDArray[np.integer], NDArray[np.bool_]], float]


def _random_grams(seed: int, rows: int, attributes: int) -> Grams:
    """Make attributes of 2 to 4 levels, each of which occurs, and three classes."""
    rng = np.random.default_rng(seed)
    levels = rng.integers(2, 5, attributes)
    codes = np.stack([rng.integers(0, count, rows) for count in levels]).astype(np.uint8)
    codes[:, :4] = np.minimum(np.arange(4), levels[:, None] - 1)
    names = tuple(f"a{index}" for index in range(attributes))
    classes = rng.integers(0, 3, rows)
    classes[:3] = [0, 1, 2]
    asked = Targets.of(classes, ["x", "y"], others=True)
    return Grams(EncodedTable(names, codes, levels, (None,) * attributes), asked)


def _slow_v(cells: NDArray[np.integer], true: NDArray[np.bool_]) -> float:
    """Bergsma's formulas, from scipy's V of the crossed table."""
    table = contingency.crosstab(true, cells).count
    n, (r, c) = len(cells), table.shape
    if c < 2:
        return 0.0
    phi2 = contingency.association(table, method="cramer") ** 2 * min(r - 1, c - 1)
    left = max(0.0, phi2 - (r - 1) * (c - 1) / (n - 1))
    wide, high = c - (c - 1) ** 2 / (n - 1), r - (r - 1) ** 2 / (n - 1)
    most = min(wide - 1, high - 1)
    return float(min(1.0, np.sqrt(left / most))) if most > 1e-9 else 0.0


def _slow_gain(cells: NDArray[np.integer], true: NDArray[np.bool_]) -> float:
    """Leave every row out in its turn."""
    score = {True: 0.0, False: 0.0}
    for row in range(len(cells)):
        others = np.arange(len(cells)) != row
        alike = others & (cells == cells[row])
        if not alike.any():
            score[bool(true[row])] += 0.5
            continue
        more = true[alike].sum() * others.sum() - true[others].sum() * alike.sum()
        right = more if true[row] else -more
        score[bool(true[row])] += 0.5 if right == 0 else float(right > 0)
    return max(0.0, float(score[True] / true.sum() + score[False] / (~true).sum() - 1))


@pytest.fixture(scope="session")
def random_grams() -> Callable[[int, int, int], Grams]:
    """Make Gram matrices from a seed, a number of rows and one of attributes."""
    return _random_grams


@pytest.fixture(scope="session")
def slow() -> dict[str, Slow]:
    """Measures of joint levels and a target, row by row."""
    return {"cramers-v": _slow_v, "classifier": _slow_gain}
