"""`anonloom outsource verify`: the evidence against each worker, and what to think of results."""

import argparse
import sys
from pathlib import Path

from anonloom.errors import UsageError
from anonloom_sentinels_twins import files
from anonloom_sentinels_twins import key as keys
from anonloom_sentinels_twins.scheme import SentinelsTwins
from anonloom_sentinels_twins.work_check import Judgement, OmittedWork, WorkerEvidence

_HEADS = ("worker", "jobs", "missing", "strange", "sentinels", "twins", "lazy", "verdict")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("plan", metavar="PLAN", help="the folder that 'outsource plan' wrote")
    parser.add_argument(
        "answers",
        metavar="ANSWERS",
        help="a folder with the answers: worker-01.csv and so on, with the columns job and result",
    )
    parser.add_argument(
        "--results", metavar="FILE", help="write each row's result there, also when controls failed"
    )
    parser.add_argument("--replace", action="store_true", help="write over earlier results")
    parser.add_argument(
        "--prior",
        type=float,
        metavar="P",
        help="the probability that a worker is lazy, before any evidence; by default the share "
        "that the plan expects",
    )
    parser.add_argument(
        "--accuse-at",
        type=float,
        metavar="P",
        help="accuse a worker whose sentinels failed only from this probability of laziness on; "
        "by default failed sentinels are enough",
    )


def execute(arguments: argparse.Namespace) -> int:
    """Print the evidence, write the results, and say with the exit code whether all is well."""
    results = Path(arguments.results) if arguments.results is not None else None
    if results is not None:
        files.refuse_results(results, arguments.replace)
    for option, value in (("--prior", arguments.prior), ("--accuse-at", arguments.accuse_at)):
        if value is not None and not 0 < value < 1:
            raise UsageError(f"{option} must lie between 0 and 1. Got {value:g} instead.")
    key = files.read_plan(Path(arguments.plan))
    answers = files.read_answers(Path(arguments.answers), key.campaign.workers)
    scheme = SentinelsTwins(prior=arguments.prior, accuse_at=arguments.accuse_at)
    failed: OmittedWork | None = None
    try:
        judgement = scheme.verify(key, answers)
    except OmittedWork as result:
        failed, judgement = result, result.judgement
    lines = [*_table(judgement), *_words(judgement, _new(judgement, key))]
    if results is not None:
        files.write_results(judgement, results)
        lines.append(f"results: {results}")
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    sys.stdout.flush()
    if failed is not None:
        raise failed
    return 0


def _table(judgement: Judgement) -> list[str]:
    rows = [_HEADS, *(_cells(worker) for worker in judgement.workers)]
    widths = [max(len(row[index]) for row in rows) for index in range(len(_HEADS))]
    return [
        "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def _cells(one: WorkerEvidence) -> tuple[str, ...]:
    failed = {sort: f"{bad}/{of}" for sort, (bad, of) in one.controls.items()}
    return (
        str(one.worker + 1),
        str(one.jobs),
        str(one.missing),
        str(one.strange),
        failed.get("sentinels", "0/0"),
        failed.get("twins", "0/0"),
        _probability(one.lazy),
        "accused" if one.accused else "disputed" if one.disputed else "-",
    )


def _probability(value: float) -> str:
    """Return a probability with three digits; what is not certain is not shown as 0 or 1."""
    text = f"{value:.3f}"
    if text == "1.000" and value < 1:
        return ">.999"
    return "<.001" if text == "0.000" and value > 0 else text


def _new(judgement: Judgement, key: keys.Key) -> int:
    """Return how many results no sentinel could have had: new classes, or anything at all."""
    if not key.results:
        return 0
    results = keys.spell(judgement.results)
    return sum(item is not None and item not in key.results for item in results)


def _words(judgement: Judgement, new: int) -> list[str]:
    distrusted, all_ = int(judgement.distrusted.sum()), len(judgement.distrusted)
    unknown = f"new: {new} of {all_} results are of no class that the known rows have"
    return [
        "sentinels and twins: failed/answered; lazy: probability that the worker omits work",
        f"prior: {judgement.prior}",
        *(f"dispute: {dispute}" for dispute in judgement.disputes),
        f"distrusted: {distrusted} of {all_} results",
        *([unknown] if new else []),
        *(f"covers: {line}" for line in judgement.covers),
        *(f"does not cover: {line}" for line in judgement.does_not_cover),
    ]
