"""The kit's second opinion: promises recomputed in plain Python from plain rows.

Nothing here imports the product or numpy. Rows are dictionaries, classes are lists of row numbers,
and every function does the obvious thing slowly, so that a reader can check it by eye.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

Row = Mapping[str, object]
Ancestors = Callable[[object], Sequence[str]]


# --- privacy ------------------------------------------------------------------------------------


def people(rows: Sequence[Row], person: str | None) -> int:
    """Count persons: rows, or distinct values of the column that names the person."""
    return len(rows) if person is None else len({row[person] for row in rows})


def distinct_values(rows: Sequence[Row], column: str) -> int:
    """Count the distinct values of a column; a missing one is none."""
    return len({row[column] for row in rows if row[column] is not None})


def distance(rows: Sequence[Row], everybody: Sequence[Row], column: str) -> float:
    """Half the sum of the differences between a class's shares of values and everybody's."""
    inside = Counter(row[column] for row in rows)
    overall = Counter(row[column] for row in everybody)
    return (
        sum(abs(inside[v] / len(rows) - overall[v] / len(everybody)) for v in overall | inside) / 2
    )


# --- partitions ---------------------------------------------------------------------------------


def lost_rows(given: Iterable[int], found: Iterable[int]) -> list[int]:
    """Rows that were given and are nowhere."""
    return sorted(set(given) - set(found))


def invented_rows(given: Iterable[int], found: Iterable[int]) -> list[int]:
    """Rows that are somewhere and were not given."""
    return sorted(set(found) - set(given))


def doubled_rows(found: Iterable[int]) -> list[int]:
    """Rows that are in more than one place."""
    return sorted(row for row, times in Counter(found).items() if times > 1)


def straddling_classes(given: Sequence[Sequence[int]], found: Sequence[Sequence[int]]) -> list[int]:
    """Classes whose rows come from more than one of the given classes."""
    home = {row: index for index, members in enumerate(given) for row in members}
    return [
        index
        for index, members in enumerate(found)
        if len({home[row] for row in members if row in home}) > 1
    ]


# --- published cells (the text definition: value, [a, b], node label, {"a", "b"}, *) --------------


def covers(cell: object, value: object, above: Ancestors | None = None) -> bool:
    """Whether a published cell covers an original value.

    Parameters
    ----------
    cell
        The cell as it is published; None for missing.
    value
        The original: a text, a number, a date as ``YYYY-MM-DD``, a time as
        ``YYYY-MM-DD HH:MM:SS``, or None for missing.
    above
        Labels of the groups that a value belongs to, if the column has a hierarchy.
    """
    if cell == "*":
        return True
    if cell is None or value is None:
        return cell is None and value is None
    text = str(cell)
    if _same(text, value):
        return True
    if above is not None and text in above(value):
        return True
    members = set_members(text)
    if members is not None:
        return any(_same(member, value) for member in members)
    ends = interval_ends(text)
    return ends is not None and _between(ends[0], value, ends[1])


def set_members(text: str) -> list[str] | None:
    """Members of ``{"a", "b"}``; None if the text is no such set."""
    if not (text.startswith('{"') and text.endswith('"}')):
        return None
    try:
        return [str(member) for member in json.loads(f"[{text[1:-1]}]")]
    except ValueError:
        return None


def interval_ends(text: str) -> tuple[str, str] | None:
    """Ends of ``[a, b]``; None if the text is no closed interval."""
    match = re.fullmatch(r"\[([^\[\],]+), ([^\[\],]+)\]", text)
    return (match[1], match[2]) if match else None


def _number(text: object) -> float | None:
    try:
        return float(str(text))
    except ValueError:
        return None


def _same(text: str, value: object) -> bool:
    if isinstance(value, int | float):
        return _number(text) == float(value)
    return text == str(value)


def _between(lo: str, value: object, hi: str) -> bool:
    if isinstance(value, int | float):
        ends = _number(lo), _number(hi)
        return ends[0] is not None and ends[1] is not None and ends[0] <= value <= ends[1]
    # The order of dates and of times as they are written is their order in time.
    return lo <= str(value) <= hi
