"""What a split asks, in words: a bound or a group that the release shows."""

import numpy as np

from anonloom.data import Axis
from anonloom_columns import Visible, place_texts


def questions(axis: Axis, begin: int, end: int, last: int, shown: Visible) -> tuple[str, str]:
    """Say what holds for the rows that a split takes out, and for those that remain.

    A split lies between two cells of the table. Where the release shows no bound there, or does not
    name the group, it is not told where it lies.

    Parameters
    ----------
    begin, end
        First and last code that is taken out.
    last
        Last code of the node along the axis, before the split.
    shown
        What the release shows of the column.
    """
    name = axis.name
    if axis.missing >= 0 and begin == axis.missing:
        return f"{name} missing", f"{name} known"
    if end + 1 == axis.missing == last and (axis.type != "category" or axis.value_count == 1):
        return f"{name} known", f"{name} missing"
    if axis.type == "category":
        label = shown.label_of(axis, begin, end)
        if label is None:
            return parts_of(axis, begin, end, last)
        return f"{name}: {label}", f"{name}: not {label}"
    bound = shown.between(float(axis.places[end]), float(axis.places[end + 1]))
    if bound is None:
        return parts_of(axis, begin, end, last)
    text = place_texts(axis, np.array([bound]))[0]
    unknown = " or missing" if last == axis.missing else ""
    return f"{name} < {text}", f"{name} ≥ {text}{unknown}"


def parts_of(axis: Axis, begin: int, end: int, last: int) -> tuple[str, str]:
    """Say along which column a split lies, and nothing of where; arguments as of `questions`."""
    if axis.type == "category":
        return f"{axis.name}: one group", f"{axis.name}: the others"
    return f"lower {axis.name}", f"higher {axis.name}"
