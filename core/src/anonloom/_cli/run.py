"""`anonloom run`: run a pipeline and publish its release, or all runs of an experiment."""

import argparse
import signal
import sys
from contextlib import suppress
from pathlib import Path
from types import FrameType

from anonloom._cli.pipeline_file import add_pipeline_arguments
from anonloom._cli.progress import shown
from anonloom._cli.summary import print_done
from anonloom._registry.registry import Registry
from anonloom._run.grid import Recipe, reason, run_grid
from anonloom._run.pipeline import Pipeline
from anonloom._run.reporting import terminal_text
from anonloom.errors import UsageError


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_pipeline_arguments(parser)
    parser.add_argument("--to", metavar="FOLDER", help="publish there instead of 'publish: to'")
    parser.add_argument(
        "--replace",
        action="store_true",
        help="replace an existing output folder when all is done; an experiment: at its start",
    )
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="run and check everything, write nothing; of an experiment: only check it",
    )
    parser.add_argument(
        "--jobs",
        type=int,
        metavar="N",
        help="runs of an experiment at a time, 1 by default; threads of a single run, by default "
        "one per core",
    )
    parser.add_argument("--quiet", action="store_true", help="show no progress")
    parser.add_argument("--all", action="store_true", help="print all findings, not only key ones")


def execute(arguments: argparse.Namespace) -> int:
    """Run the pipeline."""
    if arguments.jobs is not None and arguments.jobs < 1:
        raise UsageError(f"--jobs must be at least 1. Got {arguments.jobs} instead.")
    # A polite request to stop cleans up like Ctrl-C does.
    signal.signal(signal.SIGTERM, _interrupt)
    registry = Registry.installed()
    pipeline = Pipeline.load(
        arguments.file,
        settings=arguments.settings,
        allow_local_code=arguments.allow_local_code,
        registry=registry,
    )
    if pipeline.spec.grid:
        return _experiment(arguments, pipeline, registry)
    if arguments.dry_run:
        with shown(registry, arguments.quiet):
            tried = pipeline.run(workers=arguments.jobs)
        print(terminal_text(tried.report, everything=arguments.all), end="")
        print("dry run: nothing was written")
        return 0
    with shown(registry, arguments.quiet):
        outcome = pipeline.publish(
            to=arguments.to, replace=arguments.replace, workers=arguments.jobs
        )
    text = terminal_text(
        outcome.report, everything=arguments.all, beside=", and so does the report"
    )
    print_done(
        f"{text}release: {_relative_path(outcome.folder, 'public')}\n"
        f"report: {_relative_path(outcome.folder, 'public', *_page(outcome.folder))}",
        f"the release is published in '{_relative_path(outcome.folder)}'",
    )
    return 0


def _experiment(arguments: argparse.Namespace, pipeline: Pipeline, registry: Registry) -> int:
    count = len(pipeline.spec.grid)
    if arguments.dry_run:
        print(f"{count} runs are well formed; nothing was run")
        return 0
    target = pipeline.target(arguments.to)
    done = 0

    def tell(label: str, status: str) -> None:
        nonlocal done
        done += 1
        if not arguments.quiet:
            # Nobody who looks on can stop an experiment.
            with suppress(OSError):
                print(f"[{done}/{count}] {label}: {status}", file=sys.stderr, flush=True)

    recipe = Recipe(Path(arguments.file), tuple(arguments.settings), arguments.allow_local_code)
    report = run_grid(
        recipe,
        registry,
        target,
        jobs=arguments.jobs or 1,
        replace=arguments.replace,
        tell=tell,
    )
    statuses = [run["status"] for run in report["runs"]]
    print_done(
        f"{statuses.count('published')} of {count} runs published\n"
        f"table: {_relative_path(target, 'public', 'grid.csv')}\n"
        f"report: {_relative_path(target, 'public', *_page(target))}",
        f"the experiment is complete in '{_relative_path(target)}'",
    )
    if "published" not in statuses:
        why = reason(pipeline.spec, target)
        print(
            f"anonloom: no run of the experiment could be published; the first: {why}",
            file=sys.stderr,
        )
        return int(report["runs"][0]["exit_code"])
    return 0


def _page(folder: Path | None) -> tuple[str, ...]:
    assert folder is not None
    names = ("report.html", "grid.html", "report.txt", "grid.csv")
    return tuple(name for name in names if (folder / "public" / name).is_file())[:1]


def _relative_path(folder: Path | None, *parts: str) -> str:
    assert folder is not None
    path = folder.joinpath(*parts)
    try:
        return str(path.resolve().relative_to(Path.cwd()))
    except ValueError:
        return str(path)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt
