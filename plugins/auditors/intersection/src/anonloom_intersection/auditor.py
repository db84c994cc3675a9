"""The auditor `intersection`: several releases about the same people, put together."""

from itertools import combinations
from typing import ClassVar, Literal

import attrs
import numpy as np

from anonloom import AuditInput, Auditor, Findings, Schema, StageContext, param
from anonloom.data import Need
from anonloom.findings import FindingBuilder
from anonloom.params import at_least
from anonloom.typing import BoolArray, IntArray
from anonloom_intersection.candidates import Attack
from anonloom_intersection.evidence import Evidence
from anonloom_intersection.figures import ColumnFigures, disclosed_people
from anonloom_intersection.register import Pair, solve

NO_SENSITIVE = "no column has the role 'sensitive': there is nothing to disclose"
ASSUMED = (
    "the attacker knows all quasi-identifiers of everybody exactly, and takes nobody for suppressed"
)


@attrs.frozen(kw_only=True)
class Intersection(Auditor):
    """Intersects, for every person, the sensitive values that each release leaves possible."""

    measures: ClassVar[Literal["risk", "utility", "cost"]] = "risk"
    needs: ClassVar[frozenset[Need]] = frozenset({"original", "other_releases"})

    l: int | None = param(  # noqa: E741  # the papers call it l
        help="Fewer candidate values than this are too few; by default the least number of values "
        "that any class of any of the releases holds, but at least 2.",
        default=None,
        check=at_least(2),
    )
    k: int | None = param(
        help="Fewer candidate rows than this are too few; by default the least rows that the "
        "declared privacy demands of a class, or else that any class of the releases has.",
        default=None,
        check=at_least(2),
    )
    known_members: bool = param(
        help="The attacker knows who is in which release, where that can be known at all; "
        "otherwise everybody of the original is attacked as if in all of them.",
        default=True,
    )

    def problem(self, schema: Schema) -> str | None:
        """Say that there is nothing to disclose."""
        return None if schema.names_with_role("sensitive") else NO_SENSITIVE

    def audit(self, case: AuditInput, context: StageContext) -> Findings:
        """Attack every person with all releases, with each alone, and by a register of members."""
        assert case.original is not None
        evidence = Evidence.of(case, known_members=self.known_members)
        attack = Attack.prepare(case.original, evidence.releases)
        unfit = evidence.problem(attack) or self._nothing_shown(case.original.schema, attack)
        columns = []
        for name, (_, shown) in attack.sensitive.items():
            singles = attack.singles(name)
            wrong = unfit or evidence.problem_of_values(shown, singles)
            columns.append(
                ColumnFigures(
                    name=name,
                    attacked=evidence.attacked,
                    singles=singles,
                    pairs=[] if wrong else _all_pairs(attack, name, evidence),
                    l=self._l(attack, name),
                    k=self._k(case, attack),
                    assumptions=(ASSUMED, evidence.assumption),
                    unfit=wrong,
                )
            )
        for column in columns:
            column.warn(context)
        unfit = unfit or next((column.unfit for column in columns if column.unfit), "")
        return Findings.of(
            disclosed_people(
                columns,
                evidence.attacked,
                _disclosed_outside(case, evidence),
                FindingBuilder((ASSUMED, evidence.assumption), unfit),
            ),
            *(column.items() for column in columns),
        )

    def _nothing_shown(self, schema: Schema, attack: Attack) -> str:
        if attack.sensitive:
            return ""
        return self.problem(schema) or "no two of the releases show the same sensitive column"

    def _l(self, attack: Attack, name: str) -> int:
        if self.l is not None:
            return self.l
        return max(2, min(_least(np.diff(counts.indptr)) for counts in attack.counts(name)))

    def _k(self, case: AuditInput, attack: Attack) -> int:
        if self.k is not None:
            return self.k
        return max(2, case.demanded or min(_least(regions.sizes) for regions in attack.regions))


def _least(counts: IntArray) -> int:
    return int(counts.min()) if len(counts) else 0


def _all_pairs(attack: Attack, name: str, evidence: Evidence) -> list[Pair]:
    """Solve every pair of releases whose people are known."""
    if not evidence.known_members:
        return []
    _, shown = attack.sensitive[name]
    members = [evidence.members[release] for release in shown]
    return [
        solve(attack, name, (first, second), (inside, other))
        for (first, inside), (second, other) in combinations(enumerate(members), 2)
        if inside is not None and other is not None
    ]


def _disclosed_outside(case: AuditInput, evidence: Evidence) -> BoolArray | None:
    """Mark the people of the control whose value would be taken for disclosed, and rightly."""
    if case.control is None or not len(case.control):
        return None
    attack = Attack.prepare(evidence.original, evidence.releases, case.control)
    found = np.zeros(len(case.control), bool)
    for name in attack.sensitive:
        found |= attack.candidates(name).disclosed
    return found
