"""Findings as text, from their plain data: for the terminal of every command, and for report.txt.

A terminal shows key findings with their meaning, part by part, and says how many more there are.
Where everything is shown, what was compared comes first, figures of columns stand together, and
what cannot be assessed is named at the end, with the reason, once.
"""

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from anonloom_runner.key_findings import CONFIGURATION

__all__ = [
    "finding_lines",
    "finding_sections",
    "record_lines",
]

WIDTH = 96

FindingData = dict[str, Any]
PartData = dict[str, Any]


def finding_sections(
    parts: Sequence[PartData], *, everything: bool = False, beside: str = ""
) -> Iterator[str]:
    """Yield the lines of a terminal: a heading for every part, and its findings below it.

    Parameters
    ----------
    parts
        Parts of a report whose key findings are marked.
    everything
        Whether findings that are not key are shown, too.
    beside
        Where else all findings are: how the last line ends.
    """
    left = 0
    for part in parts:
        shown = [item for item in part["findings"] if everything or item["key"]]
        left += len(part["findings"]) - len(shown)
        if shown or "measures" in part:
            yield ""
            yield _heading(part)
            yield from finding_lines(shown)
    if left:
        yield ""
        yield (
            f"{left} more {'finding' if left == 1 else 'findings'}: "
            f"--all shows {'it' if left == 1 else 'them'}{beside}"
        )


def _heading(part: PartData) -> str:
    kind = part.get("measures") or part.get("method") or part.get("collector") or ""
    title = f"{part['id']} ({kind})" if kind else str(part["id"])
    return f"{title}: {part['summary']}" if part.get("summary") else title


def record_lines(parts: Iterable[PartData]) -> Iterator[str]:
    """Yield one line for every finding, with the id of its part: the record in report.txt."""
    for part in parts:
        for finding in part["findings"]:
            # Six digits: a record is compared with others by machines, too.
            value, unit = finding["value"], finding["unit"]
            text = finding["status"] if value is None else _number(value, digits=6)
            yield f"  {part['id']}.{finding['name']}: {text} {unit}".rstrip()


def finding_lines(findings: Iterable[FindingData]) -> Iterator[str]:
    """Yield the findings of one part with their meanings."""
    ordered = sorted(findings, key=lambda finding: finding["name"] != CONFIGURATION)
    unknown = [finding for finding in ordered if finding["value"] is None]
    for members in _by_figure(finding for finding in ordered if finding["value"] is not None):
        if len(members) == 1:
            yield from _single(members[0])
        else:
            yield from _of_columns(members)
    yield from _not_assessable(unknown)


def _by_figure(findings: Iterable[FindingData]) -> list[list[FindingData]]:
    """Put `figure.column` beside the same figure of the other columns."""
    results: dict[str, list[FindingData]] = {}
    for finding in findings:
        figure, dot, _ = finding["name"].partition(".")
        results.setdefault(f"{figure}{dot}", []).append(finding)
    return list(results.values())


def _single(finding: FindingData) -> Iterator[str]:
    yield from _wrap(f"{finding['name']}: {_value(finding)}", "  ")
    yield from _wrap(finding["meaning"], "      ")


def _of_columns(findings: list[FindingData]) -> Iterator[str]:
    figure = findings[0]["name"].partition(".")[0]
    each = (f"{finding['name'].partition('.')[2]} {_value(finding)}" for finding in findings)
    yield from _wrap(f"{figure}: " + ", ".join(each), "  ")
    yield from _wrap(f"{findings[0]['meaning'].rstrip('.')}; the others likewise.", "      ")


def _not_assessable(findings: list[FindingData]) -> Iterator[str]:
    reasons: dict[str, list[str]] = {}
    for finding in findings:
        # By custom an auditor says first what it lacked.
        why = f" ({finding['assumptions'][0]})" if finding["assumptions"] else ""
        reasons.setdefault(f"{finding['status']}{why}", []).append(finding["name"])
    for reason, names in reasons.items():
        yield from _wrap(f"{reason}: {', '.join(names)}", "  ")


def _value(finding: FindingData) -> str:
    """Return value, unit, interval, and the status where it is not simply measured."""
    text = f"{_number(finding['value'])} {finding['unit']}".rstrip()
    if finding["interval"] is not None:
        low, high = finding["interval"]
        text += f" ({_number(low)} to {_number(high)})"
    return text if finding["status"] == "measured" else f"{text}, {_STATUS[finding['status']]}"


_STATUS = {
    "bound": "a bound",
    "not assessable": "not assessable",
    "none detected": "none detected",
}


def _number(value: Any, digits: int = 4) -> str:
    """Write a figure; those of an audit are estimates, and more digits than four are noise."""
    if not isinstance(value, float):
        return str(value)
    return f"{value:.{digits}g}" if digits > 4 or abs(value) < 10_000 else f"{value:.0f}"


def _wrap(text: str, margin: str) -> list[str]:
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=margin,
        subsequent_indent=margin + ("" if len(margin) > 2 else "    "),
        break_long_words=False,
        break_on_hyphens=False,
    )
