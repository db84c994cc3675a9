"""What a split asks, in words: a round threshold near two values, or a node's name.

A split lies between two cells of the table, and the report is public: a threshold is told on a
scale that is coarse against the whole column, a value of a category only where the pipeline file
lists it.
"""

from decimal import Decimal
from typing import Any, Literal

import numpy as np

from anonloom.data.axis import Axis
from anonloom.data.cells import MOMENTS, moment_texts

#: Powers of ten that thresholds are multiples of, from the roundest on.
_POWERS = range(18, -19, -1)
#: Units that moments are rounded to.
_UNITS = ("Y", "M", "D", "h", "m", "s")
#: Most steps of a scale over all values of a column.
MOST_STEPS = 20
#: Steps of the scale of moments, from fine to coarse: how many of which unit.
_STEPS: dict[str, tuple[tuple[int, Literal["D", "M", "Y"]], ...]] = {
    "date": ((1, "M"), (3, "M"), (1, "Y"), (2, "Y"), (5, "Y"), (10, "Y"), (50, "Y")),
    "time": ((1, "D"), (1, "M"), (3, "M"), (1, "Y"), (2, "Y"), (5, "Y"), (10, "Y"), (50, "Y")),
}


def questions(
    axis: Axis, begin: int, end: int, last: int, *, listed: bool = False
) -> tuple[str, str]:
    """Say what holds for the rows that a split takes out, and for those that remain.

    Parameters
    ----------
    begin, end
        First and last code that is taken out.
    last
        Last code of the node along the axis, before the split.
    listed
        Whether the pipeline file lists the values of a category, so that they are no secret.
    """
    name = axis.name
    if axis.missing >= 0 and begin == axis.missing:
        return f"{name} missing", f"{name} known"
    if end + 1 == axis.missing == last and (axis.type != "category" or axis.occurring == 1):
        return f"{name} known", f"{name} missing"
    if axis.type == "category":
        if begin == end and not listed:
            return f"{name}: one value", f"{name}: the others"
        label = _node(axis, begin, end)
        return f"{name}: {label}", f"{name}: not {label}"
    text = coarse_threshold(axis, end)
    if text is None:
        return parts_of(axis, begin, end, last)
    unknown = " or missing" if last == axis.missing else ""
    return f"{name} < {text}", f"{name} ≥ {text}{unknown}"


def parts_of(axis: Axis, begin: int, end: int, last: int) -> tuple[str, str]:
    """Say along which column a split lies, and nothing of where; arguments as of `questions`."""
    if axis.type == "category":
        return f"{axis.name}: one group", f"{axis.name}: the others"
    return f"lower {axis.name}", f"higher {axis.name}"


def _node(axis: Axis, begin: int, end: int) -> str:
    node = axis.node(np.array([begin]), np.array([end]))[0]
    assert axis.hierarchy is not None
    return axis.hierarchy.labels[int(node)]


def coarse_threshold(axis: Axis, code: int) -> str | None:
    """Write where a split lies on a scale of few steps over all values; None without such a scale.

    Where no step lies between the two values, it is about the step that is next to them.
    """
    below, next_one = axis.values[code], axis.values[code + 1]
    if axis.type in MOMENTS:
        return _coarse_moment(axis, below, next_one)
    step = _step(float(axis.values[axis.occurring - 1]) - float(axis.values[0]))
    exact = threshold(axis, code)
    if not Decimal(exact) % step:
        return exact
    middle = (Decimal(repr(float(below))) + Decimal(repr(float(next_one)))) / 2
    return f"about {_written((middle / step).to_integral_value() * step)}"


def _step(width: float) -> Decimal:
    """Return the least of 1, 2, 5, 10, ..., and of their tenths, that gives few steps."""
    power = int(np.floor(np.log10(width))) if width > 0 else 0
    steps = (Decimal(digit).scaleb(power - 2 + up) for up in range(4) for digit in (1, 2, 5))
    return next(step for step in steps if float(step) * MOST_STEPS >= width)


def _written(number: Decimal) -> str:
    return f"{number.normalize():f}"


def _coarse_moment(axis: Axis, below: Any, next_one: Any) -> str | None:
    first, last = axis.values[0], axis.values[axis.occurring - 1]
    unit = MOMENTS[axis.type]
    for length, of in _STEPS[axis.type]:
        numbers = [
            int(moment.astype(f"datetime64[{of}]").astype(np.int64)) // length
            for moment in (first, last, below, next_one)
        ]
        if numbers[1] - numbers[0] > MOST_STEPS:
            continue
        if numbers[1] == numbers[0]:
            return None
        # The step that begins after the lower value and not after the other, or one beside them.
        step = np.datetime64(numbers[3] * length, of).astype(f"datetime64[{unit}]")
        text = moment_texts(np.array([step]), unit)[0]
        return text if below < step <= next_one else f"about {text}"
    return None


def threshold(axis: Axis, code: int) -> str:
    """Write the roundest number or moment above the value of a code, up to the next value."""
    below, next_one = axis.values[code], axis.values[code + 1]
    if axis.type in MOMENTS:
        return _moment(axis, below, next_one)
    return _number(float(below), float(next_one))


def _number(below: float, up_to: float) -> str:
    least, most = Decimal(repr(below)), Decimal(repr(up_to))
    for power in _POWERS:
        step = Decimal(1).scaleb(power)
        multiple = (least / step).to_integral_value("ROUND_FLOOR") * step + step
        if least < multiple <= most:
            return _written(multiple)
    return _written(most)


def _moment(axis: Axis, below: Any, up_to: Any) -> str:
    unit = MOMENTS[axis.type]
    for rounded in _UNITS:
        moment = up_to.astype(f"datetime64[{rounded}]").astype(f"datetime64[{unit}]")
        if below < moment <= up_to:
            break
    return moment_texts(np.array([moment]), unit)[0]
