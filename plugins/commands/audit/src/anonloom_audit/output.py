"""The folder of an audit, whole or not at all: `public/`, and `private/` for the steward."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from anonloom import Registry
from anonloom.registry import Entry
from anonloom_audit.report import AuditedRelease
from anonloom_runner.outputs import MANIFEST, atomic_folder, digests, write_json
from anonloom_runner.provenance import package_versions
from anonloom_runner.reporting import utc_now
from anonloom_runner.table_files import write_csv

#: What private rows of an attack are called, after its name.
_EXPOSED = "_exposed"


def default_reporters(registry: Registry) -> list[tuple[Entry, Any]]:
    """Make the reporters that declare themselves defaults."""
    return [
        (entry, registry.load_entry(entry)())
        for entry in registry.methods("reporter")
        if entry.method.default
    ]


def write_audit(
    target: Path,
    report: Mapping[str, Any],
    releases: Sequence[AuditedRelease],
    private: Mapping[str, Any],
    registry: Registry,
    *,
    replace: bool,
) -> None:
    """Write everything aside, and rename it into place."""
    reporters = default_reporters(registry)
    with atomic_folder(target, replace) as folder:
        public, hidden = folder / "public", folder / "private"
        public.mkdir()
        hidden.mkdir(mode=0o700)
        write_json(hidden / "audit.json", private)
        write_json(hidden / "report.json", report)
        for release, names in zip(releases, private_names(releases), strict=True):
            write_csv(_exposed_rows(release), hidden / names[0])
            write_csv(_groups(release), hidden / names[1])
        for path in hidden.iterdir():
            # The folder is closed to others; its files stay closed wherever they are moved.
            path.chmod(0o600)
        shown = without_cells(report)
        write_json(public / "report.json", shown)
        for _, reporter in reporters:
            reporter.write_audit(shown, public)
        entries = [use.entry for release in releases for use in release.auditors]
        entries += [entry for entry, _ in reporters]
        write_json(public / MANIFEST, _manifest(entries, public))


def without_cells(report: Mapping[str, Any]) -> dict[str, Any]:
    """Return a report without what auditors found who may name cells of a release."""

    def shown(part: Mapping[str, Any]) -> dict[str, Any]:
        held = part["names_cells"]
        return {**part, **({"findings": [], "charts": []} if held else {}), "withheld": held}

    releases = [
        {**release, "audits": [shown(part) for part in release["audits"]]}
        for release in report["releases"]
    ]
    return {**report, "releases": releases}


def private_names(releases: Sequence[AuditedRelease]) -> list[tuple[str, str]]:
    """Return the names of the files with exposed rows, and with groups, of every release."""
    if len(releases) == 1:
        return [("exposed.csv", "groups.csv")]
    names = [release.read.file_name for release in releases]
    unique = len(set(names)) == len(names)
    return [
        (f"{name}-exposed.csv", f"{name}-groups.csv")
        for name in (
            names if unique else (f"{number}-{name}" for number, name in enumerate(names, start=1))
        )
    ]


def _manifest(entries: Iterable[Entry], public: Path) -> dict[str, Any]:
    return {
        "format": 1,
        "kind": "audit",
        "created": utc_now(),
        "versions": package_versions(entries),
        "outputs": digests(public),
    }


def _exposed_rows(release: AuditedRelease) -> pd.DataFrame:
    """Return the rows that auditors list, each with the reason; row 1 is the first of the file."""
    original = release.case.original
    assert original is not None
    assert original.origin is not None
    columns: dict[str, list[Any]] = {"row": [], "attack": [], "score": [], "reason": []}
    for auditor, findings in release.findings.items():
        for item in findings.private:
            scores = np.full(len(item.rows), np.nan) if item.scores is None else item.scores
            columns["row"] += (original.origin[item.rows] + 1).tolist()
            columns["attack"] += [f"{auditor}.{item.name.removesuffix(_EXPOSED)}"] * len(item.rows)
            columns["score"] += scores.tolist()
            columns["reason"] += [item.meaning] * len(item.rows)
    return pd.DataFrame(columns).astype({"row": "int64", "score": "float64"})


def _groups(release: AuditedRelease) -> pd.DataFrame:
    """Return who is exposed with what the groups stand for, no count left out."""
    return pd.DataFrame(
        [
            (column.column, group.label, group.values, group.people, group.exposed)
            for column in release.attacks.groups
            for group in column.groups
        ],
        columns=["column", "group", "values", "attacked", "exposed"],
    )


def file_digest(path: Path) -> str:
    """Digest of a file; private, because a small table can be guessed and tried."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
