"""What a split asks, in words: the roundest threshold between two values, or a node's name."""

from decimal import Decimal
from typing import Any

import numpy as np

from anonloom.data.axis import Axis
from anonloom.data.cells import MOMENTS, moment_texts

#: Powers of ten that thresholds are multiples of, from the roundest on.
_POWERS = range(18, -19, -1)
#: Units that moments are rounded to.
_UNITS = ("Y", "M", "D", "h", "m", "s")


def questions(axis: Axis, begin: int, end: int, last: int) -> tuple[str, str]:
    """Say what holds for the rows that a split takes out, and for those that remain.

    Parameters
    ----------
    begin, end
        First and last code that is taken out.
    last
        Last code of the node along the axis, before the split.
    """
    name = axis.name
    if axis.missing >= 0 and begin == axis.missing:
        return f"{name} missing", f"{name} known"
    if end + 1 == axis.missing == last and (axis.type != "category" or axis.occurring == 1):
        return f"{name} known", f"{name} missing"
    if axis.type == "category":
        label = _node(axis, begin, end)
        return f"{name}: {label}", f"{name}: not {label}"
    text = threshold(axis, end)
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
            return f"{multiple.normalize():f}"
    return f"{most.normalize():f}"


def _moment(axis: Axis, below: Any, up_to: Any) -> str:
    unit = MOMENTS[axis.type]
    for rounded in _UNITS:
        moment = up_to.astype(f"datetime64[{rounded}]").astype(f"datetime64[{unit}]")
        if below < moment <= up_to:
            break
    return moment_texts(np.array([moment]), unit)[0]
