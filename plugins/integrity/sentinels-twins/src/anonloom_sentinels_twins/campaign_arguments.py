"""Arguments that say what is expected of the workers: shared by plans and simulations."""

import argparse
from collections.abc import Iterable

from anonloom.errors import UsageError
from anonloom_sentinels_twins.sizing import ESCAPE
from anonloom_sentinels_twins.work_check import Campaign


def add_expectations(parser: argparse.ArgumentParser) -> None:
    """Declare what a campaign needs beside its rows."""
    parser.add_argument(
        "--workers", type=int, required=True, metavar="W", help="how many workers there are"
    )
    parser.add_argument(
        "--lazy",
        type=int,
        required=True,
        metavar="Z",
        help="how many of them are expected to omit work: the fewest that would do harm",
    )
    parser.add_argument(
        "--omission",
        type=float,
        required=True,
        metavar="P",
        help="the share of its jobs that a lazy worker omits, such as 0.2",
    )
    paid = parser.add_mutually_exclusive_group(required=True)
    paid.add_argument("--budget", type=int, metavar="N", help="extra jobs that may be paid for")
    paid.add_argument(
        "--epsilon",
        type=float,
        metavar="E",
        help="the probability at which blind omission may go unnoticed",
    )
    parser.add_argument(
        "--escape",
        type=float,
        default=ESCAPE,
        metavar="E",
        help="with --epsilon: the probability at which a lazy worker may pass all of its own "
        f"sentinels; {ESCAPE:g} by default",
    )
    parser.add_argument(
        "--error",
        type=float,
        default=0.0,
        metavar="E",
        help="the share of honest answers that differ; 0 (the default) for exact computations",
    )
    parser.add_argument(
        "--collude",
        dest="groups",
        action="append",
        default=[],
        metavar="1,2,...",
        help="workers that may compare their jobs: no two of them share one; repeatable",
    )
    parser.add_argument(
        "--colluding",
        action="store_true",
        help="expect that all lazy workers compare their jobs, whoever they are",
    )


def campaign_of(arguments: argparse.Namespace, jobs: int, classes: tuple[float, ...]) -> Campaign:
    """Return the campaign that the arguments describe.

    Raises
    ------
    UsageError
        When `--collude` names no groups of workers.
    """
    return Campaign(
        jobs=jobs,
        workers=arguments.workers,
        lazy=arguments.lazy,
        omission=arguments.omission,
        classes=classes,
        budget=arguments.budget,
        epsilon=arguments.epsilon,
        error=arguments.error,
        colluding=arguments.colluding,
        groups=groups_of(arguments.groups, arguments.workers),
    )


def escape_of(arguments: argparse.Namespace) -> float:
    """Return how probably a lazy worker may pass all of its own sentinels.

    Raises
    ------
    UsageError
        When that is no probability.
    """
    escape: float = arguments.escape
    if not 0 < escape < 1:
        raise UsageError(f"--escape must lie between 0 and 1. Got {escape:g} instead.")
    return escape


def groups_of(words: Iterable[str], workers: int) -> tuple[tuple[int, ...], ...]:
    """Read groups of workers, which are counted from 1 by people and from 0 by programs.

    Raises
    ------
    UsageError
        When a word is no list of workers.
    """
    return tuple(_group(word, workers) for word in words)


def _group(word: str, workers: int) -> tuple[int, ...]:
    parts = [part.strip() for part in word.split(",")]
    numbers = [int(part) for part in parts if part.isascii() and part.isdecimal()]
    if len(numbers) < len(parts) or len(set(numbers)) < 2:
        raise UsageError(
            f"--collude must name two or more workers, such as 1,2,3. Got '{word}' instead."
        )
    if not all(1 <= number <= workers for number in numbers):
        raise UsageError(
            f"--collude names workers from 1 to {workers}, as many as there are. "
            f"Got '{word}' instead."
        )
    return tuple(sorted({number - 1 for number in numbers}))


def named_numbers(option: str, words: Iterable[str]) -> dict[str, float]:
    """Read words of the form NAME=NUMBER.

    Raises
    ------
    UsageError
        When a word has another form, or a name comes twice.
    """
    results: dict[str, float] = {}
    for word in words:
        name, _, text = word.rpartition("=")
        try:
            number = float(text)
        except ValueError:
            number = float("nan")
        if not name or not 0 < number < float("inf"):
            raise UsageError(
                f"{option} must read NAME=NUMBER with a number above 0. Got '{word}' instead."
            )
        if name in results:
            raise UsageError(f"{option} names '{name}' twice")
        results[name] = number
    return results
