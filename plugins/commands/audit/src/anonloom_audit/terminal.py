"""What an audit prints: the sentence, a line for every question, and more on demand."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from anonloom_audit.columns import Roles
from anonloom_runner.findings_text import finding_sections
from anonloom_runner.hand_over import percent


def column_lines(roles: Roles, source: str) -> Iterator[str]:
    """Say what the columns were taken for, guessed ones first."""
    guessed = [column for column in roles.schema if column.name in roles.guessed]
    declared = [column for column in roles.schema if column.name not in roles.guessed]
    if guessed:
        yield (
            f"columns guessed: {_listed(guessed)}; declare them with --quasi, --sensitive, "
            "--identifier, --schema FILE or --pipeline FILE"
        )
    if declared:
        yield f"columns {source}: {_listed(declared)}"
    for name, why in roles.naming.items():
        yield (
            f"warning: column '{name}': {why}, which names people; if so, declare it with "
            f"--identifier {name}, or with --truth {name} if it only says whose a row is"
        )


def _listed(columns: Iterable[Any]) -> str:
    return ", ".join(f"{item.name} ({item.role}, {item.type})" for item in columns)


def release_lines(release: Mapping[str, Any], *, everything: bool) -> Iterator[str]:
    """Say what was found of one release."""
    yield ""
    yield str(release["name"])
    yield from warning_lines(release)
    decision, headline = release["decision"], release["headline"]
    yield f"  {decision['sentence']}"
    yield from (f"  - {reason}" for reason in decision["reasons"])
    if headline["status"] == "measured":
        yield (
            f"  worst attack: {_measured(headline)}, {headline['exposed']:,} of "
            f"{headline['people']:,} people attacked are exposed"
        )
    yield from (f"  {question_line(data)}" for data in release["questions"])
    for group in release["exposed"]["stand_out"]:
        yield (
            f"  most exposed: {group['column']}, {group['group']}: {group['exposed']:,} of "
            f"{group['people']:,} ({percent(group['share'])})"
        )
    yield from _change_lines(release["changes"])
    yield from (f"  what would help: {text}" for text in release["advice"])
    if "since" in release:
        yield from _since_lines(release["since"])
    if everything:
        yield from finding_sections(release["audits"], everything=True)
    else:
        figures = sum(len(part["findings"]) for part in release["audits"])
        yield (
            f"  {_counted(figures, 'figure')} of {_counted(len(release['audits']), 'auditor')}: "
            "--all shows them"
        )
    for name, why in release["skipped"].items():
        yield f"  {name} was not run: {why}"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def question_line(data: Mapping[str, Any]) -> str:
    """Say the worst attack of one question, or why there is none."""
    if data["status"] == "measured":
        return f"{data['question']}: {_measured(data)}"
    return f"{data['question']}: {data['status']}: {data['reasons'][0]}"


def _measured(data: Mapping[str, Any]) -> str:
    low, high = (percent(end) for end in data["interval"])
    return f"{percent(data['risk'])} ({low} to {high}) by {data['attack']}"


def warning_lines(release: Mapping[str, Any]) -> Iterator[str]:
    """Say what may make figures wrong."""
    for name, count in release["unread"].items():
        cells = "1 cell is" if count == 1 else f"{count} cells are"
        yield (
            f"  warning: column '{name}': {cells} neither a value of the original, nor in its "
            "hierarchy, nor in a notation that is known (docs/notations.md), and counted as "
            "entirely lost; declare what they mean as the column's hierarchy in a pipeline"
        )
    for name, count in release["normalized_cells"].items():
        cells = (
            "1 cell of the release holds" if count == 1 else f"{count} cells of the release hold"
        )
        yield (
            f"  warning: column '{name}': {cells} characters that nobody sees, or text that is not "
            "in Unicode's form NFC; the audit reads them without, and a machine tells them apart: "
            "classes may be smaller than they seem here"
        )
    yield from (f"  warning: {text}" for text in release["notices"])


def _change_lines(changes: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if not changes:
        return
    parts = []
    for change in changes:
        least = "at least " if change["at_least"] else ""
        moved = "" if change["shift"] is None else f", {change['shift']:.2g} sd"
        parts.append(f"{change['column']} {least}{percent(change['changed'])}{moved}")
    yield "  cells changed: " + "; ".join(parts)


def _since_lines(since: Mapping[str, Any]) -> Iterator[str]:
    yield f"  since the audit of {since['created']} ({since['name']}): {since['worse']} worse"
    if since["configuration_differs"]:
        differing = ", ".join(since["configuration_differs"])
        yield f"    compare with care: the earlier audit had other {differing}"
    for attack in since["attacks"]:
        if attack["change"] != "same":
            then, now = (
                "-" if value is None else percent(value)
                for value in (attack["then"], attack["now"])
            )
            yield f"    {attack['attack']}: {attack['change']}, {then} then, {now} now"


def ranking_lines(releases: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """List several releases, the most worrying first."""
    width = max(len(release["name"]) for release in releases)
    yield ""
    yield "the most worrying first:"
    for release in releases:
        headline = release["headline"]
        fits = headline["status"] == "measured"
        figure = _measured(headline) if fits else "not assessable"
        yield (
            f"  {release['rank']}. {release['name']:<{width}}  {release['decision']['answer']}: "
            f"{figure}"
        )
