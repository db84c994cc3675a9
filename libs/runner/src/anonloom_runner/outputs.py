"""What a run leaves: public and private folders, built aside, checked, and renamed into place."""

import glob
import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import attrs
import pandas as pd

from anonloom import Outcome, Registry
from anonloom.data import Axis
from anonloom.errors import UsageError
from anonloom.files import read_json, wrong_path
from anonloom.registry import Entry
from anonloom.spec import PipelineSpec
from anonloom_runner import transformation
from anonloom_runner.collection import guarantee_facts
from anonloom_runner.provenance import describe_columns, package_versions, seed_commitment
from anonloom_runner.reporting import record_text
from anonloom_runner.table_files import write_csv, write_parquet

__all__ = [
    "MANIFEST",
    "atomic_folder",
    "digests",
    "is_output",
    "make_folder",
    "refuse_existing",
    "require_writable",
    "write_json",
]

MANIFEST = "manifest.json"


def refuse_existing(target: Path, replace: bool) -> None:
    """Refuse to write over a folder, before any work is done.

    Raises
    ------
    UsageError
        When the folder exists and may not be replaced, is not an output of Anonloom, or cannot
        be made.
    """
    require_writable(target)
    _sweep(target)
    _refuse(target, replace)


def require_writable(target: Path) -> None:
    """Refuse a folder that cannot be made where it should be.

    Raises
    ------
    UsageError
        Naming the folder or the one above it that stands in the way.
    """
    wrong = wrong_path(target)
    if wrong:
        raise UsageError(f"{str(target)!r} cannot be written: {wrong}", hint=_ELSEWHERE)
    try:
        if target.is_symlink() and not target.exists():
            raise UsageError(f"'{target}' is a link that leads nowhere", hint=_ELSEWHERE)
        # The root of all has nothing above it.
        above = next((path for path in target.absolute().parents if path.exists()), target)
    except OSError as error:
        raise _unwritable(target, error) from None
    if not above.is_dir():
        raise UsageError(
            f"'{target}' cannot be written: '{above}' is not a folder", hint=_ELSEWHERE
        )
    if not os.access(above, os.W_OK | os.X_OK):
        raise UsageError(
            f"'{target}' cannot be written: you may not write in '{above}'", hint=_ELSEWHERE
        )


_ELSEWHERE = "Publish to another folder."


def _unwritable(target: Path, error: OSError) -> UsageError:
    return UsageError(f"'{target}' cannot be written: {error.strerror}", hint=_ELSEWHERE)


def make_folder(folder: Path, target: Path, mode: int = 0o777) -> None:
    """Make a folder for `target`, and the folders above it.

    Raises
    ------
    UsageError
        When the system does not allow it.
    """
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=mode)
    except OSError as error:
        raise _unwritable(target, error) from None


def _refuse(target: Path, replace: bool) -> None:
    if not target.exists():
        return
    if not replace:
        raise UsageError(
            f"'{target}' exists already", hint="Use --replace, or publish to another folder."
        )
    if not is_output(target):
        raise UsageError(
            f"'{target}' is not an output folder of Anonloom and is not replaced",
            hint=_ELSEWHERE,
        )


def is_output(folder: Path) -> bool:
    """Whether a folder holds nothing but an output of Anonloom, so that it may be replaced.

    Many projects have a `public/manifest.json`: what is in it must be ours, and nothing may lie
    beside it that no run has written.
    """
    if folder.is_symlink() or not folder.is_dir():
        return False
    names = {path.name for path in folder.iterdir()}
    if not names:
        return True
    if not names <= {"public", "private", "runs"}:
        return False
    manifest = _json(folder / "public" / MANIFEST)
    grid = _json(folder / "public" / "grid.json")
    made = manifest.get("versions")
    release = isinstance(made, dict) and "anonloom-core" in made
    return release or (grid.get("kind") == "grid" and "anonloom" in grid)


def _json(path: Path) -> dict[str, Any]:
    try:
        content = read_json(path)
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


@contextmanager
def atomic_folder(target: Path, replace: bool) -> Iterator[Path]:
    """Give a folder to build in, which becomes `target` when nothing went wrong.

    Whatever goes wrong, an interruption included, the folder is removed and `target` is as before.
    """
    aside = target.parent / f".{target.name}.building-{os.getpid()}"
    make_folder(aside, target, mode=0o700)
    try:
        yield aside
        aside.chmod(0o755)
        old = target.parent / f".{target.name}.replaced-{os.getpid()}"
        if target.exists():
            _refuse(target, replace)
            target.rename(old)
        try:
            aside.rename(target)
        except BaseException:
            if old.exists():
                old.rename(target)
            raise
        shutil.rmtree(old, ignore_errors=True)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _sweep(target: Path) -> None:
    """Clear what a killed run left aside; a run that is still alive keeps its folders.

    A release that was moved out of the way for one that never arrived comes back.
    """
    for left in target.parent.glob(f".{glob.escape(target.name)}.*-*"):
        word, _, number = left.name.removeprefix(f".{target.name}.").partition("-")
        if word not in ("building", "replaced") or not number.isdecimal() or _alive(int(number)):
            continue
        if word == "replaced" and not target.exists():
            left.rename(target)
        else:
            shutil.rmtree(left, ignore_errors=True)


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return process != os.getpid()


def write(outcome: Outcome, spec: PipelineSpec, registry: Registry, folder: Path) -> None:
    """Write everything into a folder: `public/` for the world, `private/` for the steward."""
    public, private = folder / "public", folder / "private"
    public.mkdir()
    private.mkdir(mode=0o700)
    _write_release(outcome, spec, public)
    replay = transformation.describe(outcome, spec)
    if replay is not None:
        where = public if spec.publish.transformation else private
        # Long lists of numbers: a line each would help nobody.
        write_json(where / "transformation.json", replay, indent=None)
    _write_private(outcome, spec, private)
    manifest = _manifest(outcome, spec, registry, public)
    write_json(public / MANIFEST, manifest)
    seal = spec.publish.integrity
    report = {
        **outcome.report,
        "integrity": {"scheme": registry.name_of(type(seal))} if seal is not None else None,
        "manifest": manifest,
    }
    write_json(public / "report.json", report)
    (public / "report.txt").write_text(record_text(report), encoding="utf-8")
    for reporter in spec.publish.reporters or ():
        reporter.write(report, public)
    if seal is not None:
        seal.seal(public, private)
    for path in filter(Path.is_file, private.rglob("*")):
        # The folder is closed to others; its files stay closed wherever they are moved.
        path.chmod(0o600)


def write_json(path: Path, content: object, indent: int | None = 2) -> None:
    """Write readable JSON; NaN and infinity are refused."""
    text = json.dumps(content, indent=indent, ensure_ascii=False, allow_nan=False, default=str)
    path.write_text(text + "\n", encoding="utf-8")


def _write_release(outcome: Outcome, spec: PipelineSpec, public: Path) -> None:
    if "csv" in spec.publish.formats:
        write_csv(
            outcome.release.frame, public / "release.csv", outcome.release.schema.of_type("time")
        )
    if "parquet" in spec.publish.formats:
        bounds: tuple[Axis, ...] = ()
        if spec.publish.intervals == "bounds":
            axes = outcome.original.axes
            names = set(outcome.release.frame.columns)
            bounds = tuple(a for a in axes if a.form == "interval" and a.name in names)
        write_parquet(outcome.release, public / "release.parquet", bounds)


def _write_private(outcome: Outcome, spec: PipelineSpec, private: Path) -> None:
    write_json(private / "run.json", {"run": outcome.run_id, **outcome.private})
    for where, findings in outcome.findings.items():
        for number, rows in enumerate(findings.private, start=1):
            # Counted like in messages: row 1 is the first row of the source.
            origin = outcome.original.origin
            numbers = rows.rows if origin is None else origin[rows.rows]
            columns: dict[str, Any] = {"row": numbers + 1}
            if rows.scores is not None:
                columns["score"] = rows.scores
            # A method's word must not lead out of the folder, nor to another's file.
            name = re.sub(r"[^\w.-]+", "-", f"{where}-{rows.name}").strip(".-")
            path = private / f"{name}.csv"
            if path.exists():
                path = private / f"{name}-{number}.csv"
            write_csv(pd.DataFrame(columns), path)


def digests(folder: Path) -> dict[str, str]:
    """SHA-256 of every file of a folder, by name."""
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.iterdir())
    }


def _entries(spec: PipelineSpec, registry: Registry) -> Iterator[Entry]:
    """Yield what the registry knows of every method that had a hand in the release."""
    yield from (use.entry for use in spec.uses)
    for method in (*(spec.publish.reporters or ()), spec.publish.integrity):
        entry = registry.entry_of(type(method))
        if entry is not None:
            yield entry


def _transport_entries(spec: PipelineSpec, registry: Registry) -> Iterator[Entry]:
    """Yield the methods that the collector uses: its transport."""
    method = spec.collect.method
    for field in attrs.fields(type(method)) if attrs.has(type(method)) else ():
        entry = registry.entry_of(type(getattr(method, field.name)))
        if entry is not None:
            yield entry


def _manifest(
    outcome: Outcome, spec: PipelineSpec, registry: Registry, public: Path
) -> dict[str, Any]:
    report = outcome.report
    private = outcome.private
    return {
        "format": 1,
        "name": spec.name,
        "created": report["created"],
        "spec": {
            "columns": describe_columns(spec.data.schema),
            "unit": spec.data.unit,
            "source": spec.data.source.name,
            "holdout": spec.data.holdout,
            "privacy": [{m["model"]: m["parameters"]} for m in report["privacy"]] or "none",
            "suppression": report["suppression"],
            "collect": {"collector": spec.collect.name, **report["collection"]["parameters"]},
            "stages": [
                {stage["kind"]: stage["method"], "with": stage["parameters"]}
                for stage in report["stages"]
            ],
            "audit": [
                {"auditor": audit["auditor"], "with": audit["parameters"]}
                for audit in report["audits"]
            ],
        },
        "versions": package_versions(_entries(spec, registry), _transport_entries(spec, registry)),
        "outputs": digests(public),
        "seed_commitment": seed_commitment(private["seed"], bytes.fromhex(private["seed_salt"])),
        **{name: report["collection"][name] for name in guarantee_facts(spec.collect.method)},
        "local_code": spec.local_code,
    }
