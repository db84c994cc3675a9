"""What must not be inferred: each critical value on its own, and all of them together."""

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anonloom import short_repr
from anonloom.cells import cell_text
from anonloom.findings import NotAssessable
from anonloom.typing import IntArray
from anonloom_prism.cell_midpoints import places
from anonloom_prism.correlations import ALL
from anonloom_prism.encoding import ranges

#: A sensitive attribute with more values has critical ones among them, and somebody must say which.
MOST_CRITICAL = 50


@short_repr
@attrs.frozen(eq=False)
class Targets:
    """The critical values.

    Attributes
    ----------
    names
        Of every target: each critical value, and `all` where that says something else.
    classes
        Of every row the number of its critical value; the next number for all other values, -1
        for missing.
    members
        (targets x classes): which classes belong to a target.
    """

    names: tuple[str, ...]
    classes: IntArray = attrs.field(repr=False)
    members: NDArray[np.bool_] = attrs.field(repr=False)

    @classmethod
    def of(cls, classes: IntArray, critical: Sequence[str], others: bool) -> "Targets":
        """Make the targets of numbered classes.

        Parameters
        ----------
        others
            Whether some rows have a value that is not critical: otherwise everybody is critical,
            and all critical values together are nothing to infer.
        """
        count = len(critical)
        members = np.eye(count, count + 1, dtype=bool)
        names = tuple(critical)
        if others and count > 1:
            members = np.vstack([members, np.arange(count + 1) < count])
            names = (*names, ALL)
        elif not others and count == 2:
            # Of two values the one says what the other does.
            names, members = names[:1], members[:1]
        return cls(names, classes, members)

    def indicators(self) -> NDArray[np.bool_]:
        """(targets x rows): which rows a target is true of."""
        return self.members[:, self.classes]


def targets(series: Any, type_: str, critical: Sequence[Any] | None, bins: int) -> Targets:
    """Number the critical values of a column.

    Raises
    ------
    NotAssessable
        When a critical value never occurs, or there is nothing to tell apart.
    """
    name = series.name
    if type_ != "category" and critical is None:
        values = places(series, type_)
        if values is not None and len(np.unique(values[~np.isnan(values)])) > bins:
            return _ranges(series, type_, bins)
    codes, cells = pd.factorize(series)
    texts = [_text(cell) for cell in cells]
    present = sorted({text for text in texts if text})
    wanted = present if critical is None else list(dict.fromkeys(map(_text, critical)))
    absent = [given for given in critical or () if _text(given) not in present]
    if absent:
        raise NotAssessable(
            f"'critical' must name values that occur in '{name}'. Got {absent[0]!r} instead."
        )
    if len(present) < 2:
        raise NotAssessable(f"'{name}' takes fewer than two values: there is nothing to infer")
    if len(wanted) > MOST_CRITICAL:
        raise NotAssessable(
            f"'{name}' has {len(wanted)} critical values, more than {MOST_CRITICAL}: name those "
            "that matter with 'critical'"
        )
    number = {text: index for index, text in enumerate(wanted)}
    of_cells = [number.get(text, len(wanted)) if text else -1 for text in texts]
    classes = np.array([*of_cells, -1], np.int64)[codes]
    # Shown as the steward wrote them.
    shown = wanted if critical is None else list(dict.fromkeys(map(cell_text, critical)))
    shown = shown if len(shown) == len(wanted) else wanted
    return Targets.of(classes, shown, others=len(wanted) < len(present))


def _ranges(series: Any, type_: str, bins: int) -> Targets:
    """Take every range of a number for a critical value; its bounds are not shown."""
    values = places(series, type_)
    assert values is not None
    missing = np.isnan(values)
    classes = np.full(len(values), -1, np.int64)
    classes[~missing] = np.unique(ranges(values[~missing], bins), return_inverse=True)[1]
    count = int(classes.max()) + 1
    names = [f"range {place + 1} of {count}" for place in range(count)]
    return Targets.of(classes, names, others=False)


def _text(value: Any) -> str:
    """Write a value as its readers take it: case and blanks make no other illness."""
    return " ".join(cell_text(value).casefold().split())
