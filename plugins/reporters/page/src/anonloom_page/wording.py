"""How numbers, parameters and names are written for people."""

import json
import math
import re
from typing import Any

#: Longer texts are cut: a page that nobody can read informs nobody.
LONGEST = 400
#: Half a promise is none: these are cut only where they would fill the page.
LONGEST_PROMISE = 4000


def number(value: Any) -> float | None:
    """Return a finite number, or None for everything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) else None


def figure(value: Any) -> str:
    """Write a figure: whole numbers in groups of three digits, others with three that matter."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None:
        return "–"  # noqa: RUF001  # a dash for nothing
    if isinstance(value, int):
        return f"{value:,}"
    if not isinstance(value, float):
        return short(value)
    if not math.isfinite(value):
        return "–"  # noqa: RUF001  # a dash for nothing
    if value == 0:
        return "0"
    if abs(value) >= 1e15 or abs(value) < 1e-4:
        return f"{value:.2e}"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    written = f"{value:.{digits}f}"
    return written.rstrip("0").rstrip(".") if digits else written


def percent(share: Any) -> str:
    """Write a share as a percentage."""
    value = number(share)
    if value is None:
        return "–"  # noqa: RUF001  # a dash for nothing
    if value != 0 and abs(value) < 0.0005:
        return "< 0.1 %"
    return f"{value * 100:.1f}".removesuffix(".0") + " %"


def rounded(share: Any) -> str:
    """Write an estimated share as a percentage of two digits that matter, which no line tears."""
    value = number(share)
    if value is None or 0 < value < 0.001:
        text = percent(share)
    else:
        digits = 1 if value < 0.0995 or 0.995 <= value < 1 else 0
        text = f"{100 * value:.{digits}f}".removesuffix(".0") + " %"
    return text.replace(" ", "\N{NO-BREAK SPACE}")


def short(text: Any, longest: int = LONGEST) -> str:
    """Cut a text that is longer than anybody would read."""
    whole = str(text)
    return whole if len(whole) <= longest else whole[: longest - 1] + "…"


def brief(label: Any) -> str:
    """Shorten the label of a run: of `privacy.k-anonymity.k=5` the last step says enough.

    What is private is shown by its number alone.
    """
    whole = re.sub(r"<private (\d+)>", r"#\1", str(label)[:LONGEST])
    return short(re.sub(r"[\w-]+\.(?=[\w.-]*=)", "", whole), 120)


def plain(value: Any) -> str:
    """Write a parameter's value as the pipeline file would have it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    if isinstance(value, str):
        return short(value)
    if isinstance(value, int | float):
        return f"{value:g}" if isinstance(value, float) else str(value)
    if isinstance(value, list | tuple):
        return short(", ".join(plain(item) for item in value))
    return short(json.dumps(value, ensure_ascii=False, default=str))


def settings(parameters: Any) -> list[str]:
    """Write parameters as `name = value`; those that say nothing are left out."""
    if not isinstance(parameters, dict):
        return []
    return [
        f"{short(name)} = {plain(value)}"
        for name, value in parameters.items()
        if value is not None and value != [] and value != {}
    ]


def day(created: Any) -> str:
    """Write a time stamp as a date and a time of day."""
    text = str(created)
    return text.replace("T", ", ").replace("Z", " UTC") if len(text) == 20 else short(text)


def words(name: Any) -> str:
    """Turn a field's name into words."""
    return short(str(name).replace("_", " "))


def guarantee_texts(value: Any) -> list[str]:
    """Write what a transport guarantees: one text, or several that stand below each other."""
    if value is None:
        return ["not stated"]
    if isinstance(value, list | tuple):
        return [short(item, LONGEST_PROMISE) for item in value] or ["nothing named"]
    return [short(value, LONGEST_PROMISE) if isinstance(value, str) else figure(value)]


def json_text(value: Any, longest: int) -> str:
    """Write data as indented JSON, cut where it would fill the page."""
    text = json.dumps(value, indent=2, ensure_ascii=False, default=str)
    if len(text) <= longest:
        return text
    return text[:longest] + "\n… the rest is in the file"
