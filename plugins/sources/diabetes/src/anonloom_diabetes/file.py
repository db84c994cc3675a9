"""The real table: where it is looked for, and what makes a file that table."""

import hashlib
import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from anonloom import Column, Schema, StageContext
from anonloom.data import SHOWN
from anonloom.errors import DataError
from anonloom.lazy import pd
from anonloom_diabetes.population import GENDERS, SMOKING
from anonloom_tables import Csv, file_error

#: The environment variable that names the folder of data sets.
FOLDER = "ANONLOOM_DATA"
NAME = "diabetes_prediction_dataset.csv"
#: Of the copy that the figures of the README were measured on.
SHA256 = "f233fc470e904201f35310d061cb46ca0a6bc7ca5c3e428b769fb4f87f69929b"

WHERE = (
    f"put {NAME} (Kaggle: iammustafatz/diabetes-prediction-dataset) into a folder, or into its "
    f"subfolder 'diabetes', and set {FOLDER} to that folder;\n"
    "or write 'which: simulated'"
)

_FLAG = ("0", "1")
#: In the order of the file; what a column of words may say, or the ends of one of numbers.
COLUMNS: dict[str, tuple[str, ...] | tuple[float, float]] = {
    "gender": GENDERS,
    "age": (0.0, 120.0),
    "hypertension": _FLAG,
    "heart_disease": _FLAG,
    "smoking_history": SMOKING,
    "bmi": (5.0, 150.0),
    "HbA1c_level": (1.0, 25.0),
    "blood_glucose_level": (10.0, 1000.0),
    "diabetes": _FLAG,
}
NUMBERS = ("age", "bmi", "HbA1c_level", "blood_glucose_level")

_SCHEMA = Schema(
    [
        Column(name=name, role="other", type="number" if name in NUMBERS else "category")
        for name in COLUMNS
    ]
)


def find() -> Path | None:
    """Return the file, or None when the folder is not named or does not have it."""
    folder = os.environ.get(FOLDER)
    if not folder:
        return None
    places = (Path(folder) / NAME, Path(folder) / "diabetes" / NAME)
    return next((path for path in places if path.is_file()), None)


def why_absent() -> str:
    """Say why `find` finds nothing, without the name of the folder."""
    if not os.environ.get(FOLDER):
        return f"{FOLDER} is not set"
    return f"the folder that {FOLDER} names has no {NAME}"


def is_known(path: Path) -> bool:
    """Whether the file is, byte for byte, the copy that the README speaks of."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == SHA256


def read(path: Path, context: StageContext) -> "pd.DataFrame":
    """Read all columns, and check that they are those of the table.

    Raises
    ------
    DataError
        When columns are missing or added, or cells are missing, of another type or out of range:
        column, count and rows; never a cell.
    """
    source = Csv(path=path, separator=",")
    if sorted(source.columns()) != sorted(COLUMNS):
        # The names that the file has are not shown: without a header they are somebody's cells.
        raise file_error(
            path,
            f"the columns are not the {len(COLUMNS)} of the diabetes prediction table",
            hint=f"they should be: {', '.join(COLUMNS)}",
        )
    frame = source.load(_SCHEMA, context).frame
    for name, allowed in COLUMNS.items():
        if name in NUMBERS:
            _refuse(path, name, ~frame[name].between(*allowed).to_numpy(), _ends(allowed))
        else:
            words = f"none of {', '.join(map(str, allowed))}"
            _refuse(path, name, ~frame[name].isin(allowed).to_numpy(), words)
    return frame.astype({"blood_glucose_level": "int64"} if _whole(frame) else {})


def _whole(frame: "pd.DataFrame") -> bool:
    return bool((frame["blood_glucose_level"] % 1 == 0).all())


def _ends(allowed: tuple[str, ...] | tuple[float, float]) -> str:
    return f"not between {allowed[0]:g} and {allowed[1]:g}"


def _refuse(path: Path, name: str, bad: NDArray[np.bool_], what: str) -> None:
    if not bad.any():
        return
    rows = np.flatnonzero(bad) + 1
    shown = ", ".join(str(row) for row in rows[:SHOWN]) + (", ..." if len(rows) > SHOWN else "")
    cells = "1 cell is" if len(rows) == 1 else f"{len(rows)} cells are"
    raise DataError(
        f"{path}: column '{name}': {cells} missing or {what} "
        f"(row{'' if len(rows) == 1 else 's'} {shown})",
        hint="correct the file, or read it with 'source: csv', which makes no demands",
    )
