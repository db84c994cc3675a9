"""Gaussian noise on places, and how much of it a level means."""

from typing import Literal

import numpy as np

from anonloom.data import LARGEST
from anonloom_columns import OrderedColumn, Places

Level = Literal["low", "medium", "high"]

#: Of a number: share of the column's standard deviation. The noise on age in the paper, 1, 3 and 5
#: years, relative to the 15 years by which ages deviate there.
OF_NUMBERS: dict[Level, float] = {"low": 1 / 15, "medium": 1 / 5, "high": 1 / 3}

#: Of a date, in days. The paper's noise on times, in whole days; an hour would move no day.
OF_DATES: dict[Level, float] = {"low": 1.0, "medium": 3.0, "high": 7.0}

#: Of a time, in seconds: an hour, a day, a week, as in the paper.
OF_TIMES: dict[Level, float] = {"low": 3_600.0, "medium": 86_400.0, "high": 604_800.0}


def usual_noise(line: OrderedColumn, level: Level) -> float:
    """Return the standard deviation of the noise that a level means for a column."""
    if line.column.type == "date":
        return OF_DATES[level]
    if line.column.type != "number":
        return OF_TIMES[level]
    return OF_NUMBERS[level] * _deviation(line.places[line.present])


def _deviation(numbers: Places) -> float:
    # Scaled, because the square of a large number is none.
    scale = float(np.abs(numbers).max(initial=0.0))
    return float(np.std(numbers / scale)) * scale if scale else 0.0


def add_noise(
    line: OrderedColumn, deviation: float, clip: bool, rng: np.random.Generator
) -> Places:
    """Return the places with noise.

    Parameters
    ----------
    deviation
        Standard deviation of the noise; 0 returns the places as they are.
    clip
        Whether to keep within the least and the greatest place of the column.
    """
    present = line.present
    # Drawn also for missing cells, so that they shift nobody else's noise.
    noise = rng.standard_normal(len(present))
    if not deviation or not present.any():
        return line.places
    own = line.places[present]
    least, most = (float(own.min()), float(own.max())) if clip else line.limits
    moved = line.places.copy()
    # Bounded, because the sum of two very large numbers is none.
    noisy = own + noise[present] * min(deviation, LARGEST)
    # Before rounding, which turns what is too large into nothing; and after it, which may pass
    # the ends.
    moved[present] = np.clip(line.round_places(np.clip(noisy, least, most)), least, most)
    return moved
