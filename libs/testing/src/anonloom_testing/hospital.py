"""A hospital of 400 patients with a column of names: fixtures for tests of what may be published.

A `conftest.py` imports the fixture.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anonloom_testing.clinic import Clinic

PATIENTS = 400

#: How a release is refused that publishes the names of `hospital`.
REFUSED = (
    "the release is not published: no privacy model generalizes column 'name': 300 of 400 "
    "published rows have a value that nobody else has"
)


def patients(count: int = PATIENTS, **columns: Any) -> pd.DataFrame:
    """Ages and sexes of patients, and further columns."""
    ages, sexes = np.arange(count) % 8 + 30, ["f", "m"] * (count // 2)
    return pd.DataFrame({"age": ages, "sex": sexes, **columns})


def alone(different: int, count: int = PATIENTS, text: str = "person {}") -> list[str]:
    """Cells of which so many are different and the others equal."""
    equal = [text.format("x")] * (count - different)
    return [text.format(index) for index in range(different)] + equal


@pytest.fixture
def hospital(clinic: Clinic) -> Callable[..., Clinic]:
    """A clinic of 400 patients, and a column of names, ids or remarks beside them."""

    def build(role: str = "sensitive", extra: str = "") -> Clinic:
        patients(name=alone(300)).to_csv(clinic.folder / "clinic.csv", index=False)
        clinic.write(
            "version: 1\nname: clinic\ndata:\n  source: csv\n  with: {path: clinic.csv}\n"
            "  columns:\n    age: {role: quasi, type: number}\n    sex: {role: quasi}\n"
            f"    name: {{role: {role}{extra}}}\n"
            "privacy: [{size: {k: 3}}]\n"
            "stages: [{partitioner: runs}, {generalizer: as-declared}]\npublish: {to: out}\n"
        )
        return clinic

    return build
