"""A study of shadow releases: run in parallel, resumed where it stopped, and what it shows."""

import hashlib
import json
import multiprocessing
import secrets
import shutil
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from importlib.metadata import version
from pathlib import Path
from typing import Any

import attrs
import numpy as np

from anonloom import Findings, Registry
from anonloom.errors import UsageError
from anonloom.files import read_json
from anonloom.findings import FindingBuilder
from anonloom.kinds import stream
from anonloom.lazy import pd
from anonloom.spec import PipelineSpec, load_pipeline
from anonloom_membership.shadow.judgement import Judgement
from anonloom_membership.shadow.plan import ShadowPlan
from anonloom_membership.shadow.releases import ShadowRunner, load_table, seed_of_pipeline
from anonloom_runner.outputs import make_folder, require_writable, write_json
from anonloom_runner.provenance import input_digest
from anonloom_runner.reporting import chart_data, finding_data, utc_now
from anonloom_runner.table_files import write_csv

__all__ = ["FEWEST_RELEASES", "ShadowStudy", "run_study"]

#: With fewer nothing can be learned of a target.
FEWEST_RELEASES = 16
REPORT = "shadow.json"

Tell = Callable[[int, str], None]


@attrs.frozen
class ShadowStudy:
    """What is to be run, and how another process finds it again."""

    file: Path
    settings: tuple[str, ...] = ()
    allow_local_code: bool = False
    targets: int = 64
    releases: int = 64
    share: float = 0.5

    def spec(self, registry: Registry) -> PipelineSpec:
        """Read the pipeline.

        Raises
        ------
        UsageError
            When it is an experiment of several runs.
        """
        spec = load_pipeline(
            self.file, registry, settings=self.settings, allow_local_code=self.allow_local_code
        )
        if spec.grid:
            raise UsageError(
                f"the pipeline is an experiment of {len(spec.grid)} runs",
                hint="choose one of them: --set PATH=VALUE",
            )
        return spec

    def runner(self, registry: Registry, drawn: int) -> ShadowRunner:
        """Load the table, and plan who is in which release."""
        spec = self.spec(registry)
        seed = seed_of_pipeline(spec, drawn)
        table = load_table(spec, seed)
        plan = ShadowPlan.of(table, self.targets, self.releases, self.share, seed)
        return ShadowRunner(spec, registry, table, plan)


def run_study(
    study: ShadowStudy,
    registry: Registry,
    folder: Path,
    *,
    jobs: int = 1,
    replace: bool = False,
    tell: Tell = lambda release, status: None,
) -> dict[str, Any]:
    """Make all shadow releases that are not there yet, and write what they show.

    Parameters
    ----------
    jobs
        How many releases at a time, each in a process of its own.
    tell
        Called with number and status of every release.

    Returns
    -------
    dict
        The content of `public/shadow.json`.

    Raises
    ------
    UsageError
        When the folder holds something else, or a finished study and `replace` is not given; also
        when a process was ended from outside.
    """
    drawn = _prepare(folder, replace)
    runner = study.runner(registry, drawn)
    digest = _digest(study, runner)
    done = _done(folder, digest)
    for number in sorted(done):
        tell(number, "done before")
    todo = [number for number in range(study.releases) if number not in done]
    for result in _run_all(study, runner, drawn, todo, jobs):
        _write_aside(_release_file(folder, result["release"]), result | {"digest": digest})
        done[result["release"]] = result
        tell(result["release"], result["status"])
    results = [done[number] for number in range(study.releases)]
    return _conclude(study, runner.plan, results, folder)


# --- the folder ----------------------------------------------------------------------------------


def _prepare(folder: Path, replace: bool) -> int:
    """Make the folder or find the study in it; return the seed for pipelines that have none."""
    require_writable(folder)
    plan = folder / "private" / "study.json"
    if folder.exists():
        names = {path.name for path in folder.iterdir()} if folder.is_dir() else {"a file"}
        begun = names <= {"public", "private"} and plan.is_file() and not folder.is_symlink()
        if not begun and names:
            raise UsageError(
                f"'{folder}' is no study of shadow releases and is left as it is",
                hint="Choose another folder.",
            )
        if begun and replace:
            shutil.rmtree(folder)
        elif (folder / "public" / REPORT).is_file():
            raise UsageError(
                f"'{folder}' exists already", hint="Use --replace, or choose another folder."
            )
    if not plan.is_file():
        if not folder.exists():
            make_folder(folder, folder)
        (folder / "private").mkdir(mode=0o700)
        (folder / "private" / "releases").mkdir()
        (folder / "public").mkdir()
        _write_aside(plan, {"seed": secrets.randbits(62)})
    return int(read_json(plan)["seed"])


def _digest(study: ShadowStudy, runner: ShadowRunner) -> str:
    """Digest of all that decides what a release says of the targets."""
    options = attrs.asdict(study, filter=attrs.filters.exclude("file", "allow_local_code"))
    text = json.dumps([runner.spec.as_written(), options, runner.plan.seed], default=str)
    return hashlib.sha256((text + input_digest(runner.table)).encode()).hexdigest()


def _release_file(folder: Path, number: int) -> Path:
    return folder / "private" / "releases" / f"{number:04d}.json"


def _done(folder: Path, digest: str) -> dict[int, dict[str, Any]]:
    """Return what is there of the same study."""
    results = {}
    for path in sorted((folder / "private" / "releases").glob("*.json")):
        result = read_json(path)
        if isinstance(result, dict) and result.get("digest") == digest:
            results[int(result["release"])] = result
    return results


def _write_aside(path: Path, content: dict[str, Any]) -> None:
    aside = path.with_suffix(".tmp")
    write_json(aside, content)
    aside.rename(path)


# --- the releases --------------------------------------------------------------------------------


def _run_all(
    study: ShadowStudy, runner: ShadowRunner, drawn: int, todo: Sequence[int], jobs: int
) -> Iterator[dict[str, Any]]:
    if jobs <= 1 or len(todo) <= 1:
        yield from map(runner.run, todo)
        return
    # A forked copy of a process with threads can hang; a new one cannot.
    context = multiprocessing.get_context("spawn")
    workers = min(jobs, len(todo))
    with ProcessPoolExecutor(
        workers, mp_context=context, initializer=_begin_process, initargs=(study, drawn)
    ) as pool:
        try:
            for future in as_completed([pool.submit(_run_in_process, number) for number in todo]):
                yield future.result()
        except BrokenProcessPool:
            raise UsageError(
                "a process of the study was killed, perhaps for want of memory",
                hint="run again to go on, without --replace: releases that are done are kept; "
                "fewer --jobs need less memory",
            ) from None
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise


#: The runner of a process of the pool: it loads the table once, for all of its releases.
_RUNNERS: list[ShadowRunner] = []


def _begin_process(study: ShadowStudy, drawn: int) -> None:
    _RUNNERS.append(study.runner(Registry.installed(), drawn))


def _run_in_process(number: int) -> dict[str, Any]:
    return _RUNNERS[0].run(number)


# --- what they show ------------------------------------------------------------------------------


def _conclude(
    study: ShadowStudy, plan: ShadowPlan, results: Sequence[dict[str, Any]], folder: Path
) -> dict[str, Any]:
    judgement = Judgement.of(plan, results)
    refused = sum(result["status"] == "refused" for result in results)
    finding = FindingBuilder(unfit=judgement.unfit)
    rng = stream(plan.seed, "shadow findings")
    findings = Findings.of(
        judgement.separation.findings("shadow", finding, rng),
        finding.about_audit("shadow_releases", len(results), "Shadow releases that were made."),
        finding.about_audit(
            "shadow_refused",
            refused,
            "Shadow releases that the pipeline refused to publish; they are not judged.",
        ),
        finding.about_audit("shadow_targets", study.targets, "People who were looked for."),
        finding.about_audit(
            "shadow_cpu_seconds",
            round(sum(result["cpu_seconds"] for result in results), 3),
            "CPU seconds of all shadow releases.",
        ),
    )
    report = {
        "format": 1,
        "kind": "shadow",
        "created": utc_now(),
        "anonloom": version("anonloom-core"),
        "share": study.share,
        "findings": [finding_data(item) for item in findings],
        "charts": [chart_data(chart) for chart in findings.charts],
    }
    table = {"row": plan.targets, "isolation": np.sqrt(plan.isolation), "auc": judgement.areas}
    # For the steward: which rows are told apart, the best first.
    ordered = pd.DataFrame(table).sort_values("auc", ascending=False, kind="stable")
    write_csv(ordered, folder / "private" / "targets.csv")
    # Written last: its presence says that the study is complete.
    _write_aside(folder / "public" / REPORT, report)
    return report
