"""Numbers in another unit come back to where the original has them; ranks decide."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonloom import AuditInput, Column, Release, Schema, StageContext, Table
from anonloom_distance.auditor import Distance
from anonloom_distance.calibration import calibrate

SCHEMA = Schema(
    (
        Column(name="age", role="quasi", type="number"),
        Column(name="pay", role="label", type="number"),
        Column(name="town", role="quasi"),
    )
)


def frame(count, seed):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.integers(18, 90, count),
            "pay": rng.normal(2000, 400, count).round(),
            "town": rng.choice(list("abcdef"), count),
        }
    )


def case_of(original, release, control=None):
    raw = Release.as_it_is(Table.build(release.reset_index(drop=True), SCHEMA))
    held = None if control is None else Table.build(control, SCHEMA)
    return AuditInput(Release(raw.schema, raw.frame), Table.build(original, SCHEMA), control=held)


@given(st.integers(0, 10**6), st.floats(0.1, 50), st.floats(-500, 500))
def test_a_copy_in_another_unit_is_a_copy_again(seed, factor, offset):
    people = frame(60, seed)
    other = people.assign(age=people["age"] * factor + offset, pay=people["pay"] * factor)

    result = calibrate(case_of(people, other)).release.frame

    assert people["age"].tolist() == result["age"].astype(float).tolist()
    np.testing.assert_allclose(people["pay"], result["pay"].astype(float))
    assert people["town"].tolist() == result["town"].tolist()


def test_cells_that_are_no_numbers_leave_a_column_as_it_is():
    people = frame(20, 1)
    case = case_of(people, people)
    cells = pd.Series(["[18, 40]"] * 10 + ["50"] * 10, dtype="category")
    frame_ = case.release.frame.assign(age=cells)
    generalized = AuditInput(Release(case.release.schema, frame_), case.original)

    result = calibrate(generalized).release.frame

    assert cells.tolist() == result["age"].tolist()


def test_missing_numbers_stay_missing():
    people = frame(20, 1).astype({"pay": float})
    people.loc[3, "pay"] = np.nan

    result = calibrate(case_of(people, people)).release.frame

    assert [3] == np.flatnonzero(result["pay"].isna()).tolist()


@pytest.mark.parametrize("change", [lambda age: age * 12 + 3, lambda age: age + 7])
def test_an_attacker_finds_a_copy_in_another_unit(change):
    people = frame(400, 1)
    changed = people.assign(age=change(people["age"]), pay=people["pay"] * 1.1)
    case = case_of(people, changed, frame(400, 2))

    nearest, calibrated = Distance().assess(case, StageContext(seed=1)).attacks

    assert calibrated.risk > 0.95 > nearest.risk
