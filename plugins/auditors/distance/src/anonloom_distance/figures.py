"""Figures of distances and of shares, with intervals, and what to say where there are none."""

from collections.abc import Mapping

import attrs
import numpy as np

from anonloom import Finding
from anonloom.findings import Better, FindingBuilder, Status
from anonloom.typing import FloatArray
from anonloom_distance.search import Nearest
from anonloom_linkage.bootstrap import TIMES, block_bootstrap

#: Half of the width of an interval of 95 %, in standard deviations.
TWO_SIDED = 1.96
#: The figures that a steward needs first.
KEY = frozenset({"copies", "identifiability_excess"})


@attrs.frozen(eq=False)
class BootstrapMean:
    """A mean over rows, and what it would have been in other samples of them."""

    value: float
    resampled: FloatArray

    @classmethod
    def constant(cls, value: float) -> "BootstrapMean":
        """Return a figure that does not depend on the sample."""
        return cls(value, np.full(TIMES, value))

    @property
    def interval(self) -> tuple[float, float]:
        """Interval of 95 %."""
        low, high = np.quantile(self.resampled, [0.025, 0.975])
        # A mean lies in its interval, whatever rounding does to equal numbers.
        return min(float(low), self.value), max(float(high), self.value)

    def relative_to(self, null: "BootstrapMean") -> "BootstrapMean | None":
        """Return the figure as a multiple of another; None of 0."""
        if null.value <= 0:
            return None
        below = np.where(null.resampled > 0, null.resampled, null.value)
        return BootstrapMean(self.value / null.value, self.resampled / below)

    def above(self, null: "BootstrapMean") -> "BootstrapMean | None":
        """Return the excess over a null share as a part of what is possible; None where all is."""
        if null.value >= 1:
            return None
        room = np.where(null.resampled < 1, 1 - null.resampled, 1 - null.value)
        excess = (self.resampled - null.resampled) / room
        return BootstrapMean((self.value - null.value) / (1 - null.value), excess)


def bootstrap_means(
    columns: Mapping[str, FloatArray], rng: np.random.Generator
) -> dict[str, BootstrapMean | None]:
    """Average several figures of the same rows, and draw the rows anew, alike for all figures.

    Parameters
    ----------
    columns
        The figures of every row; NaN where a row has none. Nothing comes of a column of those.
    """
    values = np.stack(list(columns.values()), axis=1)
    known = ~np.isnan(values)
    values = np.where(known, values, 0.0)
    one_block = np.zeros(len(values), np.int64)
    shares = block_bootstrap(one_block, values, rng, counted=known.astype(float)).shares
    results: dict[str, BootstrapMean | None] = {}
    for index, name in enumerate(columns):
        count = int(known[:, index].sum())
        mean = float(values[:, index].sum()) / max(count, 1)
        results[name] = BootstrapMean(mean, shares[:, index]) if count else None
    return results


def distances(nearest: Nearest) -> FloatArray:
    """Distance of the nearest; NaN without one."""
    return np.where(np.isfinite(nearest.distance), nearest.distance, np.nan)


def ratios(nearest: Nearest) -> FloatArray:
    """Distance of the nearest over that of the second; NaN without a second.

    Two at distance 0 make a ratio of 1: no single one of them is the nearest.
    """
    some = np.isfinite(nearest.second) & (nearest.second > 0)
    ratio = np.where(np.isfinite(nearest.second), 1.0, np.nan)
    return np.divide(nearest.distance, nearest.second, out=ratio, where=some)


def nearer_share(one: Nearest, other: Nearest) -> FloatArray:
    """Whether the nearest row overall is of the first table, for every row that asks both.

    Ties by expectation: one of all that are nearest, drawn at random.
    """
    nearer, farther = one.nearer(other.distance), one.farther(other.distance)
    ties = one.ties / np.maximum(one.ties + other.ties, 1)
    return np.where(nearer, 1.0, np.where(farther, 0.0, ties))


def quantile(values: FloatArray, share: float) -> tuple[float, tuple[float, float]] | None:
    """Return a quantile and its interval, from the ranks that it may have in other samples."""
    ordered = np.sort(values[~np.isnan(values)])
    n = len(ordered)
    if not n:
        return None
    away = TWO_SIDED * np.sqrt(n * share * (1 - share))
    low, high = (int(np.clip(n * share + by, 0, n - 1)) for by in (-away, away))
    value = float(np.quantile(ordered, share))
    return value, (min(float(ordered[low]), value), max(float(ordered[high]), value))


def figure(
    name: str,
    mean: BootstrapMean | None,
    meaning: str,
    better: Better,
    assumptions: tuple[str, ...],
    *,
    reason: str = "",
    status: Status = "measured",
    known: bool = False,
) -> Finding:
    """Make a finding.

    Parameters
    ----------
    reason
        Why there is no value, where there is none.
    known
        Whether the figure does not depend on the sample and has no interval.
    """
    finding, key = FindingBuilder(assumptions), name in KEY
    if mean is None:
        return finding(name, None, meaning, better, lacking=reason, key=key)
    interval = None if known else mean.interval
    return finding(name, mean.value, meaning, better, interval=interval, status=status, key=key)
