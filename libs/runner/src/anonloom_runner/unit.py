"""What is counted: persons, or only records; and the words that follow from it.

Methods speak of persons. Where a pipeline says `unit: record`, nothing is known of persons, and no
sentence may claim something of them: every text that leaves a method passes through here.
"""

import re

import attrs

from anonloom import Chart, Finding, Findings
from anonloom.findings import Item, Notice
from anonloom.spec import Unit

__all__ = [
    "plural",
    "wording_for",
]


_RECORDS = {
    "person's record": "record",
    "person": "record",
    "persons": "records",
    "people": "records",
    "individual": "record",
    "individuals": "records",
}

# What stands in quotes is a name, such as that of a column or a role.
_WORDS = re.compile(
    r"(?<![\w'`\"])(person's record\b|(?:persons?|people|individuals?)(?![\w`\"])(?!'(?!s\b)))",
    re.IGNORECASE,
)


def plural(unit: Unit) -> str:
    """Return the word for several."""
    return f"{unit}s"


def wording_for(text: str, unit: Unit) -> str:
    """Return a sentence about persons as one about what is counted."""
    return text if unit == "person" else _WORDS.sub(_record, text)


def _record(match: re.Match[str]) -> str:
    word = _RECORDS[match[0].lower()]
    return word.capitalize() if match[0][0].isupper() else word


def notice_for_unit(notice: Notice, unit: Unit) -> Notice:
    """Return what readers must know, in sentences about what is counted."""
    return attrs.evolve(notice, text=wording_for(notice.text, unit))


def findings_for_unit(findings: Findings, unit: Unit) -> Findings:
    """Return what was found, in sentences about what is counted."""
    if unit == "person":
        return findings
    return Findings(tuple(_item(item, unit) for item in findings.items))


def _item(item: Item, unit: Unit) -> Item:
    if isinstance(item, Finding):
        return attrs.evolve(
            item,
            unit=wording_for(item.unit, unit),
            meaning=wording_for(item.meaning, unit),
            assumptions=tuple(wording_for(assumption, unit) for assumption in item.assumptions),
        )
    if isinstance(item, Chart):
        return attrs.evolve(
            item,
            title=wording_for(item.title, unit),
            x=wording_for(item.x, unit),
            y=wording_for(item.y, unit),
            meaning=wording_for(item.meaning, unit),
        )
    return notice_for_unit(item, unit) if isinstance(item, Notice) else item
