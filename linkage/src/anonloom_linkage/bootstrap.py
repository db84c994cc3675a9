"""Intervals of shares by resampling whole blocks, from sums alone.

Records of one block share their candidates, so that their fates hang together: resampling records
would make the interval too narrow. A share needs two sums per block; all resamples are two matrix
products.
"""

from typing import Literal

import attrs
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: Resamples.
TIMES = 2_000
#: More blocks than this are drawn in groups of whole blocks.
MOST_UNITS = 1_000
#: With fewer blocks there is nothing to resample, and records are drawn.
LEAST_BLOCKS = 10


@attrs.frozen(eq=False)
class Resampled:
    """Resampled shares.

    Attributes
    ----------
    shares
        (resamples x figures).
    unit
        What was resampled.
    """

    shares: Floats
    unit: Literal["blocks", "records"]

    def interval(self, level: float = 0.95) -> list[tuple[float, float]]:
        """Percentile interval of every figure."""
        tail = (1 - level) / 2
        lo, hi = np.quantile(self.shares, [tail, 1 - tail], axis=0)
        return [(float(a), float(b)) for a, b in zip(lo, hi, strict=True)]


def block_bootstrap(
    blocks: NDArray[np.integer],
    hits: NDArray[np.bool_] | Floats,
    rng: np.random.Generator,
    *,
    counted: Floats | NDArray[np.bool_] | None = None,
    times: int = TIMES,
) -> Resampled:
    """Resample shares: the sum of the hits over the sum of what was counted.

    Parameters
    ----------
    blocks
        Block of every record.
    hits
        (records x figures): whether, or how much, each record counts.
    counted
        (records x figures) or one column: the denominators; 1 by default.
    """
    records = len(blocks)
    hits = np.atleast_2d(np.asarray(hits, float).T).T
    counted = np.ones((records, 1)) if counted is None else np.asarray(counted, float)
    counted = np.broadcast_to(np.atleast_2d(counted.T).T, hits.shape)
    _, unit = np.unique(blocks, return_inverse=True)
    number = int(unit.max(initial=-1)) + 1
    few = number < LEAST_BLOCKS
    if few:
        unit, number = np.arange(records), records
    if number > MOST_UNITS:
        # Whole blocks stay together; groups of them are alike, being drawn at random.
        unit = rng.integers(MOST_UNITS, size=number)[unit]
        number = MOST_UNITS
    above, below = (_sums(unit, values, number) for values in (hits, counted))
    drawn = rng.multinomial(number, np.full(number, 1 / number), size=times).astype(float)
    totals = drawn @ below
    shares = np.divide(drawn @ above, totals, out=np.zeros_like(totals), where=totals > 0)
    return Resampled(shares, "records" if few else "blocks")


def _sums(unit: NDArray[np.integer], values: Floats, number: int) -> Floats:
    return np.stack([np.bincount(unit, column, minlength=number) for column in values.T], axis=1)
