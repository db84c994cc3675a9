"""Which findings of a run lead its report: few enough to be read."""

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

__all__ = [
    "mark_key_findings",
]

#: More than these a reader does not take in at once.
AT_MOST = 7

#: A finding with this name says what was compared, and how; it is no result.
CONFIGURATION = "configuration"


def mark_key_findings(parts: Sequence[dict[str, Any]]) -> None:
    """Set `key` of every finding of a report: true for at most seven of them.

    Candidates are the findings that a method calls key, those that a condition is set on, and the
    first of an auditor that calls none so. Where there are too many, every part has its first
    before any has its second. A run with no more than seven findings needs no choice.

    Parameters
    ----------
    parts
        Parts of a report with their findings as plain data; those of auditors say what they
        measure.
    """
    everything = [finding for part in parts for finding in part["findings"]]
    if len(everything) <= AT_MOST:
        chosen = everything
    else:
        rounds = zip_longest(*map(_candidates, parts))
        chosen = [finding for turn in rounds for finding in turn if finding is not None][:AT_MOST]
    keys = {id(finding) for finding in chosen}
    for finding in everything:
        finding["key"] = id(finding) in keys


def _candidates(part: dict[str, Any]) -> list[dict[str, Any]]:
    findings: list[dict[str, Any]] = part["findings"]
    marked = [finding for finding in findings if finding.get("condition") or finding.get("key")]
    if marked or "measures" not in part:
        # What a condition is set on can stop the release: it comes first.
        return sorted(marked, key=lambda finding: not finding.get("condition"))
    results = [finding for finding in findings if finding["name"] != CONFIGURATION]
    measured = [finding for finding in results if finding["value"] is not None]
    return (measured or results)[:1]
