"""From data to places on paper: scales with ticks at numbers that people like."""

import math
from collections.abc import Sequence
from itertools import pairwise

import attrs


def nice_step(span: float, wanted: int) -> float:
    """Return the step of 1, 2, 2.5 or 5 times a power of ten that gives about so many ticks."""
    raw = span / max(wanted, 1)
    power = 10.0 ** math.floor(math.log10(raw))
    return next(power * nice for nice in (1, 2, 2.5, 5, 10) if power * nice >= raw * 0.999)


def tick_text(value: float, step: float) -> str:
    """Write a tick with as many decimals as its step needs."""
    if abs(value) >= 1e6:
        return f"{value / 1e6:g}M"
    if abs(value) >= 10_000:
        return f"{value / 1e3:g}k"
    if abs(step) < 1e-4:
        return f"{value:.2g}"
    decimals = max(0, -math.floor(math.log10(abs(step)) + 1e-9)) if step else 0
    # 2.5 has one decimal more than its power of ten.
    if step and round(step, decimals) != round(step, 12):
        decimals += 1
    return f"{value:,.{decimals}f}"


@attrs.frozen
class Scale:
    """A line from the values [lo, hi] to the places [start, stop].

    Attributes
    ----------
    ticks
        Values and texts of the ticks.
    logarithmic
        Whether equal ratios are equally far apart.
    """

    lo: float
    hi: float
    start: float
    stop: float
    ticks: tuple[tuple[float, str], ...]
    logarithmic: bool = False

    @classmethod
    def linear(
        cls, lo: float, hi: float, start: float, stop: float, *, wanted: int = 5, zero: bool = False
    ) -> "Scale":
        """Return a scale that ends at ticks; from zero if asked or if zero is near anyway."""
        if zero or (0 <= lo < 0.4 * hi):
            lo, hi = min(lo, 0.0), max(hi, 0.0)
        # As good as one value: apart by less than a drawing, or a number of its size, can show.
        if hi - lo < max(1e-9 * max(abs(hi), abs(lo)), 1e-100):
            room = abs(hi) * 0.1 or 1.0
            lo, hi = (min(lo, 0.0), hi or 1.0) if zero else (lo - room, hi + room)
        step = nice_step(hi - lo, wanted)
        first, last = math.floor(lo / step + 1e-9), math.ceil(hi / step - 1e-9)
        values = [float(f"{index * step:.12g}") for index in range(first, last + 1)]
        ticks = tuple((value, tick_text(value, step)) for value in values)
        return cls(values[0], values[-1], start, stop, ticks)

    @classmethod
    def through(cls, values: Sequence[float], start: float, stop: float) -> "Scale":
        """Return a scale for a varied parameter: ticks at its values when these are few."""
        distinct = sorted(set(values))
        lo, hi = distinct[0], distinct[-1]
        # Numbers of such a size have logarithms, and ratios that are numbers.
        fit = lo > 1e-100 and hi < 1e100
        log = fit and hi / lo >= 15 and len(distinct) > 2 and not _even(distinct)
        if len(distinct) > 9 and not log:
            return cls.linear(lo, hi, start, stop)
        room = (hi - lo) * 0.04 or abs(hi) * 0.1 or 1.0
        ends = (lo / (hi / lo) ** 0.04, hi * (hi / lo) ** 0.04) if log else (lo - room, hi + room)
        shown = distinct if len(distinct) <= 9 else _powers(lo, hi)
        ticks = tuple((value, _own_text(value)) for value in shown)
        return cls(ends[0], ends[1], start, stop, ticks, log).with_fewer_ticks()

    def with_fewer_ticks(self) -> "Scale":
        """Return the scale without ticks whose texts would touch."""
        kept: list[tuple[float, str]] = []
        free = -math.inf
        for value, label in self.ticks:
            half = len(label) * 3.6 + 3
            if self(value) - half >= free:
                kept.append((value, label))
                free = self(value) + half
        return attrs.evolve(self, ticks=tuple(kept))

    def __call__(self, value: float) -> float:
        """Return the place of a value."""
        lo, hi = self.lo, self.hi
        if self.logarithmic:
            lo, hi, value = math.log(lo), math.log(hi), math.log(value)
        return self.start + (value - lo) / (hi - lo) * (self.stop - self.start)


def _even(values: Sequence[float]) -> bool:
    """Whether the steps are equal: such values are drawn as far apart as they are."""
    step = (values[-1] - values[0]) / (len(values) - 1)
    return all(abs(b - a - step) <= 1e-6 * step for a, b in pairwise(values))


def _powers(lo: float, hi: float) -> list[float]:
    exponents = range(math.floor(math.log10(lo)), math.ceil(math.log10(hi)) + 1)
    return [10.0**e for e in exponents if lo <= 10.0**e <= hi]


def _own_text(value: float) -> str:
    if abs(value) >= 10_000:
        return tick_text(value, 1.0)
    return f"{value:.6g}"
