#!/usr/bin/env python3
"""Eleven releases of two real tables, ranked by every risk auditor and by three other packages.

    python benchmarks/audit_ranking.py [--tables NAME ...] [--tools NAME ...] [--seeds N]

Original, control and an independent draw are disjoint parts of a table, 5,000 rows each. Prints how
risky each release is by every attack (means over the seeds), our attacks beside anonymeter's on as
many people, membership beside DOMIAS, leaked rows that are found, and CPU seconds; writes JSON to
benchmarks/results/, prints every goal beside its figure, and ends with 1 if one is missed.

What counts as success. Singling out, both: a predicate that is true of one distinct row of the
release is true of one distinct person of the original; anonymeter divides by 500 even where it
finds fewer predicates. Linkability: anonymeter's two halves of a person have the same nearest row,
whosever it is; ours names a row that is the person's own. Inference, both: the value of a person of
whom all other columns are known, or a number within 5 % of it. Either side attacks as many people
of the original and of the control.
"""

import argparse
import json
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import attrs
import ranking_goals
from environments import ROOT, Failed
from goal import Goal, verdicts
from ranking_goals import DENSITY, PEER, QUESTIONS, Mean, Results, contests, cpu, finders
from ranking_ours import TOOL, Record, measure_ours, risk_auditors, warm_up
from ranking_peers import PEERS, measure_peer
from ranking_releases import LEAKS, POPULATIONS, RELEASES, ROWS, divide

#: Characters of a row's name, and of a column at least.
HEAD, WIDTH = 50, 10
SHARES = ("success", "control", "excess")


def parsed() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tables", nargs="*", choices=POPULATIONS, default=[*POPULATIONS])
    parser.add_argument("--tools", nargs="*", choices=[TOOL, *PEERS], default=[TOOL, *PEERS])
    parser.add_argument("--seeds", type=int, default=20, metavar="N", help="how many, from 1 on")
    parser.add_argument(
        "--peer-seeds", type=int, metavar="N", help="of other packages but DOMIAS; default: all"
    )
    parser.add_argument("--rows", type=int, default=ROWS, help="of the original")
    parser.add_argument("--name", default="audit_ranking", help="of the file of results")
    return parser.parse_args()


def measured(options: argparse.Namespace) -> Iterator[Record]:
    """Yield the records of every tool, seed by seed."""
    attacks = PEERS[PEER].settings["attacks"]
    for name in options.tables:
        population = POPULATIONS[name]()
        auditors = risk_auditors(population) if TOOL in options.tools else {}
        warm_up(auditors, population)
        left_out: set[str] = set()
        for seed in range(1, options.seeds + 1):
            case = divide(population, seed, options.rows)
            print(f"{name}, seed {seed}", flush=True)
            yield from measure_ours(auditors, case, attacks)
            for peer in PEERS:
                slow = peer != DENSITY and seed > (options.peer_seeds or options.seeds)
                if peer in options.tools and peer not in left_out and not slow:
                    try:
                        yield from measure_peer(peer, case)
                    except Failed as why:
                        left_out.add(peer)
                        print(f"{peer} is left out: {str(why).strip().splitlines()[-1]}")


def shown(mean: Mean) -> str:
    """Write a mean over the seeds."""
    return "-" if mean.value != mean.value else f"{mean.value:.3f}"


def table_of(head: str, columns: list[str], rows: dict[str, list[str]]) -> Iterator[str]:
    """Lay out a table; without columns there is nothing to see."""
    if not columns:
        return
    lines = max(name.count("\n") for name in columns) + 1
    names = [(name.split("\n") + [""] * lines)[:lines] for name in columns]
    body = [("" if at else head, [parts[at] for parts in names]) for at in range(lines)]
    body += rows.items()
    wide = [max(WIDTH, *(len(cells[at]) for _, cells in body)) + 2 for at in range(len(columns))]
    yield ""
    for name, cells in body:
        padded = (f"{cell:>{size}}" for cell, size in zip(cells, wide, strict=True))
        yield f"{name:{HEAD}}" + "".join(padded)


def ranking(table: str, results: Results) -> Iterator[str]:
    """Our worst attack of every question and the headline; then every other package's figures."""
    ours = results.where(tool=TOOL)
    rows: dict[str, list[str]] = {}
    for release in RELEASES:
        there = ours.where(release=release)
        worst = [there.question(question).mean("risk") for question in QUESTIONS]
        head = there.where(kind="headline")
        names = [record["attack"] for record in head.records]
        often = max(names, key=names.count, default="-")
        rows[release] = [*map(shown, worst), shown(head.mean("risk")), often]
    if ours.records:
        yield from table_of(f"{table}: our risk", [*QUESTIONS, "headline", "its attack"], rows)
    figures = {"domias": "auc"}
    for tool in [name for name in PEERS if results.where(tool=name).records]:
        of_tool = results.where(tool=tool)
        attacks = of_tool.names("attack")
        key = figures.get(tool, "risk")
        rows = {
            release: [
                shown(of_tool.where(release=release, attack=attack).mean(key)) for attack in attacks
            ]
            for release in RELEASES
        }
        labels = [attack.replace(" of ", " of\n").replace(", ", ",\n") for attack in attacks]
        yield from table_of(f"{table}: {tool}, {key}", labels, rows)


def single_attacks(table: str, results: Results) -> Iterator[str]:
    """Every attack of our audits, and figures of auditors that are not tried on a copy."""
    ours = results.where(tool=TOOL)
    for kind, words in (("attack", "every attack"), ("figure", "figures without self-tests")):
        of_kind = ours.where(kind=kind)
        rows = {}
        for attack in of_kind.names("attack"):
            there = of_kind.where(attack=attack)
            rows[attack] = [shown(there.where(release=name).mean("risk")) for name in RELEASES]
        if rows:
            yield from table_of(f"{table}: {words}", list(RELEASES), rows)
    reasons = [
        f"{record['release']}: {record['attack']}: {record['reason']}"
        for record in ours.where(kind="attack").records
        if record["reason"]
    ]
    for reason in dict.fromkeys(reasons):
        yield f"not assessable {reasons.count(reason)} times: {reason}"
    failed = ours.where(kind="failed").records
    for text in dict.fromkeys(f"{record['auditor']}: {record['reason']}" for record in failed):
        yield f"failed: {text}"


def compared(table: str, results: Results) -> Iterator[str]:
    """Success (and the control's) of our attacks alone beside anonymeter's; then membership."""
    for question in QUESTIONS[:3]:
        rows = {}
        for release in RELEASES:
            for contest in contests(results, question, release):
                names = [side.names("attack")[0] for side in contest]
                label = names[1] if names[0] == names[1] else " / ".join(names)
                shares = [shown(side.mean(key)) for side in contest for key in SHARES]
                rows[f"{release}"[:13] + f": {label}"] = [*shares, "yes" if contest.found else ""]
        columns = [f"{tool}\n{key}" for tool in (TOOL, PEER) for key in SHARES]
        if rows:
            yield from table_of(f"{table}: {question}", [*columns, f"{PEER}\nfinds any"], rows)
    rows = {}
    for release in RELEASES:
        there = results.where(release=release, question="membership")
        sides = there.where(tool=TOOL, kind="alone"), there.where(tool=DENSITY)
        rows[release] = [shown(side.mean(key)) for key in ("auc", "tpr") for side in sides]
    columns = [f"{key}\n{tool}" for key in ("AUC", "TPR at 1 %") for tool in (TOOL, DENSITY)]
    yield from table_of(f"{table}: membership", columns, rows)


def leaks(table: str, results: Results) -> Iterator[str]:
    """How well the rows that an attack calls exposed are the leaked ones."""
    rows: dict[str, list[str]] = {}
    for kind in ("leak", "yardstick"):
        ours = results.where(tool=TOOL, kind=kind)
        for release in LEAKS:
            for item in finders(ours.where(release=release)):
                rows.setdefault(item.name, []).append(f"{item.recall:.2f} / {item.precision:.2f}")
    if rows:
        yield from table_of(f"{table}: recall / precision of leaks", list(LEAKS), rows)


def costs(table: str, results: Results) -> Iterator[str]:
    """CPU seconds per release: whole audits, and attacks alone."""
    rows = {}
    audits = results.where(tool=TOOL, kind="cost")
    for auditor in audits.names("auditor"):
        rows[f"{auditor}, whole audit"] = [shown(audits.where(auditor=auditor).average("cpu"))]
    alone = results.where(tool=TOOL, kind="alone")
    for auditor in alone.names("auditor"):
        rows[f"{auditor}, attacks alone"] = [f"{cpu(alone.where(auditor=auditor)):.3f}"]
    for tool in PEERS:
        for question in QUESTIONS:
            side = results.where(tool=tool, question=question)
            if side.records:
                rows[f"{tool}, {question}"] = [f"{cpu(side):.3f}"]
    yield from table_of(f"{table}: CPU s per release", ["CPU s"], rows)


def concluded(records: list[Record], file: Path) -> list[Goal]:
    """Print, judge and write what was measured; return the goals that are missed."""
    results = Results(records)
    for table in results.tables:
        of_table = results.where(table=table)
        for part in (ranking, single_attacks, compared, leaks, costs):
            print(*part(table, of_table), sep="\n")
    judged = ranking_goals.goals(results)
    outcome = {"records": records, "goals": [attrs.asdict(goal) for goal in judged]}
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(outcome, indent=1) + "\n")
    print("", verdicts(judged), sep="\n")
    return [goal for goal in judged if not goal.met]


def main() -> int:
    """Measure, print, judge."""
    options = parsed()
    file = ROOT / "benchmarks" / "results" / f"{options.name}.json"
    records: list[Record] = []
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended from outside"))
    try:
        records.extend(measured(options))
    finally:
        # Also what was measured before a run was interrupted.
        missed = concluded(records, file)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
