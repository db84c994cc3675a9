"""Other packages on the same releases: each in an environment of its own, and asked only once.

What a package finds depends on the tables and its settings alone, so that results are kept beside
the benchmark's own, under a digest of both; delete the folder to measure anew.
"""

import hashlib
import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
from environments import ROOT, environment, run
from ranking_releases import Case, plain

from anonloom import Release
from anonloom.findings import normalized_excess

CALLS = Path(__file__).with_name("ranking_peer_calls.py")
KEPT = ROOT / "benchmarks" / "results" / "ranking-peers"
#: Of one package on all releases of one table.
MOST_SECONDS = 3_600.0

Record = dict[str, Any]


@attrs.frozen
class Peer:
    """A package: what is installed, and how its attacks are set."""

    required: tuple[str, ...]
    settings: Mapping[str, int] = attrs.field(factory=dict)


PEERS = {
    "anonymeter": Peer(
        ("anonymeter==1.1.0",),
        # Attacks as by default; columns of a predicate as in its authors' notebook; so many
        # predicates are tried until enough of them single somebody out of the release.
        {"attacks": 500, "predicate": 4, "tried": 50_000},
    ),
    "domias": Peer(("domias==0.0.5", "scipy>=1.11")),
    # Rows that are drawn of every table, and how often, since all of them take minutes.
    "sdmetrics": Peer(("sdmetrics==0.32.0", "pandas>=2"), {"subsample": 1_000, "iterations": 2}),
}


def measure_peer(name: str, case: Case) -> list[Record]:
    """Return what a package finds in every release of a case.

    Raises
    ------
    environments.Failed
        When it can't be installed, fails or takes too long.
    """
    question = _question(name, case)
    tables = {part: _csv(getattr(case, part)) for part in ("original", "control")}
    releases = {key: plain(item.release).to_csv(index=False) for key, item in case.releases.items()}
    kept = {
        release: KEPT / f"{_digest(question, *tables.values(), text)}.json"
        for release, text in releases.items()
    }
    missing = [release for release, file in kept.items() if not file.is_file()]
    if missing:
        python = environment(PEERS[name].required)
        with tempfile.TemporaryDirectory() as folder:
            texts = tables | {f"release-{at}": releases[key] for at, key in enumerate(missing)}
            for part, text in texts.items():
                (Path(folder) / f"{part}.csv").write_text(text)
            files = {release: f"release-{at}.csv" for at, release in enumerate(missing)}
            asked = question | {"folder": folder, "releases": files}
            run([str(python), str(CALLS), json.dumps(asked)], MOST_SECONDS)
            for line in (Path(folder) / "results.jsonl").read_text().splitlines():
                result = json.loads(line)
                KEPT.mkdir(parents=True, exist_ok=True)
                kept[result["release"]].write_text(json.dumps(result["attacks"]))
    labels = {"table": case.population.name, "seed": case.seed, "tool": name}
    return [
        {**labels, "release": release, **attack, **_excess(attack)}
        for release, file in kept.items()
        for attack in json.loads(file.read_text())
    ]


def _excess(attack: Record) -> Record:
    """Put success on the scale of ours; what the package calls risk is never below 0."""
    if "success" not in attack:
        return {}
    return {"excess": normalized_excess(attack["success"], attack["control"])}


def _question(name: str, case: Case) -> Record:
    population = case.population
    return {
        "peer": name,
        "seed": case.seed,
        "numbers": population.numbers,
        "halves": population.halves,
        "secrets": population.schema.names,
        "sensitive": population.schema.names_with_role("sensitive"),
        **PEERS[name].settings,
    }


def _csv(table: Any) -> str:
    return plain(Release.as_it_is(table)).to_csv(index=False)


def _digest(question: Record, *texts: str) -> str:
    parts = json.dumps([question, PEERS[question["peer"]].required, *texts])
    return hashlib.sha256(parts.encode()).hexdigest()[:32]
