"""A table: texts as they are, numbers of a column with the same decimals, so that they align."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from anonloom_page.charts.svg import tag
from anonloom_page.wording import figure, number, short

#: Rows and columns that are shown.
MOST_ROWS, MOST_COLUMNS = 200, 40

#: More columns than these take a whole line of the page.
FEW_COLUMNS = 3

#: Texts up to this long stay on one line.
SHORT = 26

#: Verdicts on a claim, and how they look.
_TONES = {
    "reproduced": "good",
    "not reproduced": "warn",
    "contradicted": "bad",
    "not assessable": "",
    "holds": "good",
    "does not hold": "bad",
    "not comparable": "",
}


def table(data: Mapping[str, Any]) -> Markup | None:
    """Return the table; None when there is nothing in it."""
    names = [short(name, 120) for name in data.get("columns") or []][:MOST_COLUMNS]
    rows = [row for row in data.get("rows") or [] if isinstance(row, Sequence)]
    if not names or not rows:
        return None
    shown = [[*row, *[None] * len(names)][: len(names)] for row in rows[:MOST_ROWS]]
    columns = [_texts([row[index] for row in shown]) for index in range(len(names))]
    numeric = [_numeric([row[index] for row in shown]) for index in range(len(names))]
    head = [
        tag("th", name, scope="col", class_="num" if is_number else None)
        for name, is_number in zip(names, numeric, strict=True)
    ]
    body = [
        tag(
            "tr",
            Markup("").join(
                _cell(texts[index], row[column], numeric[column])
                for column, texts in enumerate(columns)
            ),
        )
        for index, row in enumerate(shown)
    ]
    whole = tag(
        "table",
        tag("thead", tag("tr", Markup("").join(head))) + tag("tbody", Markup("").join(body)),
        class_="cells",
    )
    left_out = len(rows) - len(shown)
    note = f"{left_out:,} more rows are in the data file." if left_out else ""
    return tag("div", whole, class_="scroll", tabindex="0") + (
        tag("p", note, class_="muted small") if note else Markup("")
    )


def is_wide(data: Mapping[str, Any]) -> bool:
    """Whether a table needs a whole line of the page."""
    return len(data.get("columns") or []) > FEW_COLUMNS


def _cell(text: str, value: Any, numeric: bool) -> Markup:
    if isinstance(value, str) and value.lower() in _TONES:
        badge = tag("span", text, class_=f"badge {_TONES[value.lower()]}".rstrip())
        return tag("td", badge)
    if numeric or number(value) is not None:
        return tag("td", text, class_="num")
    return tag("td", text, class_="name" if len(text) <= SHORT else "text")


def _numeric(values: Sequence[Any]) -> bool:
    """Whether a column holds numbers and nothing else."""
    present = [value for value in values if value is not None]
    return bool(present) and all(number(value) is not None for value in present)


def _texts(values: Sequence[Any]) -> list[str]:
    """Write the numbers of a column with the same decimals: no more than the longest has."""
    results = [n for value in values if (n := number(value)) is not None]
    least = min((abs(n) for n in results if n), default=1.0)
    largest = max(map(abs, results), default=0.0)
    if all(n.is_integer() for n in results) or largest >= 1e6 or least < 1e-4:
        return [figure(value) for value in values]
    wanted = max(3 if largest < 100 else 1, 1 - math.floor(math.log10(least)))
    written = max(len(f"{n:.4f}".rstrip("0").partition(".")[2]) for n in results)
    decimals = min(wanted, written, 4)
    return [
        figure(value) if (n := number(value)) is None else f"{n:,.{decimals}f}" for value in values
    ]
