"""`anonloom outsource plan`: what controls cost and are good for, then the files."""

import argparse
import secrets
import sys
from pathlib import Path

import numpy as np
import pandas as pd

from anonloom.errors import DataError, UsageError
from anonloom_sentinels_twins import files
from anonloom_sentinels_twins import key as keys
from anonloom_sentinels_twins.campaign_arguments import (
    add_expectations,
    campaign_of,
    escape_of,
    named_numbers,
)
from anonloom_sentinels_twins.scheme import SentinelsTwins
from anonloom_sentinels_twins.work_check import JOB, RESULT, Assignment, Campaign, Sizing


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("rows", metavar="ROWS", help="the rows to work on: CSV or Parquet")
    parser.add_argument(
        "--known", required=True, metavar="FILE", help="rows whose result you computed yourself"
    )
    parser.add_argument(
        "--result", required=True, metavar="COLUMN", help="the column of --known with that result"
    )
    add_expectations(parser)
    parser.add_argument(
        "--share",
        dest="shares",
        action="append",
        default=[],
        metavar="RESULT=SHARE",
        help="how often a result is expected among the rows; for all results or for none; "
        "by default as often as among the known rows",
    )
    parser.add_argument(
        "--disguise",
        action="append",
        default=[],
        metavar="COLUMN=CHANGE",
        help="change this column of second copies by at most as much; it must not change the "
        "result; repeatable",
    )
    parser.add_argument(
        "--earlier",
        action="append",
        default=[],
        metavar="KEY",
        help="an earlier plan or its key: its sentinels are not used again; repeatable",
    )
    parser.add_argument("--price", type=float, metavar="P", help="what one job costs")
    parser.add_argument("--to", metavar="FOLDER", help="write the plan there; without it, only say")
    parser.add_argument("--replace", action="store_true", help="write over an earlier plan")


def execute(arguments: argparse.Namespace) -> int:
    """Say what the controls are good for, then hide them and write the files."""
    target = Path(arguments.to) if arguments.to is not None else None
    if target is not None:
        files.refuse_existing(target, arguments.replace)
    if arguments.price is not None and not 0 <= arguments.price < float("inf"):
        raise UsageError(f"--price must be 0 or more. Got {arguments.price:g} instead.")
    scheme = SentinelsTwins(
        disguise=named_numbers("--disguise", arguments.disguise), escape=escape_of(arguments)
    )
    rows = files.read_rows(Path(arguments.rows))
    known = _known_rows(arguments, rows)
    shares = _shares(known, named_numbers("--share", arguments.shares))
    rows, known = _with_numbers(rows, known, scheme, arguments)
    campaign = campaign_of(arguments, len(rows), shares)
    sizing = scheme.size(campaign)
    _say([*_statement(sizing, campaign, arguments.price), _shares_source(arguments, shares)])
    known = _fresh(known, arguments.earlier)
    rng = np.random.default_rng(secrets.randbits(256))
    assignment = scheme.assign(rows, known, campaign, sizing, rng)
    _say([f"warning: {warning}" for warning in assignment.warnings])
    if target is None:
        _say(["nothing is written: --to says where"])
        return 0
    files.write_plan(assignment, target, arguments.replace)
    _say(_files_text(assignment, target))
    return 0


def _say(lines: list[str]) -> None:
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    # Whoever reads along knows what the plan is good for before it is written.
    sys.stdout.flush()


def _known_rows(arguments: argparse.Namespace, rows: pd.DataFrame) -> pd.DataFrame:
    """Return the known rows with the columns of the rows, and their results as `result`."""
    known = files.read_rows(Path(arguments.known))
    for name in (JOB, RESULT):
        if name in rows.columns:
            raise DataError(
                f"{arguments.rows}: a column is named '{name}', which files of workers use",
                hint="Give the column another name.",
            )
    if arguments.result in rows.columns:
        raise DataError(
            f"{arguments.rows}: the rows have the column '{arguments.result}', which the workers "
            "are to compute",
            hint="Leave it out.",
        )
    lacking = [name for name in (*rows.columns, arguments.result) if name not in known.columns]
    if lacking:
        words = ", ".join(f"'{name}'" for name in lacking)
        raise DataError(f"{arguments.known}: there is no column {words}")
    known = known[[*rows.columns, arguments.result]].rename(columns={arguments.result: RESULT})
    none = int(known[RESULT].isna().sum())
    if none:
        words = "1 row has" if none == 1 else f"{none} rows have"
        raise DataError(f"{arguments.known}: {words} no result in column '{arguments.result}'")
    return known


def _shares(known: pd.DataFrame, stated: dict[str, float]) -> tuple[float, ...]:
    """Return how often each result is expected, in the order of their names."""
    names, counts = np.unique(keys.spell(known[RESULT]).astype(str), return_counts=True)
    if not stated:
        return tuple((counts / counts.sum()).tolist())
    stated = dict(zip(keys.spell(pd.Series(list(stated))), stated.values(), strict=True))
    strange = [name for name in stated if name not in names]
    if strange:
        raise UsageError(f"--share names '{strange[0]}', which is the result of no known row")
    if len(stated) < len(names):
        raise UsageError(
            f"--share is given for {len(stated)} of the {len(names)} results of the known rows",
            hint="Give it for all of them, or for none.",
        )
    return tuple(stated[name] for name in names)


def _with_numbers(
    rows: pd.DataFrame, known: pd.DataFrame, scheme: SentinelsTwins, arguments: argparse.Namespace
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return both with the columns that are disguised as numbers: all cells are rewritten alike."""
    for name in scheme.disguise:
        if name not in rows.columns:
            raise UsageError(f"--disguise: {arguments.rows} has no column '{name}'")
        rows = rows.assign(**{name: files.as_numbers(rows, name, arguments.rows)})
        known = known.assign(**{name: files.as_numbers(known, name, arguments.known)})
    return rows, known


def _fresh(known: pd.DataFrame, earlier: list[str]) -> pd.DataFrame:
    """Return the known rows that no earlier plan used."""
    if not earlier:
        return known
    read = [
        files.read_plan(Path(word)) if Path(word).is_dir() else keys.read(Path(word))
        for word in earlier
    ]
    left = keys.fresh(known, read, RESULT)
    _say([f"{len(known) - len(left)} of {len(known)} known rows served before and are left out"])
    if left.empty:
        raise DataError(
            "every known row was a sentinel before",
            hint="Compute the results of other rows: a worker may have kept what it answered.",
        )
    return left.reset_index(drop=True)


def _statement(sizing: Sizing, campaign: Campaign, price: float | None) -> list[str]:
    controls = ", ".join(f"{number} {sort}" for sort, number in sizing.controls.items())
    lines = [
        f"controls: {controls}",
        f"extra jobs: {sizing.extra}, {sizing.extra / campaign.jobs:.2%} of {campaign.jobs}",
    ]
    if price is not None:
        whole = campaign.jobs + sizing.extra
        lines.append(f"cost: {sizing.extra * price:.2f} of {whole * price:.2f}")
    lines += [
        f"undetected: blind omission with probability {sizing.undetected:.3g} at most",
        f"escape: a lazy worker is not named with probability {sizing.escape:.3g} at most",
    ]
    lines += [f"  why: {reason}" for reason in sizing.reasons]
    lines += [f"  assumes: {assumption}" for assumption in sizing.assumptions]
    return lines


def _shares_source(arguments: argparse.Namespace, shares: tuple[float, ...]) -> str:
    """Say where the shares of the results are from: the probability rests on them."""
    where = (
        "as --share says"
        if arguments.shares
        else "as among the known rows; if they were chosen otherwise than by chance, use --share"
    )
    return f"  expects: the most frequent of {len(shares)} results in {max(shares):.1%}, {where}"


def _files_text(assignment: Assignment, target: Path) -> list[str]:
    workers = len(assignment.batches)
    first, last = (files.worker_file(index, workers) for index in (0, workers - 1))
    sizes = sorted(len(batch) for batch in assignment.batches)
    jobs = f"{sizes[0]}" if sizes[0] == sizes[-1] else f"{sizes[0]} to {sizes[-1]}"
    names = f"{target / files.WORKERS / first}" + (f" to {last}" if workers > 1 else "")
    return [
        f"to send: {names}, {jobs} jobs{' each' if workers > 1 else ''}",
        f"to keep: {target / files.PRIVATE / files.KEY}, which tells the controls",
    ]
