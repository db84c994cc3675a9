"""Range proofs: these rows, and no others, lie in a range of an attribute.

Single values. Rows are sorted by the attribute, and a range is a run of neighbours. The run is
shown together with the row before and the row behind it, which lie strictly outside: nothing can
have been left out between neighbours.

Intervals. A row belongs to the range [a, b] when its cell [lo, hi] overlaps it: lo <= b and
hi >= a. Rows sorted by lo have no such rows in one run, so they are counted instead. Every row with
hi < a also has lo < a <= b, so the rows that overlap are those with lo <= b, without those with
hi < a:

    overlapping = A - B,    A = number of rows with lo <= b,    B = number with hi < a.

A is the position, sorted by lo, at which lo passes b: two neighbours show it. B is the position,
sorted by hi, at which hi reaches a: two neighbours again. Whoever shows A - B different rows that
overlap has shown all of them. No node needs to carry more than a hash, so any structure will do.
"""

import unicodedata
from collections.abc import Callable, Sequence
from itertools import pairwise

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom.errors import IntegrityError, UsageError
from anonloom_seals.binding import BoundRows
from anonloom_seals.condition import Condition
from anonloom_seals.encoding import Cell
from anonloom_seals.head import Head
from anonloom_seals.layout import Layout
from anonloom_seals.ordering import ABOVE, BELOW, Key, ends, read_bound
from anonloom_seals.parts import Part
from anonloom_seals.structure import Structure

__all__ = ["Range", "check_range", "prove_range"]

_INCOMPLETE = "the proof leaves rows of the range out, or does not show that it leaves none out"


@attrs.frozen
class Range:
    """A condition on a column of known type.

    Attributes
    ----------
    low, high
        Ends of the range, which belong to it.
    """

    attribute: str
    low: Key
    high: Key

    @classmethod
    def of(cls, condition: Condition, layout: Layout) -> "Range":
        """Read the bounds of a condition by the type of its attribute.

        Raises
        ------
        UsageError
            When there is no such attribute, or a bound is no value of it.
        """
        attribute = unicodedata.normalize("NFC", condition.attribute)
        if attribute not in layout.names:
            raise UsageError(
                f"there is no column {condition.attribute!r}",
                hint=f"There are: {', '.join(layout.names)}.",
            )
        kind = layout.type_of(attribute)
        low, high = read_bound(condition.low, kind, BELOW), read_bound(condition.high, kind, ABOVE)
        if low > high:
            raise UsageError(f"the condition {str(condition)!r} ends before it begins")
        return cls(attribute, low, high)


def prove_range(rows: BoundRows, sought: Range) -> tuple[Part, ...]:
    """Return the parts that show all rows of a range, and that they are all.

    Raises
    ------
    UsageError
        When the release has no order by this attribute.
    """
    attribute = sought.attribute
    if (attribute, "low") not in rows.orders:
        indexed = sorted({name for name, _ in rows.orders if name is not None})
        raise UsageError(
            f"the release is not indexed by '{attribute}', so nothing can be said of all its rows",
            hint=f"It is indexed by: {', '.join(indexed)}."
            if indexed
            else f"Seal it with 'index: [{attribute}]'.",
        )
    size = len(rows.encoded)
    if size == 0:
        return ()
    starts, reaches, is_in = _masks(rows, sought)
    begun = int(starts.sum())
    passed = int((~reaches).sum())
    if (attribute, "high") not in rows.orders:
        run = range(max(passed - 1, 0), min(begun + 1, size))
        return (rows.show((attribute, "low"), run),)
    by_low = rows.orders[attribute, "low"].rows
    index = np.flatnonzero(is_in[by_low]).tolist()
    return (
        rows.show((attribute, "low"), sorted({*index, *_around(begun, size)})),
        rows.show((attribute, "high"), _around(passed, size)),
    )


def _around(position: int, size: int) -> list[int]:
    """Return the neighbours between which a position lies, as far as they exist."""
    return [index for index in (position - 1, position) if 0 <= index < size]


def _masks(
    rows: BoundRows, sought: Range
) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
    """Which rows begin before the range ends, which reach it, and which do both."""
    column = rows.published.column(sought.attribute)
    kind = rows.published.layout.type_of(sought.attribute)
    pairs = [ends(cell, kind) or (ABOVE, BELOW) for cell in column.values()]
    starts = np.array([low <= sought.high for low, _ in pairs], bool)[column.codes]
    reaches = np.array([high >= sought.low for _, high in pairs], bool)[column.codes]
    return starts, reaches, starts & reaches


def check_range(
    head: Head, structure: type[Structure], sought: Range, parts: Sequence[Part]
) -> list[tuple[Cell, ...]]:
    """Return the rows of a range, if the parts show that they are all.

    Raises
    ------
    IntegrityError
        When they do not.
    """
    two = head.order(sought.attribute, "high") is not None
    expected = [(sought.attribute, "low"), (sought.attribute, "high")][: 2 if two else 1]
    if head.order(sought.attribute, "low") is None:
        raise IntegrityError("the proof uses an order of the rows that its head does not have")
    if head.size == 0:
        expected = []
    if [(part.attribute, part.end) for part in parts] != expected:
        raise IntegrityError("the proof does not have the parts that its condition asks for")
    if head.size == 0:
        return []
    shown = [part.cells(head, structure) for part in parts]
    pairs = [[_ends(head, sought, cells) for cells in rows] for rows in shown]
    _refuse_disorder(pairs, two)
    if not two:
        return _run(head, sought, parts[0], shown[0], [low for low, _ in pairs[0]])
    begun = _count_leading(
        head, parts[0], [low for low, _ in pairs[0]], lambda low: low <= sought.high
    )
    passed = _count_leading(
        head, parts[1], [high for _, high in pairs[1]], lambda high: high < sought.low
    )
    inside = [
        cells
        for cells, (low, high) in zip(shown[0], pairs[0], strict=True)
        if low <= sought.high and high >= sought.low
    ]
    if len(inside) != begun - passed:
        raise IntegrityError(_INCOMPLETE)
    return inside


def _ends(head: Head, sought: Range, cells: tuple[Cell, ...]) -> tuple[Key, Key]:
    cell = cells[head.layout.names.index(sought.attribute)]
    result = ends(cell, head.layout.type_of(sought.attribute))
    if result is None:
        raise IntegrityError("a row of the proof has a cell whose ends nobody can know")
    return result


def _refuse_disorder(shown: list[list[tuple[Key, Key]]], two: bool) -> None:
    """Refuse what shows that the publisher sorted wrongly; what is not shown stays unknown."""
    lows = [low for low, _ in shown[0]]
    highs = [high for _, high in shown[-1]]
    alike = two or all(low == high for low, high in shown[0])
    if not alike or lows != sorted(lows) or highs != sorted(highs):
        raise IntegrityError("the rows of the proof are not sorted as its head says")


def _run(
    head: Head, sought: Range, part: Part, shown: list[tuple[Cell, ...]], keys: list[Key]
) -> list[tuple[Cell, ...]]:
    """Return the rows of a run of neighbours that lie inside, if both its ends are shown."""
    inside = [sought.low <= key <= sought.high for key in keys]
    before = keys[0] < sought.low
    behind = keys[-1] > sought.high
    if (
        any(other != item + 1 for item, other in pairwise(part.positions))
        or (part.positions[0] > 0 and not before)
        or (part.positions[-1] < head.size - 1 and not behind)
        or not all(inside[before : len(inside) - behind])
    ):
        raise IntegrityError(_INCOMPLETE)
    return [cells for cells, is_in in zip(shown, inside, strict=True) if is_in]


def _count_leading(head: Head, part: Part, keys: list[Key], holds: Callable[[Key], bool]) -> int:
    """Return for how many rows of an order something holds that holds for the first ones only.

    Two neighbours show it, of which one is the last for which it holds; or the first row of all,
    or the last.
    """
    if holds(keys[-1]):
        if part.positions[-1] != head.size - 1:
            raise IntegrityError(_INCOMPLETE)
        return head.size
    count = part.positions[-1]
    if count > 0 and (part.positions[-2:-1] != (count - 1,) or not holds(keys[-2])):
        raise IntegrityError(_INCOMPLETE)
    return count
