#!/usr/bin/env python3
"""An earlier release of the fictitious clinic, as its steward keeps it: `clinic-earlier.csv`.

    python examples/data/make_clinic_earlier.py

The first 1,000 patients, published by the same stages as in `examples/intersection.yaml`. The
steward's copy says whose each row is; what was handed over did not.
"""

from pathlib import Path
from typing import TextIO

import pandas as pd

from anonloom import Pipeline

PATIENTS = 1000
HERE = Path(__file__).parent


def write(out: TextIO) -> None:
    """Write the release, its rows in the order of the patients."""
    patients = pd.read_csv(HERE / "clinic.csv", dtype=str).head(PATIENTS)
    pipeline = Pipeline.load(
        HERE.parent / "intersection.yaml",
        settings=["data.other_releases=[]", "audit=[]", "seed=1"],
    )
    outcome = pipeline.run(patients)
    rows = outcome.release.rows_in(outcome.original)
    frame = outcome.release.frame.assign(patient=patients["patient"].to_numpy()[rows])
    frame.sort_values("patient").to_csv(out, index=False)


if __name__ == "__main__":
    with (HERE / "clinic-earlier.csv").open("w", encoding="utf-8", newline="") as file:
        write(file)
