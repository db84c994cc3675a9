"""A clinic whose patients come again: tables in which a row is a visit and no person."""

import numpy as np
import pandas as pd

from anonloom_testing.clinic import Clinic

PATIENTS, VISITS = 60, 5

PIPELINE = """
version: 1
name: visits
seed: 7
data:
  source: csv
  with: {path: visits.csv}
  columns:
    patient: {role: identifier}
    age: {role: quasi, type: number}
    sex: {role: quasi}
    zip: {role: quasi}
    illness: {role: sensitive}
privacy:
  - size: {k: 5}
stages:
  - partitioner: runs
  - generalizer: as-declared
publish: {to: out}
"""

#: How a release is refused in which the identifier comes back.
STOPPED = (
    "rows would be counted as persons: column 'patient' is an identifier, and 300 of 300 rows have "
    "a value of it that another row has, too\n"
    "    Nothing was written. Declare what is so, in one line:\n"
    "    patient: {role: person}  # rows that share a value are one person's\n"
    "    patient: {role: identifier, namesakes: true}  # different people share it\n"
    "    unit: record  # below 'data': records are counted, and nothing is said of persons"
)

#: The warning where the patient's number is not declared at all.
NUMBER = (
    "Column 'patient', which is not declared, is probably a person's number, and rows are counted "
    "as persons: 300 of the first 300 rows share a value of it, and 100% of these agree in all "
    "quasi-identifiers but one. Declare it as 'role: person', or as 'role: identifier' with "
    "'namesakes: true', or write 'unit: record' below 'data'."
)


def visits(seed: int = 1) -> pd.DataFrame:
    """Sixty patients with five visits each, in no order."""
    rng = np.random.default_rng(seed)
    rows = np.repeat(np.arange(PATIENTS), VISITS)
    return (
        pd.DataFrame(
            {
                "patient": [f"P{number:04}" for number in rows],
                "age": rng.integers(18, 95, PATIENTS)[rows],
                "sex": rng.choice(["f", "m"], PATIENTS)[rows],
                "zip": rng.integers(10, 20, PATIENTS)[rows],
                "illness": rng.choice(["flu", "cold", "gout"], len(rows)),
            }
        )
        .sample(frac=1, random_state=seed)
        .reset_index(drop=True)
    )


def write_visits(clinic: Clinic) -> Clinic:
    """Give a clinic the visits and their pipeline."""
    visits().to_csv(clinic.folder / "visits.csv", index=False)
    clinic.write(PIPELINE)
    return clinic
