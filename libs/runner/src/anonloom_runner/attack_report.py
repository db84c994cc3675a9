"""What attacks say of one release, as the part of a report that is read first."""

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom import AuditInput, Findings, short_repr
from anonloom_runner.advice import advice_of
from anonloom_runner.changes import changes_of
from anonloom_runner.exposed_groups import ColumnGroups, exposed_groups, group_data, most_exposed
from anonloom_runner.hand_over import LIMIT, decide, rule_texts
from anonloom_runner.headline import (
    NamedAttack,
    attack_data,
    attacks_of,
    headline_of,
    question_headlines,
    simultaneous_level,
    worst_of,
)

__all__ = [
    "AttackReport",
    "report_attacks",
]


@short_repr
@attrs.frozen
class AttackReport:
    """What attacks say.

    Attributes
    ----------
    data
        As a report has it.
    groups
        Who is exposed, with what the groups stand for: for the steward only.
    """

    data: dict[str, Any]
    groups: tuple[ColumnGroups, ...] = ()


def report_attacks(
    case: AuditInput,
    findings: Mapping[str, Findings],
    seed: int,
    *,
    settled: Mapping[str, str] | None = None,
    objections: Sequence[str] = (),
    doubts: Sequence[str] = (),
    changed: bool = False,
    limit: float = LIMIT,
) -> AttackReport:
    """Return headline, questions, decision, who is exposed, what was changed and what would help.

    Parameters
    ----------
    findings
        What auditors found, by their ids.
    seed
        The seed of the audit, which chose the people attacked.
    settled
        Why a question need not be asked, by question.
    objections, doubts
        See `decide`.
    changed
        Whether cells of the release do not cover the originals.
    limit
        The risk above which a release is not handed over.
    """
    attacks = attacks_of(findings)
    headline = headline_of(attacks)
    questions = question_headlines(attacks, settled or {})
    original = case.original
    changes = changes_of(original, case.release) if changed and original is not None else []
    level = simultaneous_level(len(attacks))
    listed = [attack_data(attack, level) for attack in attacks]
    decision = decide(
        headline, questions, listed, objections=objections, doubts=doubts, limit=limit
    )
    groups = _groups(case, findings, attacks, seed)
    counts = group_data(groups)
    share = headline["exposed"] / headline["people"] if headline["people"] else 0.0
    return AttackReport(
        {
            "headline": headline,
            "decision": decision.data(),
            "rule": {"limit": limit, "texts": rule_texts(limit)},
            "questions": questions,
            "attacks": listed,
            "exposed": {"groups": counts, "stand_out": most_exposed(counts, share)},
            "changes": changes,
            "advice": advice_of(case, findings, questions, listed, changes, limit),
        },
        groups,
    )


def _groups(
    case: AuditInput,
    findings: Mapping[str, Findings],
    attacks: Sequence[NamedAttack],
    seed: int,
) -> tuple[ColumnGroups, ...]:
    """Count by groups the people whom the worst attack exposes."""
    worst = worst_of(attacks, simultaneous_level(len(attacks)))
    if worst is None or not worst.result.exposed or case.original is None:
        return ()
    rows = exposed_rows(findings[worst.auditor], worst.result.name)
    return exposed_groups(case.original, case.people_attacked(seed), rows)


def exposed_rows(findings: Findings, attack: str) -> NDArray[np.int64]:
    """Return the rows of the original that an attack exposes."""
    listed = [item.rows for item in findings.private if item.name == f"{attack}_exposed"]
    return np.concatenate(listed) if listed else np.empty(0, np.int64)
