"""The headline of an audit: the worst attack that says anything, or why none does.

Never a mean: whoever is found by one attack is found. Attacks that say nothing have no figure here,
and none of them makes a headline smaller.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, get_args

import attrs

from anonloom import Finding, Findings
from anonloom.findings import AttackResult, Question

__all__ = [
    "QUESTIONS",
    "NamedAttack",
    "attack_data",
    "attacks_of",
    "headline_findings",
    "headline_of",
    "question_headlines",
    "say_not_self_tested",
]

#: What an attacker may want, in the order in which it is read.
QUESTIONS: tuple[Question, ...] = get_args(Question)
#: Chance that the interval of any attack misses, all attacks taken together.
ERROR = 0.05
NOT_SELF_TESTED = (
    "not self-tested: this auditor did not try itself on a copy of the original and on strangers, "
    "so that its figures make no headline"
)
_BASELINES = {
    "control": "people of the control, who are not in the release",
    "leave-one-out": "people of the original who were taken out of the release: a weaker baseline "
    "than people who never were in it",
}


@attrs.frozen
class NamedAttack:
    """An attack, and who tried it."""

    auditor: str
    result: AttackResult

    @property
    def name(self) -> str:
        """The name that is unique in an audit."""
        return f"{self.auditor}.{self.result.name}"


def attacks_of(findings: Mapping[str, Findings]) -> tuple[NamedAttack, ...]:
    """Return all attacks that were tried, with the auditors that tried them."""
    return tuple(
        NamedAttack(auditor, result)
        for auditor, found in findings.items()
        for result in found.attacks
    )


def simultaneous_level(tried: int) -> float:
    """Return the level of one interval at which all together hold with 95 % (Bonferroni).

    It is asked of all attacks that were tried: the worst is chosen among them.
    """
    return 1 - ERROR / max(tried, 1)


def worst_of(attacks: Iterable[NamedAttack], level: float) -> NamedAttack | None:
    """Return the assessable attack with the highest risk; of equal ones the surest."""
    able = [attack for attack in attacks if attack.result.assessable]
    if not able:
        return None
    return max(able, key=lambda attack: (attack.result.risk, attack.result.interval(level)[0]))


def headline_of(
    attacks: Sequence[NamedAttack], tried: int | None = None, lacking: str = ""
) -> dict[str, Any]:
    """Return the headline of attacks as a report has it.

    Parameters
    ----------
    tried
        How many attacks were tried, where these are only some of them.
    lacking
        Why there are none.
    """
    tried = len(attacks) if tried is None else tried
    level = simultaneous_level(tried)
    worst = worst_of(attacks, level)
    if worst is not None:
        return {**attack_data(worst, level), "tried": tried, "level": level, "reasons": []}
    reasons = [f"{attack.name}: {attack.result.reason}" for attack in attacks]
    return {
        "status": "not assessable",
        "attack": None,
        "question": None,
        "risk": None,
        "interval": None,
        "people": None,
        "exposed": None,
        "baseline": None,
        "tried": tried,
        "level": level,
        "reasons": reasons or [lacking or "no auditor tried an attack"],
    }


def question_headlines(
    attacks: Sequence[NamedAttack], settled: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Return for every question its worst attack, or why there is none.

    Parameters
    ----------
    settled
        Why a question need not be asked, by question; it is not held against the release.
    """
    results = []
    for question in QUESTIONS:
        asking = [attack for attack in attacks if attack.result.question == question]
        lacking = settled.get(question, "no auditor that was run tries such an attack")
        data = headline_of(asking, len(attacks), lacking)
        status = data["status"] if asking else "not asked"
        results.append(
            {
                **data,
                "question": question,
                "status": status,
                "settled": not asking and question in settled,
            }
        )
    return results


def attack_data(attack: NamedAttack, level: float) -> dict[str, Any]:
    """Return an attack as a report has it: risk and interval on a scale from 0 to 1."""
    result = attack.result
    fits = result.assessable
    return {
        "status": "measured" if fits else "not assessable",
        "attack": attack.name,
        "question": result.question,
        "meaning": result.meaning,
        "risk": _clip(result.risk) if fits else None,
        "interval": [_clip(end) for end in result.interval(level)] if fits else None,
        "people": result.people,
        "exposed": result.exposed if fits else None,
        "success": result.success,
        "chance": result.baseline,
        "outside": result.strangers,
        "baseline": _BASELINES[result.baseline_kind],
        "baseline_kind": result.baseline_kind,
        "copy": result.copy,
        "strangers": [_finite(end) for end in result.of_strangers],
        "reason": result.reason,
    }


def headline_findings(data: Mapping[str, Any]) -> Findings:
    """Return a headline as figures that a condition can be set on; without a risk there is none."""
    fits = data["status"] == "measured"
    upper = data["interval"][1] if fits else None
    texts = {
        "risk": (data["risk"], "Risk of the worst attack."),
        "upper": (upper, "Upper end of its interval."),
        "exposed": (data["exposed"], "People whom it finds because of the release."),
    }
    return Findings(
        tuple(
            Finding(
                name=name,
                value=value,
                meaning=meaning,
                better="lower",
                status="measured" if fits else "not assessable",
            )
            for name, (value, meaning) in texts.items()
        )
    )


def say_not_self_tested(findings: Findings, measures: str) -> Findings:
    """Return findings of an auditor of risks with what must be said where it tried no attack."""
    if measures != "risk" or findings.attacks:
        return findings
    return Findings(
        tuple(
            attrs.evolve(item, assumptions=(*item.assumptions, NOT_SELF_TESTED))
            if isinstance(item, Finding)
            else item
            for item in findings.items
        )
    )


def _clip(value: float) -> float:
    return min(max(value, 0.0), 1.0)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
