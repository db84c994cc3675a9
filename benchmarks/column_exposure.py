#!/usr/bin/env python3
"""What every column would give away if it were published as it is: u and outcome.

    python benchmarks/column_exposure.py                    # clinic, and Adult where it is at hand
    python benchmarks/column_exposure.py table.csv ...      # your own tables

u is the share of rows whose value nobody else has; the outcome is that of a release with a privacy
model. Thresholds and their reasons: docs/limits.md.
"""

import sys
from pathlib import Path

import pandas as pd

from anonloom import Column, Release, Schema, Table
from anonloom.data import Type
from anonloom_runner.exposure import examine_exposures

ROOT = Path(__file__).resolve().parents[1]
OWN = (ROOT / "examples/data/clinic.csv", ROOT / ".data/adult_full.csv")


def type_of(cells: "pd.Series[str]") -> Type:
    """Guess what a steward would declare."""
    present = cells.dropna()
    if pd.to_numeric(present, errors="coerce").notna().all():
        return "number"
    iso = present.str.fullmatch(r"\d{4}-\d{2}-\d{2}")
    return "date" if len(present) and iso.all() else "category"


def main(files: list[str]) -> None:
    """Print a table for every file."""
    for path in [Path(file) for file in files] or [file for file in OWN if file.is_file()]:
        frame = pd.read_csv(path, dtype=str)
        columns = [Column(name=n, role="other", type=type_of(frame[n])) for n in frame]
        release = Release.as_it_is(Table.build(frame, Schema(columns)))
        print(f"\n{path.name}: {len(frame):,} rows\n\n| column | type | u | outcome |")
        print("| --- | --- | --- | --- |")
        for item in examine_exposures(release):
            print(
                f"| {item.column.name} | {item.column.type} | {item.share:.4f} | {item.outcome} |"
            )


if __name__ == "__main__":
    main(sys.argv[1:])
