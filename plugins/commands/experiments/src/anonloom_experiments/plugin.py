"""What this distribution offers: it runs `vary`, and adds the command `compare`."""

from anonloom.api import Command, hookimpl

ANONLOOM_API = 2


@hookimpl
def anonloom_register_experiment_runners() -> list[Command]:
    """Name the runner."""
    return [
        Command(
            name="vary",
            target="anonloom_experiments.runner",
            summary="run every case of an experiment, and put their figures into one table",
        )
    ]


@hookimpl
def anonloom_register_commands() -> list[Command]:
    """Name the command."""
    return [
        Command(name="compare", target="anonloom_experiments.compare", summary="compare two runs")
    ]
