"""Formula beside simulation: how far apart they are, and how both are drawn."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import attrs
import numpy as np

from anonloom.lazy import lazy_module
from anonloom.typing import FloatArray
from anonloom_sentinels_twins.simulation import Share
from anonloom_sentinels_twins.tolerant import more_than
from anonloom_sentinels_twins.work_check import Campaign

special = lazy_module("scipy.special")


@attrs.frozen(kw_only=True)
class Plan:
    """What an experiment is about.

    Attributes
    ----------
    classes
        The share of the jobs that each class has, the largest first.
    workers, lazy, omission, budget
        As in `Campaign`.
    jobs
        Genuine rows.
    runs
        Simulated campaigns for every point of a figure.
    """

    classes: tuple[float, ...]
    workers: int
    lazy: int
    omission: float
    budget: int
    jobs: int
    runs: int

    def campaign(self, **changes: Any) -> Campaign:
        """Return the campaign that is declared, with some of it changed."""
        declared = Campaign(
            jobs=self.jobs,
            workers=self.workers,
            lazy=self.lazy,
            omission=self.omission,
            classes=self.classes,
            budget=self.budget,
        )
        return attrs.evolve(declared, **changes)


@attrs.frozen
class Comparison:
    """A probability by formula, and the share of simulated campaigns."""

    formula: float
    simulated: Share

    @property
    def deviation(self) -> float:
        """How unexpected the share is, in standard errors.

        From the exact binomial tail, not from a quotient: where hardly any campaign is expected, a
        single one would be many standard errors.
        """
        count, runs = self.simulated.count, self.simulated.runs
        above = float(more_than(count - 1, runs, self.formula))
        below = 1 - float(more_than(count, runs, self.formula))
        return max(0.0, -float(special.ndtri(max(min(above, below), 1e-300))))


def largest(comparisons: Iterable[Comparison]) -> float:
    """Return the largest deviation."""
    return max((comparison.deviation for comparison in comparisons), default=0.0)


def by_chance(comparisons: int) -> float:
    """Return what the largest of so many deviations exceeds in one of a hundred experiments."""
    return -float(special.ndtri(0.01 / (2 * max(1, comparisons))))


@attrs.frozen(eq=False)
class Curve:
    """A line from the formula and points from simulation.

    Attributes
    ----------
    name
        What it is of.
    line
        Places and values of the formula.
    at, points
        Places that were simulated, and what came out.
    """

    name: str
    line: tuple[FloatArray, FloatArray]
    at: tuple[float, ...]
    points: tuple[Comparison, ...]

    def series(self) -> dict[str, dict[str, list[float]]]:
        """Return the series of a chart: the line, then the points with their intervals."""
        shares = [point.simulated for point in self.points]
        ends = [share.interval() for share in shares]
        return {
            f"{self.name}, formula": {"x": _plain(self.line[0]), "y": _plain(self.line[1])},
            f"{self.name}, simulated": {
                "x": _plain(self.at),
                "y": _plain([share.share for share in shares]),
                "low": _plain([low for low, _ in ends]),
                "high": _plain([high for _, high in ends]),
            },
        }


def all_series(curves: Sequence[Curve]) -> dict[str, Any]:
    """Return the series of a chart with several curves."""
    return {name: series for curve in curves for name, series in curve.series().items()}


def _plain(values: Sequence[float] | FloatArray) -> list[float]:
    return [value if math.isfinite(value) else 0.0 for value in np.asarray(values, float).tolist()]
