"""The patients of LeFevre et al. (ICDE 2006), figures 1 to 3, and the measures of their section 2."""

import numpy as np
import pandas as pd
import pytest

from anonloom import AuditInput, Classes, Column, Release, Schema, StageContext, Table
from anonloom_utility.auditor import Utility

PATIENTS = pd.DataFrame(
    {
        "age": [25, 25, 26, 27, 27, 28],
        "sex": ["Male", "Female", "Male", "Male", "Female", "Male"],
        "zip": [53711, 53712, 53711, 53710, 53712, 53711],
    }
)
SCHEMA = Schema(
    [
        Column(name="age", role="quasi", type="number"),
        Column(name="sex", role="quasi"),
        Column(name="zip", role="quasi", type="number"),
    ]
)


def audit(labels: list[int]) -> dict[str, object]:
    table = Table.build(PATIENTS, SCHEMA)
    classes = Classes.from_labels(np.array(labels))
    lo, hi = classes.extents(table.codes)
    cells = [axis.publish(lo[:, index], hi[:, index]) for index, axis in enumerate(table.axes)]
    release = Release.from_cells(table, classes, cells, truthful=True)
    result = Utility(k=2).audit(AuditInput(release=release, original=table), StageContext())
    return {finding.name: finding.value for finding in result}


def test_single_dimensional_recoding_of_figure_2() -> None:
    result = audit([0, 1, 0, 0, 1, 0])
    assert 2 == result["classes"]
    assert 4**2 + 2**2 == result["dm"]
    assert (6 / 2) / 2 == result["cavg"]


def test_multidimensional_recoding_of_figure_3() -> None:
    result = audit([0, 1, 0, 2, 1, 2])
    assert 3 == result["classes"]
    assert 3 * 2**2 == result["dm"]
    assert (6 / 3) / 2 == result["cavg"]
    # [25-26], [25-27], [27-28] of a range of 3 years; zip is wide only in the last class.
    assert (1 / 3 + 2 / 3 + 1 / 3) / 3 == pytest.approx(result["ncp.age"])
    assert 0.0 == result["ncp.sex"]
    assert (1 / 2) / 3 == pytest.approx(result["ncp.zip"])
    assert (4 / 9 + 0 + 1 / 6) / 3 == pytest.approx(result["gcp"])
