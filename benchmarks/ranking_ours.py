"""Every risk auditor that is installed, on the same releases: its audit, and its attacks alone.

An audit is what a steward gets: attacks with self-tests, a baseline and rows that are exposed. The
attacks alone, on as many people as another package attacks and with the same control, are what can
be compared with its attacks one by one.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import attrs
import numpy as np
from ranking_peer_calls import clocked, separation
from ranking_releases import (
    COPULA,
    Case,
    Population,
    Protected,
    divide,
    plain,
)

from anonloom import AuditInput, Auditor, Registry, Release, StageContext, Table
from anonloom.data import row_keys
from anonloom.errors import AnonloomError
from anonloom.findings import (
    AttackResult,
    Finding,
    Findings,
    PrivateRows,
    normalized_excess,
)
from anonloom.typing import BoolArray, IntArray
from anonloom_risk import RiskAuditor
from anonloom_risk.left_out import join_people

Record = dict[str, Any]
TOOL = "anonloom"
#: Of the attacks of one release together, and then of each.
LEVEL = 0.95
#: What the benchmark has for an auditor; one that needs more is left out.
EVIDENCE = {"original", "control"}
WARM_UP = 600
#: How rows are called that an attack finds, and what all attacks together find.
EXPOSED, EVERY = "_exposed", "all together"
#: How shares of predicates are called that single out in the original, and in the control.
PREDICATES, IN_CONTROL = "_predicates", "_predicates_in_control"
#: What no attack is needed for.
COPIES = "(equal rows that no control has)"


def risk_auditors(population: Population) -> dict[str, Auditor]:
    """Return every installed auditor of risk, with its defaults, that can judge such a table."""
    registry = Registry.installed()
    results = {}
    for entry in registry.methods("auditor"):
        method = registry.load_entry(entry)
        if method.measures != "risk" or not method.needs <= EVIDENCE:
            continue
        try:
            auditor = method()
        except TypeError:
            # It has no defaults: it is asked for by name.
            continue
        if auditor.problem(population.schema) is None:
            results[entry.name] = auditor
    return results


def warm_up(auditors: dict[str, Auditor], population: Population) -> None:
    """Audit a small case, so that everything is imported and kernels are loaded."""
    case = divide(population, 0, WARM_UP)
    for name, auditor in auditors.items():
        _audited(name, auditor, case, COPULA)


def measure_ours(auditors: dict[str, Auditor], case: Case, attacks: int) -> Iterator[Record]:
    """Yield what every auditor finds in every release of a case, and the worst of all."""
    labels = {"table": case.population.name, "seed": case.seed, "tool": TOOL}
    for release, protected in case.releases.items():
        records: list[Record] = []
        findings: dict[str, Findings] = {}
        for name, auditor in auditors.items():
            try:
                findings[name], cpu = _audited(name, auditor, case, release)
                alone = [*_alone(name, auditor, case, release, attacks)]
            except AnonloomError as why:
                records.append({"auditor": name, "kind": "failed", "reason": str(why)})
                continue
            records.append({"auditor": name, "kind": "cost", "cpu": cpu})
            records += [*_figures(name, findings[name], case, protected), *alone]
        records += _headline(findings)
        private = [item for one in findings.values() for item in one.private]
        records += _leak(EVERY, private, case, protected) + _copies(case, protected)
        yield from ({**labels, "release": release, **record} for record in records)


def _audited(name: str, auditor: Auditor, case: Case, release: str) -> tuple[Findings, float]:
    given = AuditInput(case.releases[release].release, original=case.original, control=case.control)
    context = StageContext(stage=f"{name}, {release}", seed=case.seed)
    return clocked(lambda: auditor.audit(given, context))


def _figures(name: str, findings: Findings, case: Case, protected: Protected) -> Iterator[Record]:
    for result in findings.attacks:
        yield _attack(name, result)
        rows = [item for item in findings.private if item.name == f"{result.name}{EXPOSED}"]
        yield from _leak(f"{name}: {result.name}", rows, case, protected)
    if not findings.attacks:
        # What is not tried on a copy and on strangers makes no headline.
        yield from (_figure(name, item) for item in findings if item.key)


def _attack(name: str, result: AttackResult) -> Record:
    return {
        "auditor": name,
        "kind": "attack",
        "attack": f"{name}: {result.name}",
        "question": result.question,
        "success": result.success,
        "control": result.baseline,
        "copy": result.copy,
        "risk": result.risk if result.assessable else None,
        "interval": result.interval(LEVEL) if result.assessable else None,
        "reason": result.reason,
    }


def _figure(name: str, finding: Finding) -> Record:
    figure = finding.value if finding.assessable else None
    return {"auditor": name, "kind": "figure", "attack": f"{name}: {finding.name}", "risk": figure}


def _leak(
    attack: str, exposed: Sequence[PrivateRows], case: Case, protected: Protected
) -> list[Record]:
    """How many of the leaked rows are called exposed, and how many of these are leaked.

    Whoever equals a leaked person in every column is exposed by the same row.
    """
    if not len(protected.leaked):
        return []
    rows = [item.rows for item in exposed if item.name.endswith(EXPOSED)]
    called = np.zeros(len(case.original), bool)
    called[np.concatenate([*rows, np.empty(0, np.int64)])] = True
    return [{"kind": "leak", "attack": attack, **_recall(called, case, protected)}]


def _copies(case: Case, protected: Protected) -> list[Record]:
    """Say the same of the simplest search: equal rows of the release that no control has."""
    if not len(protected.leaked):
        return []
    original, control = (plain(Release.as_it_is(table)) for table in (case.original, case.control))
    keys, of_release, of_control = (
        frame.astype(str).agg("\t".join, axis=1)
        for frame in (original, plain(protected.release), control)
    )
    called = (keys.isin(of_release) & ~keys.isin(of_control)).to_numpy()
    return [{"kind": "yardstick", "attack": COPIES, **_recall(called, case, protected)}]


def _recall(called: BoolArray, case: Case, protected: Protected) -> Record:
    leaked = _alike(case.original, protected.leaked)
    return {
        "recall": float(called[protected.leaked].mean()),
        "precision": float(leaked[called].mean()) if called.any() else 0.0,
    }


def _alike(table: Table, rows: IntArray) -> BoolArray:
    """Mark the rows that equal one of these in every column."""
    coded = [table.frame[name].astype("category").cat for name in table.schema.names]
    keys = row_keys(((item.codes.to_numpy(), len(item.categories)) for item in coded), len(table))
    return np.isin(keys, keys[rows])


def _headline(findings: dict[str, Findings]) -> list[Record]:
    """Return the worst attack that can be assessed; its interval covers the choice among all."""
    results = {
        f"{name}: {result.name}": result for name, one in findings.items() for result in one.attacks
    }
    able = {name: result for name, result in results.items() if result.assessable}
    if not able:
        return []
    name = max(able, key=lambda name: able[name].risk)
    interval = able[name].interval(1 - (1 - LEVEL) / len(results))
    return [{"kind": "headline", "attack": name, "risk": able[name].risk, "interval": interval}]


def _alone(name: str, auditor: Auditor, case: Case, release: str, attacks: int) -> Iterator[Record]:
    """Run the attacks alone, as the other package does.

    Predicates are counted; membership ranks everybody; links and inference are tried on as many
    people, and inference of one column after another.
    """
    if not isinstance(auditor, RiskAuditor):
        return
    labels = {"auditor": name, "kind": "alone", "question": auditor.question}
    trial = _Trial(case, case.releases[release].release, attacks)
    if auditor.question == "singling out":
        records = trial.predicates(auditor)
    elif auditor.question == "inference" and hasattr(auditor, "secrets"):
        records = [
            record | {"attack": f"inference of {secret}"}
            for secret in case.population.schema.names
            for record in trial.answers(attrs.evolve(auditor, secrets=(secret,)))
        ]
    else:
        records = trial.answers(auditor)
    yield from (labels | record for record in records)


@attrs.frozen(eq=False, repr=False)
class _Trial:
    """Attacks on one release by themselves: of the control one half is attacked, one is known."""

    case: Case
    release: Release
    attacks: int

    @property
    def context(self) -> StageContext:
        return StageContext(stage="alone", seed=self.case.seed)

    def predicates(self, auditor: RiskAuditor) -> list[Record]:
        """Return the shares of predicates that single out in the original and in the control.

        About all columns, as the other package's are, whatever the roles.
        """
        if hasattr(auditor, "columns"):
            auditor = attrs.evolve(auditor, columns=self.case.population.schema.names)
        case = AuditInput(self.release, original=self.case.original, control=self.case.control)
        findings, cpu = clocked(lambda: auditor.details(case, self.context))
        names = [
            item.name.removesuffix(IN_CONTROL)
            for item in findings
            if item.name.endswith(IN_CONTROL)
        ]
        return [
            {
                "attack": f"singling out, {name}",
                "method": name,
                **_shares(
                    findings[f"{name}{PREDICATES}"].value, findings[f"{name}{IN_CONTROL}"].value
                ),
                "cpu": cpu / len(names),
            }
            for name in names
        ]

    def answers(self, auditor: RiskAuditor) -> list[Record]:
        """Return how often each attack is right about people inside and outside."""
        original, control = self.case.original, self.case.control
        outside, known = np.array_split(np.arange(len(control)), 2)
        everybody = auditor.question == "membership"
        people = len(original) if everybody else min(self.attacks, len(outside))
        inside = np.random.default_rng([self.case.seed, 2]).permutation(len(original))[:people]
        targets = join_people(original.take(inside), control.take(outside[:people]))
        case = AuditInput(self.release, original=original, control=control.take(known))
        answers, cpu = clocked(lambda: auditor.attack(case, targets, self.context))
        return [
            {
                "attack": item.name,
                "method": item.name,
                **(
                    separation(item.score[:people], item.score[people:])
                    if everybody
                    else _shares(item.right[:people].mean(), item.right[people:].mean())
                ),
                # All attacks of the auditor share what they cost together.
                "cpu": cpu / len(answers),
            }
            for item in answers
        ]


def _shares(success: Any, control: Any) -> Record:
    """Where there is no predicate at all, nobody is singled out."""
    success, control = float(success or 0.0), float(control or 0.0)
    return {
        "success": success,
        "control": control,
        "excess": normalized_excess(success, control),
    }
