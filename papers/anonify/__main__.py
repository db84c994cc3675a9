"""`python -m papers.anonify FILE`: the paper's experiment, and its figures beside its claims."""

import argparse
import json
import sys
from datetime import UTC, datetime
from typing import Any

from anonloom import Pipeline
from anonloom.errors import AnonloomError, UsageError
from anonloom_cli import main as anonloom_main
from papers.anonify.experiment import Experiment
from papers.anonify.figures import chapters

#: Where the figures are, in the public folder of the experiment.
FOLDER, DATA = "figures", "figures.json"


def main(arguments: list[str] | None = None) -> int:
    """Run what is not done yet, and draw the figures."""
    given = _parser().parse_args(arguments)
    try:
        return _reproduce(given)
    except AnonloomError as error:
        sys.stderr.write(f"anonloom: {error}\n")
        return error.exit_code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m papers.anonify", description=__doc__)
    parser.add_argument("file", metavar="FILE", help="the experiment, a YAML file")
    parser.add_argument(
        "--set",
        dest="settings",
        metavar="PATH=VALUE",
        action="append",
        default=[],
        help="change a value of the file, such as seed=7; repeatable",
    )
    parser.add_argument(
        "--allow-local-code",
        action="store_true",
        help="run methods of the form ./file.py:Class, with your rights",
    )
    parser.add_argument("--to", metavar="FOLDER", help="publish there instead of 'publish: to'")
    parser.add_argument(
        "--replace", action="store_true", help="run a finished experiment again, from its start"
    )
    parser.add_argument(
        "--jobs", type=int, default=1, metavar="N", help="runs at a time, 1 by default"
    )
    parser.add_argument("--quiet", action="store_true", help="show no progress")
    return parser


def _reproduce(given: argparse.Namespace) -> int:
    if given.jobs < 1:
        raise UsageError(f"--jobs must be at least 1. Got {given.jobs} instead.")
    pipeline = Pipeline.load(
        given.file, settings=given.settings, allow_local_code=given.allow_local_code
    )
    if not pipeline.spec.grid:
        raise UsageError(
            f"'{given.file}' is no experiment",
            hint="The paper's is examples/anonify-diabetes.yaml.",
        )
    target = pipeline.target(given.to)
    grid = target / "public" / "grid.json"
    if given.replace or not grid.is_file():
        code = anonloom_main(_run_arguments(given))
        if not grid.is_file():
            return code
    elif not given.quiet:
        sys.stderr.write(f"'{target}' is finished; --replace runs it again\n")
    report = _report(pipeline, Experiment.read(target))
    folder = target / "public" / FOLDER
    folder.mkdir(exist_ok=True)
    text = json.dumps(report, indent=2, ensure_ascii=False, allow_nan=False)
    (folder / DATA).write_text(f"{text}\n", encoding="utf-8")
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


def _run_arguments(given: argparse.Namespace) -> list[str]:
    """Return what `anonloom` is asked to do."""
    arguments = ["run", given.file, "--jobs", str(given.jobs)]
    for setting in given.settings:
        arguments += ["--set", setting]
    if given.to is not None:
        arguments += ["--to", given.to]
    flags = {
        "--replace": given.replace,
        "--quiet": given.quiet,
        "--allow-local-code": given.allow_local_code,
    }
    return [*arguments, *(flag for flag, asked in flags.items() if asked)]


def _report(pipeline: Pipeline, experiment: Experiment) -> dict[str, Any]:
    """Return what reporters draw: the chapters, and no single runs, which have their own page."""
    return {
        "format": 1,
        "kind": "grid",
        "name": f"{pipeline.spec.name}: figures 6 to 15",
        "created": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "runs": [],
        "varied": [],
        "figures": [],
        "summaries": [],
        "chapters": chapters(experiment),
    }


if __name__ == "__main__":
    sys.exit(main())
