"""`anonloom run`: run a pipeline and publish its release, or all runs of an experiment."""

import argparse

from anonloom import Pipeline, Registry
from anonloom.errors import UsageError
from anonloom_cli.importing import keeping_everything
from anonloom_cli.interruption import interrupt_when_asked
from anonloom_cli.pipeline_file import add_pipeline_arguments
from anonloom_cli.progress import show_progress
from anonloom_cli.summary import page_name, print_done, relative_path


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
    interrupt_when_asked()
    registry = Registry.installed()
    with keeping_everything():
        pipeline = Pipeline.load(
            arguments.file,
            settings=arguments.settings,
            allow_local_code=arguments.allow_local_code,
            registry=registry,
        )
    if pipeline.spec.grid:
        from anonloom_cli.foreign import run_experiment

        return run_experiment(registry, arguments, pipeline)
    # Imported here: a pipeline that is wrong, or help, needs no frames.
    from anonloom_runner.reporting import terminal_text

    if arguments.dry_run:
        with show_progress(registry, arguments.quiet):
            tried = pipeline.run(workers=arguments.jobs)
        print(terminal_text(tried.report, everything=arguments.all), end="")
        print("dry run: nothing was written")
        return 0
    with show_progress(registry, arguments.quiet):
        outcome = pipeline.publish(
            to=arguments.to, replace=arguments.replace, workers=arguments.jobs
        )
    text = terminal_text(
        outcome.report, everything=arguments.all, beside=", and so does the report"
    )
    print_done(
        f"{text}release: {relative_path(outcome.folder, 'public')}\n"
        f"report: {relative_path(outcome.folder, 'public', *page_name(outcome.folder))}",
        f"the release is published in '{relative_path(outcome.folder)}'",
    )
    return 0
