"""What `anonloom run` does with a pipeline that has a section `vary`."""

import argparse
import sys
from contextlib import suppress
from pathlib import Path

from anonloom import Pipeline
from anonloom_cli.summary import page_name, print_done, relative_path
from anonloom_experiments.grid import Recipe, first_reason, run_grid


def execute(arguments: argparse.Namespace, pipeline: Pipeline) -> int:
    """Run what is not done yet of an experiment, and say what came of it."""
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
        pipeline.registry,
        target,
        jobs=arguments.jobs or 1,
        replace=arguments.replace,
        tell=tell,
    )
    statuses = [run["status"] for run in report["runs"]]
    print_done(
        f"{statuses.count('published')} of {count} runs published\n"
        f"table: {relative_path(target, 'public', 'grid.csv')}\n"
        f"report: {relative_path(target, 'public', *page_name(target))}",
        f"the experiment is complete in '{relative_path(target)}'",
    )
    if "published" not in statuses:
        why = first_reason(pipeline.spec, target)
        print(
            f"anonloom: no run of the experiment could be published; the first: {why}",
            file=sys.stderr,
        )
        return int(report["runs"][0]["exit_code"])
    return 0
