"""`anonloom anonify-figures`: the paper's experiment, and its figures beside the paper's claims."""

import argparse
import sys
from pathlib import Path
from typing import Any

from anonloom import Pipeline, Registry
from anonloom.errors import UsageError
from anonloom.runtime import add_pipeline_arguments, utc_now, write_json
from anonloom_anonify.experiment import Experiment
from anonloom_anonify.figures import chapters
from anonloom_experiments import Recipe, run_grid

#: Where the figures are, in the public folder of the experiment.
FOLDER, DATA = "figures", "figures.json"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_pipeline_arguments(parser)
    parser.add_argument("--to", metavar="FOLDER", help="publish there instead of 'publish: to'")
    parser.add_argument(
        "--replace", action="store_true", help="run a finished experiment again, from its start"
    )
    parser.add_argument(
        "--jobs", type=int, default=1, metavar="N", help="runs at a time, 1 by default"
    )
    parser.add_argument("--quiet", action="store_true", help="show no progress")


def execute(arguments: argparse.Namespace) -> int:
    """Run what is not done yet, and draw the figures."""
    if arguments.jobs < 1:
        raise UsageError(f"--jobs must be at least 1. Got {arguments.jobs} instead.")
    registry = Registry.installed()
    pipeline = Pipeline.load(
        arguments.file,
        settings=arguments.settings,
        allow_local_code=arguments.allow_local_code,
        registry=registry,
    )
    if not pipeline.spec.grid:
        raise UsageError(
            f"'{arguments.file}' is no experiment",
            hint="The paper's is examples/anonify-diabetes.yaml.",
        )
    target = pipeline.target(arguments.to)
    finished = (target / "public" / "grid.json").is_file()
    if arguments.replace or not finished:
        _run(arguments, pipeline, registry, target)
    elif not arguments.quiet:
        sys.stderr.write(f"'{target}' is finished; --replace runs it again\n")
    report = _report(pipeline, Experiment.read(target))
    folder = target / "public" / FOLDER
    folder.mkdir(exist_ok=True)
    write_json(folder / DATA, report)
    pages = [
        name
        for reporter in pipeline.spec.publish.reporters or ()
        for name in reporter.write_grid(report, folder)
    ]
    lines = [
        report["chapters"][0]["meaning"],
        *(f"figures: {folder / name}" for name in (DATA, *pages)),
    ]
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    return 0


def _run(
    arguments: argparse.Namespace, pipeline: Pipeline, registry: Registry, target: Path
) -> None:
    count, done = len(pipeline.spec.grid), 0

    def tell(label: str, status: str) -> None:
        nonlocal done
        done += 1
        if not arguments.quiet:
            sys.stderr.write(f"[{done}/{count}] {label}: {status}\n")

    recipe = Recipe(Path(arguments.file), tuple(arguments.settings), arguments.allow_local_code)
    run_grid(recipe, registry, target, jobs=arguments.jobs, replace=arguments.replace, tell=tell)


def _report(pipeline: Pipeline, experiment: Experiment) -> dict[str, Any]:
    """Return what reporters draw: the chapters, and no single runs, which have their own page."""
    return {
        "format": 1,
        "kind": "grid",
        "name": f"{pipeline.spec.name}: figures 6 to 15",
        "created": utc_now(),
        "runs": [],
        "varied": [],
        "figures": [],
        "summaries": [],
        "chapters": chapters(experiment),
    }
