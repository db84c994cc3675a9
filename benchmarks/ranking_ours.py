"""Every risk auditor that is installed, on the same releases: its audit, and its attacks alone.

An audit is what a steward gets: attacks with self-tests, a baseline and rows that are exposed. The
attacks alone, on as many people as another package attacks and with the same control, are what can
be compared with its attacks one by one.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from ranking_peer_calls import clocked, separation
from ranking_releases import COPULA, Case, Population, Protected, about_secret, divide

from anonloom import AuditInput, Auditor, Registry, Release, StageContext, Table
from anonloom.data import row_keys
from anonloom.errors import AnonloomError
from anonloom.findings import AttackResult, Finding, Findings
from anonloom.typing import BoolArray, IntArray
from anonloom_risk import Answers, RiskAuditor
from anonloom_risk.left_out import join_people

Record = dict[str, Any]
TOOL = "anonloom"
#: Of the attacks of one release together, and then of each.
LEVEL = 0.95
#: What the benchmark has for an auditor; one that needs more is left out.
EVIDENCE = {"original", "control"}
WARM_UP = 600


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
        list(_audited(name, auditor, case, COPULA, case.releases[COPULA]))


def measure_ours(auditors: dict[str, Auditor], case: Case, attacks: int) -> Iterator[Record]:
    """Yield what every auditor finds in every release of a case, and the worst of all."""
    labels = {"table": case.population.name, "seed": case.seed, "tool": TOOL}
    for release, protected in case.releases.items():
        records: list[Record] = []
        results: list[AttackResult] = []
        for name, auditor in auditors.items():
            for record, result in _audited(name, auditor, case, release, protected):
                records.append(record)
                results += [result] if result is not None else []
            if isinstance(auditor, RiskAuditor):
                records += _alone(name, auditor, case, release, attacks)
        records += _headline(results)
        yield from ({**labels, "release": release, **record} for record in records)


def _audited(
    name: str, auditor: Auditor, case: Case, release: str, protected: Protected
) -> Iterator[tuple[Record, AttackResult | None]]:
    given = AuditInput(protected.release, original=case.original, control=case.control)
    context = StageContext(stage=f"{name}, {release}", seed=case.seed)
    try:
        findings, cpu = clocked(lambda: auditor.audit(given, context))
    except AnonloomError as why:
        yield {"auditor": name, "kind": "failed", "reason": str(why)}, None
        return
    yield {"auditor": name, "kind": "cost", "cpu": cpu}, None
    for result in findings.attacks:
        yield _attack(name, result) | _exposed(result, findings, case, protected), result
    if not findings.attacks:
        # What is not tried on a copy and on strangers makes no headline.
        yield from ((_figure(name, item), None) for item in findings if item.key)


def _attack(name: str, result: AttackResult) -> Record:
    return {
        "auditor": name,
        "kind": "attack",
        "attack": result.name,
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
    return {"auditor": name, "kind": "figure", "attack": finding.name, "risk": figure}


def _exposed(result: AttackResult, findings: Findings, case: Case, protected: Protected) -> Record:
    """How many of the leaked rows an attack calls exposed, and how many of these are leaked.

    Whoever equals a leaked person in every column is exposed by the same row.
    """
    if not len(protected.leaked):
        return {}
    rows = [item.rows for item in findings.private if item.name == f"{result.name}_exposed"]
    called = np.zeros(len(case.original), bool)
    called[np.concatenate([*rows, np.empty(0, np.int64)])] = True
    leaked = _alike(case.original, protected.leaked)
    return {
        "recall": float(called[protected.leaked].mean()),
        "precision": float(leaked[called].mean()) if called.any() else 0.0,
        "rows_called": int(called.sum()),
    }


def _alike(table: Table, rows: IntArray) -> BoolArray:
    """Mark the rows that equal one of these in every column."""
    coded = [table.frame[name].astype("category").cat for name in table.schema.names]
    keys = row_keys(((item.codes.to_numpy(), len(item.categories)) for item in coded), len(table))
    return np.isin(keys, keys[rows])


def _headline(results: list[AttackResult]) -> list[Record]:
    """Return the worst attack that can be assessed; its interval covers the choice among all."""
    able = [result for result in results if result.assessable]
    if not able:
        return []
    worst = max(able, key=lambda result: result.risk)
    return [
        {
            "kind": "headline",
            "attack": worst.name,
            "question": worst.question,
            "risk": worst.risk,
            "interval": worst.interval(1 - (1 - LEVEL) / len(results)),
            "worst": max(result.risk for result in able),
        }
    ]


def _alone(
    name: str, auditor: RiskAuditor, case: Case, release: str, attacks: int
) -> Iterator[Record]:
    """Run the attacks alone: half of the control is attacked, half is known.

    Membership and singling out rank everybody; the other questions are asked about as many people
    as the other package attacks, and inference about one column after another.
    """
    if auditor.question != "inference":
        given = case.original, case.control, case.releases[release].release
        yield from _tried(name, auditor, given, case.seed, attacks)
        return
    for secret in case.population.schema.names:
        given = about_secret(case, release, secret)
        for record in _tried(name, auditor, given, case.seed, attacks):
            yield record | {"method": record["attack"], "attack": f"inference of {secret}"}


def _tried(
    name: str,
    auditor: RiskAuditor,
    given: tuple[Table, Table, Release],
    seed: int,
    attacks: int,
) -> Iterator[Record]:
    original, control, release = given
    outside, known = np.array_split(np.arange(len(control)), 2)
    everybody = auditor.question in ("membership", "singling out")
    people = len(original) if everybody else min(attacks, len(outside))
    inside = np.random.default_rng([seed, 2]).choice(len(original), people, replace=False)
    outside = outside if everybody else outside[:people]
    targets = join_people(original.take(inside), control.take(outside))
    case = AuditInput(release, original=original, control=control.take(known))
    context = StageContext(stage=f"{name}, alone", seed=seed)
    answers, cpu = clocked(lambda: auditor.attack(case, targets, context))
    for item in answers:
        question = item.question or auditor.question
        yield {
            "auditor": name,
            "kind": "alone",
            "attack": item.name,
            "question": question,
            **_shares(item, question, people, attacks),
            # All attacks of the auditor share what they cost together.
            "cpu": cpu / len(answers),
        }


def _shares(answers: Answers, question: str, people: int, attacks: int) -> Record:
    if question == "membership":
        return separation(answers.score[:people], answers.score[people:])
    parts = []
    for part in (slice(None, people), slice(people, None)):
        right, score = answers.right[part], answers.score[part]
        # Of predicates the surest are tried, as many as the other package tries.
        surest = np.argsort(-score, kind="stable")[:attacks]
        parts.append(float(right[surest].mean()))
    return {"success": parts[0], "control": parts[1], "attacks": min(attacks, people)}
