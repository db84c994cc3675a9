"""Findings on a terminal: what was compared first, figures of columns together, the rest in order.

A long list is read from its beginning: what cannot be assessed is named at its end, with the
reason, once.
"""

import textwrap
from collections.abc import Iterable, Iterator
from typing import Any

from anonloom.findings import Finding, Findings

WIDTH = 96

#: A finding with this name says what was compared, and how.
CONFIGURATION = "configuration"


def lines_of(findings: Findings) -> Iterator[str]:
    """Yield the findings of one auditor, line by line."""
    ordered = sorted(findings, key=lambda finding: finding.name != CONFIGURATION)
    silent = [finding for finding in ordered if finding.value is None]
    for members in _together(finding for finding in ordered if finding.value is not None):
        if len(members) == 1:
            yield from _single(members[0])
        else:
            yield from _of_columns(members)
    yield from _silent(silent)


def _together(findings: Iterable[Finding]) -> list[list[Finding]]:
    """Put `figure.column` beside the same figure of the other columns."""
    results: dict[str, list[Finding]] = {}
    for finding in findings:
        figure, dot, _ = finding.name.partition(".")
        results.setdefault(f"{figure}{dot}", []).append(finding)
    return list(results.values())


def _single(finding: Finding) -> Iterator[str]:
    yield from _wrapped(f"{finding.name}: {_said(finding)}", "  ")
    yield from _wrapped(finding.meaning, "      ")


def _of_columns(findings: list[Finding]) -> Iterator[str]:
    figure = findings[0].name.partition(".")[0]
    each = (f"{finding.name.partition('.')[2]} {_said(finding)}" for finding in findings)
    yield from _wrapped(f"{figure}: " + ", ".join(each), "  ")
    yield from _wrapped(f"{findings[0].meaning.rstrip('.')}; the others likewise.", "      ")


def _silent(findings: list[Finding]) -> Iterator[str]:
    reasons: dict[str, list[str]] = {}
    for finding in findings:
        # By custom an auditor says first what it lacked.
        why = f" ({finding.assumptions[0]})" if finding.assumptions else ""
        reasons.setdefault(f"{finding.status}{why}", []).append(finding.name)
    for reason, names in reasons.items():
        yield from _wrapped(f"{reason}: {', '.join(names)}", "  ")


def _said(finding: Finding) -> str:
    """Return value, unit, interval, and the status where it is not simply measured."""
    text = f"{_number(finding.value)} {finding.unit}".rstrip()
    if finding.interval is not None:
        low, high = finding.interval
        text += f" ({_number(low)} to {_number(high)})"
    return text if finding.status == "measured" else f"{text}, {_STATUS[finding.status]}"


_STATUS = {
    "bound": "a bound",
    "not assessable": "not assessable",
    "none detected": "none detected",
}


def _number(value: Any) -> str:
    if isinstance(value, float):
        # Figures of an audit are estimates: more digits than four are noise.
        return f"{value:.4g}" if abs(value) < 10_000 else f"{value:.0f}"
    return str(value)


def _wrapped(text: str, margin: str) -> list[str]:
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=margin,
        subsequent_indent=margin + ("" if len(margin) > 2 else "    "),
        break_long_words=False,
        break_on_hyphens=False,
    )
