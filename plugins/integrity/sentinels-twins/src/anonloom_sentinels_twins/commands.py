"""`anonloom outsource`: plan a campaign, verify its answers, or play campaigns beforehand."""

import argparse
from collections.abc import Callable
from typing import NamedTuple

from anonloom_sentinels_twins import plan_command, simulate_command, verify_command


class _Step(NamedTuple):
    """A word that follows `anonloom outsource`."""

    summary: str
    configure: Callable[[argparse.ArgumentParser], None]
    execute: Callable[[argparse.Namespace], int]


_STEPS = {
    "plan": _Step(
        "hide controls among the rows, and write one file per worker and a private key",
        plan_command.configure,
        plan_command.execute,
    ),
    "verify": _Step(
        "judge the workers by their answers, and say which results to distrust",
        verify_command.configure,
        verify_command.execute,
    ),
    "simulate": _Step(
        "play campaigns with workers who omit work, beside what the formulas say",
        simulate_command.configure,
        simulate_command.execute,
    ),
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the steps and their arguments."""
    below = parser.add_subparsers(title="steps", metavar="STEP", dest="step", required=True)
    for name, step in _STEPS.items():
        one = below.add_parser(
            name, help=step.summary, description=f"{step.summary[0].upper()}{step.summary[1:]}."
        )
        one.add_argument(
            "--debug", action="store_true", default=argparse.SUPPRESS, help=argparse.SUPPRESS
        )
        step.configure(one)


def execute(arguments: argparse.Namespace) -> int:
    """Do the step."""
    return _STEPS[arguments.step].execute(arguments)
