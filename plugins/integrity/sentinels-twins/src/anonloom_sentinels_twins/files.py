"""Files of a campaign: one table per worker, the key apart from them, answers, and results.

    plan/workers/worker-01.csv    to be sent: job, and the columns of the rows
    plan/private/key.json         to be kept: only its owner can read it

Nothing about a worker's file tells which of its rows are controls: all files are named by number,
written in one way and dated alike, and rows from different sources are written alike.
"""

import os
import shutil
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pandas as pd

from anonloom import Column, Schema, StageContext
from anonloom.data import EMPTY
from anonloom.errors import DataError, UsageError
from anonloom_runner.external import read_cells
from anonloom_runner.outputs import atomic_folder, require_writable
from anonloom_runner.table_files import write_csv
from anonloom_sentinels_twins import key as keys
from anonloom_sentinels_twins.work_check import JOB, RESULT, Assignment, Judgement
from anonloom_tables import Csv

WORKERS, PRIVATE, KEY = "workers", "private", "key.json"
#: Column of the results that says which of them not to rely on.
DISTRUSTED = "distrusted"
#: Column of the results with the number of the row: 1 is the first of the rows' file.
ROW = "row"


def worker_file(worker: int, workers: int) -> str:
    """Return the name of a worker's file, for jobs and for answers; `worker` counts from 0."""
    return f"worker-{worker + 1:0{max(2, len(str(workers)))}}.csv"


def read_rows(path: Path) -> pd.DataFrame:
    """Read a table, cell for cell as it is written; empty is missing.

    Raises
    ------
    DataError
        When it cannot be read, has no rows, or two of its columns have one name.
    """
    if path.suffix != ".parquet":
        _refuse_repeated(path, Csv(path=path).columns())
    frame = read_cells(path)
    # One way of storing cells: tables from two files are put together.
    return pd.DataFrame({name: _plain(frame[name]) for name in frame.columns})


def _plain(column: pd.Series) -> pd.Series:
    cells = column.astype(object)
    return cells.where(cells.notna(), None)


def _refuse_repeated(path: Path, names: Sequence[str]) -> None:
    # Columns without a name are what trailing separators leave.
    # Counted at once: a worker may send a million columns.
    repeated = sorted(name for name, count in Counter(names).items() if name and count > 1)
    if repeated:
        words = ", ".join(f"'{name}'" for name in repeated)
        raise DataError(f"{path}: the header names {words} more than once")


def as_numbers(frame: pd.DataFrame, name: str, where: str) -> pd.Series:
    """Return a column as numbers: integers if all are, with as many digits as they need.

    Raises
    ------
    DataError
        When cells are something else: how many, never which.
    """
    cells = frame[name]
    numbers = pd.to_numeric(cells, errors="coerce")
    wrong = int((numbers.isna() & cells.notna()).sum())
    if wrong:
        what = f"{wrong} cell{'s' if wrong > 1 else ''}"
        raise DataError(f"{where}: column '{name}' has {what} that cannot be read as a number")
    return numbers


def refuse_existing(target: Path, replace: bool) -> None:
    """Refuse to write a plan over something, before any work is done.

    Raises
    ------
    UsageError
        When the folder exists and may not be replaced, is no plan, or cannot be made.
    """
    require_writable(target)
    if not target.exists():
        return
    if not replace:
        raise UsageError(
            f"'{target}' exists already",
            hint="Use --replace, or write to another folder. Without its key the answers to a "
            "plan cannot be verified.",
        )
    if not _is_plan(target):
        raise UsageError(
            f"'{target}' is not the folder of a plan and is not replaced",
            hint="Write to another folder.",
        )


def _is_plan(folder: Path) -> bool:
    """Whether a folder holds nothing but a plan."""
    if folder.is_symlink() or not folder.is_dir():
        return False
    names = {path.name for path in folder.iterdir()}
    return not names or (names == {WORKERS, PRIVATE} and (folder / PRIVATE / KEY).is_file())


def write_plan(assignment: Assignment, target: Path, replace: bool = False) -> None:
    """Write the workers' files and the key; all of them, or nothing.

    Raises
    ------
    UsageError
        When the folder exists and may not be replaced, or cannot be made.
    """
    refuse_existing(target, replace)
    with _away(target), atomic_folder(target, replace=False) as folder:
        private, workers = folder / PRIVATE, folder / WORKERS
        private.mkdir(mode=0o700)
        workers.mkdir()
        keys.write(assignment.key, private / KEY)
        # In whole seconds, and the same for all: when a file was written says nothing.
        now = int(time.time())
        for number, batch in enumerate(assignment.batches):
            path = workers / worker_file(number, len(assignment.batches))
            write_csv(batch, path)
            os.utime(path, (now, now))


@contextmanager
def _away(target: Path) -> Iterator[None]:
    """Move an old plan out of the way; it comes back if no new one takes its place."""
    if not target.exists():
        yield
        return
    old = target.parent / f".{target.name}.replaced-{os.getpid()}"
    try:
        # Within: an interruption right after it brings the plan back, too.
        target.rename(old)
        yield
    except BaseException:
        if old.exists() and not target.exists():
            old.rename(target)
        raise
    shutil.rmtree(old, ignore_errors=True)


def read_plan(folder: Path) -> keys.Key:
    """Read the key of a plan.

    Raises
    ------
    UsageError
        When the folder holds no plan.
    IntegrityError
        When the key cannot be used.
    """
    path = folder / PRIVATE / KEY
    if not path.is_file():
        raise UsageError(
            f"'{folder}' holds no plan: there is no '{PRIVATE}/{KEY}' in it",
            hint="It is the folder that 'anonloom outsource plan' wrote.",
        )
    return keys.read(path)


def read_answers(folder: Path, workers: int) -> list[pd.DataFrame | None]:
    """Read what came back: one frame per worker, None where there is no file.

    Raises
    ------
    UsageError
        When there is no such folder.
    DataError
        When a file cannot be read, or is no worker's.
    """
    if not folder.is_dir():
        raise UsageError(f"'{folder}' is not a folder of answers")
    names = [worker_file(worker, workers) for worker in range(workers)]
    # A misspelt name must not look like a worker who sent nothing.
    others = sorted(
        path.name
        for path in folder.iterdir()
        if path.name not in names and not path.name.startswith(".")
    )
    if others:
        words = ", ".join(f"'{name}'" for name in others[:5])
        more = f" and {len(others) - 5} more" if len(others) > 5 else ""
        raise DataError(
            f"{folder}: no worker of the plan sends {words}{more}",
            hint=f"Answers have the names of the workers' files: '{names[0]}' to '{names[-1]}'.",
        )
    paths = (folder / name for name in names)
    return [_answers(path) if path.exists() else None for path in paths]


def _answers(path: Path) -> pd.DataFrame:
    names = Csv(path=path).columns()
    lacking = [name for name in (JOB, RESULT) if name not in names]
    if lacking:
        words = " and ".join(f"'{name}'" for name in lacking)
        raise DataError(
            f"{path}: there is no column {words}",
            hint=f"An answer has the columns '{JOB}' and '{RESULT}'; others are not looked at.",
        )
    _refuse_repeated(path, names)
    schema = Schema(tuple(Column(name=name, role="other") for name in (JOB, RESULT)))
    try:
        frame = Csv(path=path).load(schema, StageContext(stage="source")).frame
    except DataError as error:
        # Only the header: the worker answered nothing, which is the judge's business.
        if error.what != EMPTY:
            raise
        return pd.DataFrame({JOB: [], RESULT: []}, dtype=object)
    return pd.DataFrame({name: _plain(frame[name]) for name in (JOB, RESULT)})


def refuse_results(path: Path, replace: bool) -> None:
    """Refuse a file that exists, or cannot be made, before any work is done.

    Raises
    ------
    UsageError
        Saying why.
    """
    require_writable(path)
    if path.is_dir():
        raise UsageError(f"'{path}' is a folder, not a file")
    if path.exists() and not replace:
        raise UsageError(
            f"'{path}' exists already", hint="Use --replace, or write to another file."
        )


def write_results(judgement: Judgement, path: Path) -> None:
    """Write one line per genuine row: its number, its result, and whether to distrust it."""
    frame = pd.DataFrame(
        {
            ROW: range(1, len(judgement.results) + 1),
            RESULT: _plain(judgement.results.reset_index(drop=True)),
            DISTRUSTED: ["yes" if item else "no" for item in judgement.distrusted.tolist()],
        }
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f".{path.name}.building-{os.getpid()}")
    try:
        write_csv(frame, aside)
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)
