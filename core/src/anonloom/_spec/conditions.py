"""Conditions on figures: what must not be so, in a pipeline file and on a command line."""

import math
import re

from anonloom._spec.cursor import Cursor
from anonloom._spec.model import COMPARISONS, Condition
from anonloom.errors import UsageError

_LIMIT = r"(>=|<=|==|!=|>|<)\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)"
_COMPARISON = re.compile(rf"\s*{_LIMIT}\s*")
_WHOLE = re.compile(rf"\s*([^\s.<>=!]+)\.([^\s<>=!]+)\s*{_LIMIT}\s*")


def read_conditions(cursor: Cursor | None) -> tuple[Condition, ...]:
    """Read `fail_if`: a mapping of figures to comparisons."""
    entries = cursor.entries("a mapping of findings to conditions") if cursor is not None else {}
    results = []
    for finding, entry in (entries or {}).items():
        match = _COMPARISON.fullmatch(entry.value) if isinstance(entry.value, str) else None
        if match is None:
            entry.expect(
                f"a comparison with a number ({' '.join(COMPARISONS)})",
                "write it in quotes: '> 0.05'",
            )
        elif not math.isfinite(float(match[2])):
            entry.expect(
                "a comparison with a finite number",
                "beyond all numbers there is no figure: it would never stop a release, or always",
            )
        else:
            results.append(Condition(finding, match[1], float(match[2])))
    return tuple(results)


def parse_condition(text: str) -> tuple[str, Condition]:
    """Read ``auditor.figure > 0.05``: the auditor's id, and the condition.

    Raises
    ------
    UsageError
        When it is none.
    """
    match = _WHOLE.fullmatch(text)
    if match is None or not math.isfinite(float(match[4])):
        raise UsageError(
            "a condition must be a figure and what it must not be, 'headline.risk > 0.09'. "
            f"Got {text!r} instead.",
            hint="A figure is 'headline.risk' or 'AUDITOR.FIGURE'; comparisons are "
            f"{' '.join(COMPARISONS)}.",
        )
    return match[1], Condition(match[2], match[3], float(match[4]))
