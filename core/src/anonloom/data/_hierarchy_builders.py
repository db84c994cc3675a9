"""Where a hierarchy comes from: a file, a tree in the spec, or a rule over the occurring values."""

import re
import unicodedata
from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom.cells import number_text, read_interval
from anonloom.data._hierarchy import STAR, Hierarchy, depth_first
from anonloom.data._hierarchy_files import (
    FromFile,
    HierarchySource,
    LeafTable,
    Tree,
    UncoveredValues,
    Values,
    text_of,
    tree_rows,
)
from anonloom.data._text import normalize_text
from anonloom.errors import DataError
from anonloom.params import not_empty, param

if TYPE_CHECKING:
    from fractions import Fraction

__all__ = [
    "HierarchySource",
    "UncoveredValues",
    "LeafTable",
    "FromFile",
    "Tree",
    "Breaks",
    "Widths",
    "Quantiles",
    "Prefix",
    "Calendar",
    "text_of",
    "tree_rows",
]


@attrs.frozen(kw_only=True)
class Breaks(HierarchySource):
    """Bins of a number between fixed breaks, each level coarser than the one before."""

    suits = frozenset({"number"})

    breaks: tuple[tuple[float, ...], ...] = param(
        help="Per level the ascending breaks; each level uses only breaks of the one before.",
        check=not_empty(),
    )

    def __attrs_post_init__(self) -> None:
        """Refuse levels that do not nest."""
        for level in self.breaks:
            if not level or list(level) != sorted(set(level)):
                raise ValueError("the breaks of a level must be ascending and not repeated")
        for finer, coarser in pairwise(self.breaks):
            if not set(coarser) < set(finer):
                raise ValueError("each level may use only breaks of the level before, and fewer")

    def over(self, values: Values, unknown_own_leaf: bool) -> tuple[Hierarchy, NDArray[np.int64]]:
        """See `HierarchySource.over`."""
        levels = [text_of(values)]
        for breaks in self.breaks:
            labels = _bin_labels(breaks)
            bins = np.searchsorted(np.asarray(breaks, float), values, side="right")
            levels.append([labels[index] for index in bins])
        levels.append([STAR] * len(values))
        return Hierarchy.of_levels(levels), np.arange(len(values))

    def stand_in(self, label: str) -> float | None:
        """Return the lower end of the bin, or a number below the first break."""
        for breaks in self.breaks:
            labels = _bin_labels(breaks)
            if label in labels:
                first = breaks[0]
                return (first - max(abs(first), 1.0), *breaks)[labels.index(label)]
        return None

    def only(self, shown: Collection[float]) -> "Breaks":
        """Return the breaks without those that are not shown; bins are then wider, never torn."""
        levels: list[tuple[float, ...]] = []
        for level in self.breaks:
            breaks = tuple(value for value in level if value in shown)
            if breaks and (not levels or len(breaks) < len(levels[-1])):
                levels.append(breaks)
        # One bin on either side of a break that says nothing of the values.
        return Breaks(breaks=tuple(levels) or ((0.0,),))


def _bin_labels(breaks: Sequence[float]) -> list[str]:
    """Labels of the bins below, between and above breaks."""
    ends = [number_text(end) for end in breaks]
    between = [f"[{lo}, {hi})" for lo, hi in pairwise(ends)]
    return [f"< {ends[0]}", *between, f">= {ends[-1]}"]


@attrs.frozen(kw_only=True)
class Widths(HierarchySource):
    """Bins of equal width, wider on each level."""

    suits = frozenset({"number"})

    widths: tuple[float, ...] = param(
        help="Width of the bins per level, each a multiple of the one before.", check=not_empty()
    )
    start: float = param(help="Where the bins begin.", default=0.0)

    def __attrs_post_init__(self) -> None:
        """Refuse widths that do not nest."""
        if any(width <= 0 for width in self.widths):
            raise ValueError("a width must be greater than 0")
        for finer, coarser in pairwise(self.widths):
            ratio = _exact(coarser) / _exact(finer)
            if ratio < 2 or ratio.denominator != 1:
                raise ValueError("each width must be a multiple of the one before")

    def over(self, values: Values, unknown_own_leaf: bool) -> tuple[Hierarchy, NDArray[np.int64]]:
        """See `HierarchySource.over`."""
        finest = self._bins(values)
        levels = [text_of(values)]
        for width in self.widths:
            # Nesting is exact on whole bins, whatever the rounding of the values.
            step = int(_exact(width) / _exact(self.widths[0]))
            bins, which = np.unique(finest // step, return_inverse=True)
            lows, highs = self._ends(bins, width), self._ends(bins + 1, width)
            labels = [
                f"[{number_text(lo)}, {number_text(hi)})"
                for lo, hi in zip(lows, highs, strict=True)
            ]
            levels.append([labels[index] for index in which])
        levels.append([STAR] * len(values))
        return Hierarchy.of_levels(levels), np.arange(len(values))

    def stand_in(self, label: str) -> float | None:
        """Return the lower end of the bin."""
        ends = read_interval(label)
        if ends is None or ends.closed:
            return None
        try:
            low = float(ends.lo)
        except ValueError:
            return None
        return low if label in self.over(np.array([low]), False)[0].labels else None

    def _bins(self, values: Values) -> NDArray[np.int64]:
        """Find the finest bin of every value: the one whose written ends it lies between.

        0.3 / 0.1 is less than 3 in floating point, yet 0.3 belongs to the bin [0.3, 0.4). The
        quotient is therefore only a guess, and the ends as they are written decide.
        """
        with np.errstate(over="ignore"):
            guess = np.floor((values - self.start) / self.widths[0])
        if (np.abs(guess) >= 2**52).any():
            raise DataError(self._too_narrow())
        first = guess.astype(np.int64) - 1
        bins = np.unique(np.concatenate([first, first + 1, first + 2]))
        ends = self._ends(bins, self.widths[0])
        if (np.diff(ends) <= 0).any():
            raise DataError(self._too_narrow())
        return bins[np.searchsorted(ends, values, side="right") - 1]

    def _ends(self, bins: NDArray[np.int64], width: float) -> NDArray[np.float64]:
        """Lower ends of bins, each the float that is nearest to the exact one."""
        start, step = _exact(self.start), _exact(width)
        # Division of Python's integers rounds once, however large they are.
        scale = start.denominator * step.denominator
        begin, by = int(start * scale), int(step * scale)
        return np.array([(begin + index * by) / scale for index in bins.tolist()])

    def _too_narrow(self) -> str:
        return f"bins of width {number_text(self.widths[0])} are too narrow for such large numbers"


def _exact(value: float) -> "Fraction":
    """Return the number that a person wrote: 0.1 is a tenth."""
    # Imported here: few columns are cut into bands.
    from fractions import Fraction

    return Fraction(repr(float(value)))


#: More bins than anybody can tell apart; each costs memory, whether or not a value lies in it.
MOST_BINS = 100_000


@attrs.frozen(kw_only=True)
class Quantiles(HierarchySource):
    """Bins of a number that hold about equally many distinct values."""

    suits = frozenset({"number"})

    groups: tuple[int, ...] = param(
        help="Number of bins per level, each a divisor of the one before, for example [16, 4, 2].",
        check=not_empty(),
    )

    def __attrs_post_init__(self) -> None:
        """Refuse numbers of bins that do not nest."""
        if not all(2 <= count <= MOST_BINS for count in self.groups):
            raise ValueError(f"a level needs 2 to {MOST_BINS} bins")
        for finer, coarser in pairwise(self.groups):
            if coarser >= finer or finer % coarser:
                raise ValueError("each number of bins must divide the one before")

    def breaks_over(self, values: Values) -> Breaks:
        """Return the breaks that these values give; where there is none, bins around one."""
        if len(values) < 2:
            return Breaks(breaks=((float(values[0]) if len(values) else 0.0,),))
        finest = self.groups[0]
        cuts = np.quantile(values, np.arange(1, finest) / finest)
        levels: list[tuple[float, ...]] = []
        for count in self.groups:
            step = finest // count
            breaks = tuple(np.unique(cuts[step - 1 :: step]).tolist())
            # Few values, few different breaks: a level that divides no coarser says nothing.
            if not levels or len(breaks) < len(levels[-1]):
                levels.append(breaks)
        return Breaks(breaks=tuple(levels))

    def over(self, values: Values, unknown_own_leaf: bool) -> tuple[Hierarchy, NDArray[np.int64]]:
        """See `HierarchySource.over`."""
        return self.breaks_over(values).over(values, unknown_own_leaf)

    def stand_in(self, label: str) -> None:
        """Return None: which bins there are depends on the values."""


@attrs.frozen(kw_only=True)
class Prefix(HierarchySource):
    """Codes such as postal codes, masked from the end."""

    suits = frozenset({"category"})

    keep: tuple[int, ...] = param(
        help="How many leading characters each level keeps, for example [3, 2, 1].",
        check=not_empty(),
    )
    mask: str = param(help="What replaces the characters that are cut.", default="*")

    def __attrs_post_init__(self) -> None:
        """Refuse lengths that do not shrink."""
        if list(self.keep) != sorted(set(self.keep), reverse=True) or self.keep[-1] < 1:
            raise ValueError("'keep' must fall from level to level and stay at least 1")
        if len(self.mask) != 1:
            raise ValueError("'mask' must be one character")
        if unicodedata.category(self.mask)[0] in "CMZ":
            # A control, a mark that joins the character before it, a blank.
            raise ValueError("'mask' must be a character that is seen by itself")

    def over(self, values: Values, unknown_own_leaf: bool) -> tuple[Hierarchy, NDArray[np.int64]]:
        """See `HierarchySource.over`."""
        codes = text_of(values)
        masked = sum(self.mask in code[self.keep[-1] :] for code in codes)
        if masked:
            # Published beside masked codes, nobody could tell such a code from a group of codes.
            raise DataError(
                f"{masked} of {len(codes)} codes {'holds' if masked == 1 else 'hold'} the mask "
                f"{self.mask!r} where it stands for what is cut; choose another 'mask'"
            )
        levels: list[list[str]] = [codes]
        for keep in self.keep:
            # A cut may leave half of what the characters meant together.
            kept = [normalize_text(code[:keep]) for code in codes]
            rest = [self.mask * max(0, len(code) - keep) for code in codes]
            levels.append([begin + cut for begin, cut in zip(kept, rest, strict=True)])
        levels.append([STAR] * len(codes))
        order = depth_first(levels, np.arange(len(codes)))
        levels = [[level[index] for index in order] for level in levels]
        return Hierarchy.of_levels(levels, quote=False), order

    def stand_in(self, label: str) -> str | None:
        """Return the code whose masked characters are all zero."""
        # From the shortest: what is kept holds no mask.
        for keep in reversed(self.keep):
            cut = len(label) - keep
            if cut > 0 and label[keep:] == self.mask * cut:
                return label[:keep] + ("1" if self.mask == "0" else "0") * cut
        return None


CalendarUnit = Literal["hour", "quarter-day", "day", "month", "quarter", "year", "decade"]

#: From fine to coarse: numpy's unit, and how many of it there are in one of ours. All of them
#: begin anew with the year 1970, from which numpy counts.
_UNITS: dict[CalendarUnit, tuple[str, int]] = {
    "hour": ("h", 1),
    "quarter-day": ("h", 6),
    "day": ("D", 1),
    "month": ("M", 1),
    "quarter": ("M", 3),
    "year": ("Y", 1),
    "decade": ("Y", 10),
}
_OF_TIMES: tuple[CalendarUnit, ...] = tuple(_UNITS)
_OF_DATES: tuple[CalendarUnit, ...] = ("month", "quarter", "year", "decade")


@attrs.frozen(kw_only=True)
class Calendar(HierarchySource):
    """Nesting units of the calendar over days, or over times of day."""

    suits = frozenset({"date", "time"})

    units: tuple[CalendarUnit, ...] | None = param(
        help="Units from fine to coarse; by default month, quarter, year and decade over a date, "
        "and hour, quarter-day and day below them over a time.",
        default=None,
        check=not_empty(),
    )

    def __attrs_post_init__(self) -> None:
        """Refuse units that do not grow."""
        ranks = [_OF_TIMES.index(unit) for unit in self.units or ()]
        if ranks != sorted(set(ranks)):
            raise ValueError(f"units must go from fine to coarse: {', '.join(_OF_TIMES)}")

    @property
    def within_months(self) -> tuple[CalendarUnit, ...]:
        """The units that say nothing of a date."""
        return tuple(unit for unit in self.units or () if unit not in _OF_DATES)

    def over(self, values: Values, unknown_own_leaf: bool) -> tuple[Hierarchy, NDArray[np.int64]]:
        """See `HierarchySource.over`."""
        days = np.datetime_data(values.dtype)[0] == "D"
        units = self.units or (_OF_DATES if days else _OF_TIMES)
        groups = [_groups(values, unit) for unit in units]
        levels = [text_of(values), *groups, [STAR] * len(values)]
        return Hierarchy.of_levels(levels), np.arange(len(values))

    def stand_in(self, label: str) -> str | None:
        """Return the first day of the unit, or its first second where it is within a day."""
        match = _UNIT.fullmatch(label)
        if match is None:
            return None
        month = match["month"] or f"{3 * int(match['quarter'] or 1) - 2:02d}"
        day = f"{match['year']}-{month}-{match['day'] or '01'}"
        return f"{day} {match['hour']}:00:00" if match["hour"] else day


#: A unit as `_label` writes it.
_UNIT = re.compile(
    r"(?P<year>-?\d{4,})(?:s|-Q(?P<quarter>[1-4])"
    r"|-(?P<month>\d\d)(?:-(?P<day>\d\d)(?: (?P<hour>\d\d)(?:-\d\d)?h)?)?)?",
    re.ASCII,
)


def _groups(values: Values, unit: CalendarUnit) -> list[str]:
    """Labels of the units that moments lie in, each written once."""
    counted, length = _UNITS[unit]
    numbers = values.astype(f"datetime64[{counted}]").astype(np.int64) // length
    result, which = np.unique(numbers, return_inverse=True)
    labels = [_label(unit, str(start)) for start in (result * length).astype(f"M8[{counted}]")]
    return [labels[index] for index in which]


def _label(unit: CalendarUnit, start: str) -> str:
    """Write a unit, given its beginning; no two units of any length are written alike."""
    if unit == "hour":
        return start.replace("T", " ") + "h"
    if unit == "quarter-day":
        day, hour = start.split("T")
        return f"{day} {hour}-{int(hour) + 6:02d}h"
    if unit == "quarter":
        year, month = start.rsplit("-", 1)
        return f"{year}-Q{(int(month) + 2) // 3}"
    return start + "s" if unit == "decade" else start
