"""An experiment: every run of a grid, in parallel, resumed where it stopped, as one tidy table.

Each run is built aside and renamed into `runs/`; its result is written last. A run whose result
is there with the same settings is not done again.
"""

import hashlib
import json
import multiprocessing
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

import attrs
import pandas as pd

from anonloom import Chart, Finding, Findings, Pipeline, Registry
from anonloom.errors import AnonloomError, FaultyPluginError, PrivacyError, UsageError
from anonloom.files import read_json
from anonloom.kinds import GridRow
from anonloom.spec import GridCase, PipelineSpec, load_pipeline
from anonloom_experiments.redaction import redact
from anonloom_experiments.transport_comparison import transport_comparison
from anonloom_runner.outputs import (
    is_output,
    make_folder,
    refuse_existing,
    require_writable,
    write_json,
)
from anonloom_runner.reporting import chart_data, finding_data, report_parts, utc_now
from anonloom_runner.table_files import write_csv
from anonloom_runner.verdict import refusal_verdict

#: Figures of every run that need no auditor.
_SUMMARY = {
    "rows_out": ("higher", "Rows that are published; starred ones are not."),
    "suppressed": ("lower", "Rows whose quasi-identifiers are all '*'."),
    "published_classes": ("higher", "Classes that a recipient can tell apart."),
    "smallest_class": ("higher", "Rows of the smallest published class."),
    "gcp": ("lower", "Mean loss over rows and quasi-identifiers."),
}

Tell = Callable[[str, str], None]
T = TypeVar("T", Finding, Chart)


@attrs.frozen
class Recipe:
    """How another process finds the same experiment again."""

    file: Path
    settings: tuple[str, ...] = ()
    allow_local_code: bool = False

    def load(self, registry: Registry | None = None) -> PipelineSpec:
        """Read the pipeline again."""
        return load_pipeline(
            self.file,
            registry,
            settings=self.settings,
            allow_local_code=self.allow_local_code,
        )


def run_grid(
    recipe: Recipe,
    registry: Registry,
    target: Path,
    *,
    jobs: int = 1,
    replace: bool = False,
    tell: Tell = lambda label, status: None,
) -> dict[str, Any]:
    """Run an experiment and write its table and report.

    Parameters
    ----------
    jobs
        How many runs at a time, each in a process of its own.
    tell
        Called with label and status of every finished run.

    Returns
    -------
    dict
        The content of `grid.json`.

    Raises
    ------
    UsageError
        When the target holds something else, or a finished experiment and `replace` is not given;
        also when a process of the experiment was ended from outside.
    """
    spec = recipe.load(registry)
    _prepare(target, spec, replace)
    labels = [item.label for item in redact(spec.grid).values()]
    todo = [index for index, case in enumerate(spec.grid) if not _is_finished(target, case)]
    for index, label in enumerate(labels):
        if index not in todo:
            tell(label, "done before")
    for index, status in _run_all(recipe, registry, target, todo, jobs):
        result = _result(target, spec.grid[index])
        # The first line says what happened; the rest, what to do, is in the table.
        why = str(result["message"]).partition("\n")[0] if result is not None else ""
        tell(labels[index], f"{status}: {why}" if why else status)
    results = [_result(target, case) for case in spec.grid]
    report = _report(spec, [result for result in results if result is not None])
    _write(spec, target, report)
    return report


def first_reason(spec: PipelineSpec, target: Path) -> str:
    """Say why the first run of an experiment was not published: for the steward's eyes."""
    result = _result(target, spec.grid[0])
    return str(result["message"]) if result is not None else ""


def folder_name(label: str, index: int) -> str:
    """Name of a run's folder: its number and a readable form of its public label."""
    plain = re.sub(r"[^A-Za-z0-9.=_-]+", "-", label).strip("-.")[:80]
    return f"{index + 1:03d}-{plain}" if plain else f"{index + 1:03d}"


def _digest(case: GridCase) -> str:
    text = json.dumps(case.spec.document.plain(), sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def _result_file(target: Path, case: GridCase) -> Path:
    name = hashlib.sha256(case.label.encode()).hexdigest()[:16]
    return target / "private" / "results" / f"{name}.json"


def _result(target: Path, case: GridCase) -> dict[str, Any] | None:
    """Result of a finished run with the same settings, or None."""
    try:
        result = read_json(_result_file(target, case))
    except (OSError, ValueError):
        return None
    if not isinstance(result, dict) or result.get("digest") != _digest(case):
        return None
    return result


def _is_finished(target: Path, case: GridCase) -> bool:
    """Whether a run is done; one that failed, for want of its data perhaps, is tried again."""
    result = _result(target, case)
    return result is not None and result["status"] != "failed"


def _prepare(target: Path, spec: PipelineSpec, replace: bool) -> None:
    """Make the folder, or find the interrupted experiment in it."""
    require_writable(target)
    if not target.exists():
        _make_folders(target)
        return
    begun = _is_begun(target)
    finished = (target / "public" / "grid.json").is_file()
    if replace and (begun or is_output(target)):
        shutil.rmtree(target)
        _make_folders(target)
    elif finished and not replace:
        refuse_existing(target, replace=False)
    elif not begun:
        raise UsageError(
            f"'{target}' is not an experiment of Anonloom and is left as it is",
            hint="Publish to another folder.",
        )


def _is_begun(target: Path) -> bool:
    """Whether a folder holds an experiment that was begun, and nothing else."""
    names = {path.name for path in target.iterdir()} if target.is_dir() else set()
    ours = names == {"public", "private", "runs"} and not target.is_symlink()
    return ours and (target / "private" / "results").is_dir()


def _make_folders(target: Path) -> None:
    make_folder(target / "runs", target)
    (target / "public").mkdir()
    (target / "private").mkdir(mode=0o700)
    (target / "private" / "results").mkdir()


def _run_all(
    recipe: Recipe, registry: Registry, target: Path, todo: Sequence[int], jobs: int
) -> Iterator[tuple[int, str]]:
    if jobs <= 1 or len(todo) <= 1:
        spec = recipe.load(registry)
        for index in todo:
            yield index, run_case(spec, registry, target, index)
        return
    # A forked copy of a process with threads can hang; a new one cannot.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(jobs, len(todo)), mp_context=context) as pool:
        waiting = {pool.submit(_run_in_process, recipe, target, index): index for index in todo}
        try:
            while waiting:
                done, _ = wait(waiting, return_when=FIRST_COMPLETED)
                for future in done:
                    yield waiting.pop(future), future.result()
        except BrokenProcessPool:
            raise UsageError(
                "a process of the experiment was killed, perhaps for want of memory",
                hint="run again to go on, without --replace: runs that are done are kept; fewer "
                "--jobs need less memory",
            ) from None
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise


def _run_in_process(recipe: Recipe, target: Path, index: int) -> str:
    registry = Registry.installed()
    return run_case(recipe.load(registry), registry, target, index)


def run_case(spec: PipelineSpec, registry: Registry, target: Path, index: int) -> str:
    """Do one run and write its result; a refusal is a result too."""
    case = spec.grid[index]
    result: dict[str, Any] = {
        "digest": _digest(case),
        "label": case.label,
        "parameters": dict(case.values),
        "status": "published",
        "exit_code": 0,
        "message": "",
        "verdict": None,
        "findings": {},
        "charts": {},
        "measures": {
            use.id: use.method.measures for use in (*case.spec.audit, *case.spec.sections)
        },
        "collection": {},
        "figures": {},
    }
    pipeline = Pipeline(case.spec, registry)
    try:
        folder = folder_name(redact(spec.grid)[case.label].label, index)
        outcome = pipeline.publish(to=target / "runs" / folder, replace=True)
    except PrivacyError as error:
        result.update(status="refused", exit_code=error.exit_code, message=error.what)
        result["verdict"] = refusal_verdict(error.what).data()
    except FaultyPluginError:
        # A bug, which the other runs would meet as well: it ends the experiment.
        raise
    except AnonloomError as error:
        result.update(status="failed", exit_code=error.exit_code, message=error.what)
    else:
        result["verdict"] = outcome.report["verdict"]
        result["figures"] = {name: outcome.report["summary"][name] for name in _SUMMARY}
        result["findings"] = {part["id"]: part["findings"] for part in report_parts(outcome.report)}
        collection = outcome.report["collection"]
        result["collection"] = {
            name: collection[name]
            for name in ("transport", "parties", "guarantees", "guarantees_if_deployed")
            if name in collection
        }
        # Of auditors alone: what stages draw is in the report of their run.
        result["charts"] = {part["id"]: part["charts"] for part in outcome.report["audits"]}
    path = _result_file(target, case)
    aside = path.with_suffix(".tmp")
    write_json(aside, result)
    aside.rename(path)
    return str(result["status"])


def _report(spec: PipelineSpec, results: list[dict[str, Any]]) -> dict[str, Any]:
    figures: dict[str, dict[str, Any]] = {
        name: {"key": name, "measures": None, "better": better, "meaning": meaning, "unit": ""}
        for name, (better, meaning) in _SUMMARY.items()
    }
    runs = []
    public = redact(spec.grid)
    for result in results:
        values = dict(result["figures"])
        for where, findings in result["findings"].items():
            for finding in findings:
                key = f"{where}.{finding['name']}"
                values[key] = finding["value"]
                description = {name: finding[name] for name in ("better", "meaning", "unit")}
                measures = result["measures"].get(where)
                figures.setdefault(key, {"key": key, "measures": measures, **description})
        kept = {name: result[name] for name in ("status", "exit_code", "verdict")}
        run = {
            **attrs.asdict(public[result["label"]]),
            **kept,
            "message": _public_message(result),
        }
        runs.append({**run, "findings": values})
    varied = dict.fromkeys(path for result in results for path in result["parameters"])
    return {
        "format": 1,
        "kind": "grid",
        "name": spec.name,
        "created": utc_now(),
        "anonloom": version("anonloom-core"),
        "varied": list(varied),
        "runs": runs,
        "figures": list(figures.values()),
        "summaries": _summaries(spec, results),
        "swaps": transport_comparison(
            [(item["parameters"], item.get("collection", {})) for item in results]
        ),
    }


def _public_message(result: dict[str, Any]) -> str:
    """Return the message that may be public: a mistake in the data names paths and rows."""
    if result["status"] != "failed":
        return str(result["message"])
    return f"failed with exit code {result['exit_code']}; private/results says why"


def _summaries(spec: PipelineSpec, results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Ask each auditor what the whole experiment shows."""
    summaries = []
    public = redact(spec.grid)
    for audit in spec.audit:
        rows = [
            GridRow(
                public[result["label"]].label,
                public[result["label"]].parameters,
                _findings_of(result, audit.id),
                {item.id: _findings_of(result, item.id) for item in spec.audit},
            )
            for result in results
            if result["status"] == "published"
        ]
        summary = audit.method.summarize(rows)
        if summary.items:
            summaries.append(
                {
                    "auditor": audit.name,
                    "findings": [finding_data(finding) for finding in summary],
                    "charts": [chart_data(chart) for chart in summary.charts],
                }
            )
    return summaries


def _findings_of(result: dict[str, Any], audit: str) -> Findings:
    """What an audit left in a run's result; results of an earlier version hold no charts."""
    return Findings.of(
        (_from_data(Finding, data) for data in result["findings"].get(audit, ())),
        (_from_data(Chart, data) for data in result.get("charts", {}).get(audit, ())),
    )


def _from_data(cls: type[T], data: dict[str, Any]) -> T:
    """Make a finding or a chart of plain data; what a report adds to it is left out."""
    known = {field.name for field in attrs.fields(cls)}
    return cls(**{name: value for name, value in data.items() if name in known})


def _write(spec: PipelineSpec, target: Path, report: dict[str, Any]) -> None:
    public = target / "public"
    table = tidy_table(report)
    write_csv(table, public / "grid.csv")
    table.to_parquet(public / "grid.parquet", index=False)
    for reporter in spec.publish.reporters or ():
        reporter.write_grid(report, public)
    # Written last: its presence says that the experiment is complete.
    write_json(public / "grid.json", report)


def tidy_table(report: dict[str, Any]) -> pd.DataFrame:
    """Return one row per run: what was varied, how it ended, and every figure."""
    rows = []
    for run in report["runs"]:
        row = {"label": run["label"]}
        row.update({path: _cell(run["parameters"].get(path)) for path in report["varied"]})
        tone = (run["verdict"] or {}).get("tone")
        row.update({"status": run["status"], "verdict": tone, "message": run["message"]})
        row.update({f["key"]: run["findings"].get(f["key"]) for f in report["figures"]})
        rows.append(row)
    frame = pd.DataFrame(rows)
    for name in frame.columns:
        present = [row[name] for row in rows if row[name] is not None]
        if present and all(type(value) is int and abs(value) < 2**63 for value in present):
            # A count stays one where other runs have none: 12, not 12.0.
            frame[name] = pd.array([row[name] for row in rows], dtype="Int64")
    # A column of mixed values has no type in Parquet; text has.
    for name in frame.columns:
        if pd.api.types.infer_dtype(frame[name], skipna=True).startswith("mixed"):
            texts = frame[name].map(lambda value: None if value is None else str(value))
            frame[name] = texts
    return frame


def _cell(value: Any) -> Any:
    return (
        value if value is None or isinstance(value, str | int | float | bool) else json.dumps(value)
    )
