"""Intervals of shares by resampling whole blocks, from sums alone.

Records of one block share their candidates, so that their fates hang together: resampling records
would make the interval too narrow. A share needs two sums per block; all resamples are two matrix
products.
"""

from typing import Literal

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom.typing import BoolArray, FloatArray, IntArray

__all__ = ["TIMES", "BootstrapShares", "block_bootstrap"]

Values = FloatArray | BoolArray

#: Resamples.
TIMES = 2_000
#: More blocks than this are drawn in groups of whole blocks.
MOST_UNITS = 1_000
#: With fewer blocks there is nothing to resample, and records are drawn.
LEAST_BLOCKS = 10


@attrs.frozen(eq=False)
class BootstrapShares:
    """Shares of every resample.

    Attributes
    ----------
    shares
        (resamples x figures). A resample in which nothing is counted repeats the share of all
        records, which is 0 where nothing is counted at all.
    unit
        What was resampled.
    """

    shares: FloatArray
    unit: Literal["blocks", "records"]

    def interval(self, level: float = 0.95) -> list[tuple[float, float]]:
        """Percentile interval of every figure."""
        tail = (1 - level) / 2
        lo, hi = np.quantile(self.shares, [tail, 1 - tail], axis=0)
        return [(float(a), float(b)) for a, b in zip(lo, hi, strict=True)]


def block_bootstrap(
    blocks: NDArray[np.integer],
    hits: Values,
    rng: np.random.Generator,
    *,
    counted: Values | None = None,
    times: int = TIMES,
) -> BootstrapShares:
    """Resample shares: the sum of the hits over the sum of what was counted.

    Parameters
    ----------
    blocks
        Block of every record.
    hits
        (records x figures): whether, or how much, each record counts; or one column.
    counted
        (records x figures) or one column: the denominators; 1 by default.
    """
    records = len(blocks)
    hits = _in_columns(hits)
    counted = np.ones((records, 1), bool) if counted is None else _in_columns(counted)
    _, unit = np.unique(blocks, return_inverse=True)
    number = int(unit.max(initial=-1)) + 1
    few = number < LEAST_BLOCKS
    if few:
        unit, number = np.arange(records), records
    if number > MOST_UNITS:
        # Whole blocks stay together; groups of them are alike, being drawn at random.
        unit = (rng.permutation(number) % MOST_UNITS)[unit]
        number = MOST_UNITS
    above, below = (_sums(unit, values, number) for values in (hits, counted))
    counts = _draw_counts(number, times, rng)
    shares = _shares(counts @ above, counts @ below, _shares(above.sum(0), below.sum(0), 0.0))
    return BootstrapShares(shares, "records" if few else "blocks")


def _in_columns(values: Values) -> Values:
    return values[:, None] if values.ndim == 1 else values


def _sums(unit: IntArray, values: Values, number: int) -> FloatArray:
    """Sum every figure over every unit."""
    sums = [np.bincount(unit, column, minlength=number) for column in values.T]
    return np.stack(sums, axis=1).astype(float)


def _draw_counts(number: int, times: int, rng: np.random.Generator) -> FloatArray:
    """(resamples x units): how often each unit is drawn."""
    draws = rng.integers(max(number, 1), size=(times, number))
    draws += number * np.arange(times)[:, None]
    counts = np.bincount(draws.ravel(), minlength=times * number)
    return counts.reshape(times, number).astype(float)


def _shares(above: FloatArray, below: FloatArray, otherwise: FloatArray | float) -> FloatArray:
    below = np.broadcast_to(below, above.shape)
    shares = np.broadcast_to(otherwise, above.shape).astype(float)
    some = below > 0
    shares[some] = above[some] / below[some]
    return shares
