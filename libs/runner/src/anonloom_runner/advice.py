"""What would help a release that should not be handed over: facts, each with its figure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from anonloom import AuditInput, Finding, Findings, Release
from anonloom_runner.hand_over import percent

__all__ = [
    "advice_of",
]

#: Rows in groups smaller than this are few among whom to hide: k = 5 is what is usually asked for.
FEW = 5
#: A column matters where without it so many fewer rows, of all, stand in such groups, or so many
#: fewer people are found.
MATTERS = 0.05
#: Where fewer of the people attacked are found, it may help to take out their rows alone.
FEW_FOUND = 0.1
#: So many columns are named.
MOST_COLUMNS = 2
#: The figures `ablation.COLUMN` of an auditor say by how much it finds less without a column.
ABLATION = "ablation."


def advice_of(
    case: AuditInput,
    findings: Mapping[str, Findings],
    questions: Sequence[Mapping[str, Any]],
    attacks: Sequence[Mapping[str, Any]],
    changes: Sequence[Mapping[str, Any]],
    limit: float,
) -> list[str]:
    """Return sentences, what helps most first.

    Parameters
    ----------
    changes
        What was changed, where cells do not cover the originals.
    """
    results = []
    measured = [attack for attack in attacks if attack["status"] == "measured"]
    finding = [attack for attack in measured if attack["interval"][0] > 0]
    if finding:
        driving = _columns_of_attackers(findings) or _columns_of_groups(case.release)
        results += driving
        results += _little_changed(changes) if changes and not driving else []
        results += _small_groups(case.release) if not changes else []
        exposed = max(attack["exposed"] / attack["people"] for attack in finding)
        if exposed:
            text = "Look at the people who are found: the private folder lists them, surest first."
            # Where they are few, they are what is wrong.
            results.insert(0 if exposed < FEW_FOUND else 2, text)
    elif any(attack["interval"][1] > limit for attack in measured):
        results.append(
            "Attack more people (--people all), and give a larger control: the intervals get "
            "narrower."
        )
    lacking = sum(data["status"] != "measured" for data in questions)
    if case.control is None:
        results.append(
            "Audit it with people who are not in the release (--control FILE, or 'holdout' in a "
            "pipeline)"
            + (f": {lacking} of {len(questions)} questions have no answer." if lacking else ".")
        )
    return results


def _columns_of_attackers(findings: Mapping[str, Findings]) -> list[str]:
    """Name the columns without which an attacker finds least, where one was asked."""
    falls: dict[str, Finding] = {}
    for found in findings.values():
        for item in found:
            if item.name.startswith(ABLATION) and item.assessable and item.interval:
                column = item.name.removeprefix(ABLATION)
                sure = item.interval[0] > 0 and _value(item) >= MATTERS
                if sure and _value(item) > _value(falls.get(column)):
                    falls[column] = item
    order = sorted(falls, key=lambda column: -_value(falls[column]))[:MOST_COLUMNS]
    return [
        f"Make '{column}' coarser, or leave it out: without it attackers find "
        f"{percent(_value(falls[column]))} of the people less."
        for column in order
    ]


def _value(item: Finding | None) -> float:
    return float(item.value) if item is not None and item.value is not None else 0.0


def _columns_of_groups(release: Release) -> list[str]:
    """Name the columns that make rows stand alone, by what would be left without them."""
    names = tuple(name for name in release.schema.quasi if name in release.frame)
    if len(names) < 2:
        return []
    now = _in_small_groups(release, names)
    without = {
        name: _in_small_groups(release, tuple(other for other in names if other != name))
        for name in names
    }
    order = sorted(names, key=lambda name: without[name])[:MOST_COLUMNS]
    return [
        f"Make '{name}' coarser, or leave it out: {percent(now)} of the rows look like fewer than "
        f"{FEW - 1} others, without it {percent(without[name])}."
        for name in order
        if now - without[name] >= MATTERS
    ]


def _in_small_groups(release: Release, names: tuple[str, ...]) -> float:
    groups = release.groups(names)[~release.suppressed_rows]
    return float((np.bincount(groups)[groups] < FEW).mean()) if len(groups) else 0.0


def _small_groups(release: Release) -> Iterable[str]:
    groups = release.groups()[~release.suppressed_rows]
    sizes = np.bincount(groups)
    smallest = int(sizes[sizes > 0].min()) if len(groups) else 0
    if smallest >= FEW:
        yield (
            f"Ask for larger groups: the smallest group of rows that look alike has {smallest} "
            "members."
        )


def _little_changed(changes: Sequence[Mapping[str, Any]]) -> list[str]:
    """Name the columns that were changed least."""
    order = sorted(changes, key=lambda change: change["changed"])[:MOST_COLUMNS]
    listed = " and ".join(
        f"'{change['column']}' ({'at least ' if change['at_least'] else ''}"
        f"{percent(change['changed'])} of the cells)"
        for change in order
    )
    return [f"Change more: least was changed of {listed}."] if order else []
