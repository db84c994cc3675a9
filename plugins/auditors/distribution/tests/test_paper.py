"""Figures 7 to 9 of the paper, in their form, on a small table of the same shape."""

import numpy as np
import pandas as pd
import pytest

from anonloom.data.case import Case
from anonloom.data.classes import Classes
from anonloom.data.release import Release
from anonloom.data.schema import Column, Schema
from anonloom.data.table import Table
from anonloom.kinds.context import Run
from anonloom.testing.auditor import publish_classes
from anonloom_distribution.auditor import Distribution

SCHEMA = Schema(
    [
        Column(name="gender", role="quasi"),
        Column(name="age", role="quasi", type="number"),
        Column(name="hypertension", role="sensitive"),
        Column(name="blood_glucose_level", role="sensitive", type="number"),
        Column(name="diabetes", role="label"),
    ]
)
EDGES = list(range(0, 81, 10))
GROUPS = [
    {"of": "blood_glucose_level", "by": "age", "edges": EDGES},
    {"of": "hypertension", "value": 1, "by": "gender"},
    {"of": "diabetes", "value": 1, "by": "age", "edges": EDGES},
]


@pytest.fixture(scope="module")
def case() -> Case:
    """Patients, classes of 25 neighbours in age of one gender, half of each class published."""
    rng = np.random.default_rng(7)
    n = 4000
    gender = rng.choice(["Female", "Male"], n, p=[0.6, 0.4])
    age = rng.integers(0, 81, n)
    ill = rng.random(n) < age / 400
    frame = pd.DataFrame(
        {
            "gender": gender,
            "age": age,
            "hypertension": (rng.random(n) < age / 500).astype(int),
            "blood_glucose_level": (130 + 60 * ill + rng.normal(0, 30, n)).round(),
            "diabetes": ill.astype(int),
        }
    )
    table = Table.build(frame, SCHEMA)
    order = np.lexsort((age, gender))
    labels = np.empty(n, np.int64)
    labels[order] = np.unique(
        np.stack([gender[order] == "Male", np.arange(n) // 25]), axis=1, return_inverse=True
    )[1].ravel()
    before = publish_classes(table, Classes.from_labels(labels))
    mixed = rng.permutation(n)
    within = pd.Series(labels[mixed]).groupby(labels[mixed]).cumcount().to_numpy()
    size = np.bincount(labels)[labels[mixed]]
    kept = np.sort(mixed[within < size / 2])
    return Case(release=before.take(kept), original=table, before_sampling=before)


def test_figures_7_to_9_hold_the_three_tables_side_by_side(case: Case) -> None:
    found = Distribution(groups=GROUPS).audit(case, Run())
    seven, eight, nine = [one for one in found.charts if one.name.startswith("group.")]
    assert ("line", "bars", "bars") == (seven.kind, eight.kind, nine.kind)
    assert ["original", "anonymized", "sampled"] == list(seven.data)
    assert [float(at) for at in range(5, 80, 10)] == seven.data["sampled"]["x"]
    assert ["Female", "Male"] == eight.data["labels"]
    assert [f"{at} to {at + 10}" for at in range(0, 80, 10)] == nine.data["labels"]


def test_averages_closely_resemble_the_original_as_figure_7_says(case: Case) -> None:
    found = Distribution(groups=GROUPS).audit(case, Run())
    figure = found["group_deviation.blood_glucose_level_by_age"]
    assert isinstance(figure.value, float)
    assert figure.value < 0.03


def test_the_lower_the_share_the_more_a_count_deviates_as_figure_9_says(case: Case) -> None:
    release = case.before_sampling
    assert release is not None
    values = []
    for share in (0.8, 0.5, 0.1):
        rng = np.random.default_rng(3)
        kept = np.flatnonzero(rng.random(len(release)) < share)
        sampled = Case(release=release.take(kept), original=case.original, before_sampling=release)
        found = Distribution(groups=GROUPS, samples=2, scaled=False).audit(sampled, Run())
        values.append(found["group_deviation.diabetes_1_by_age"].value)
    assert sorted(values) == values


def test_counts_of_hypertension_by_gender_are_slightly_off_as_figure_8_says(case: Case) -> None:
    found = Distribution(groups=GROUPS).audit(case, Run())
    drawn = next(one for one in found.charts if one.name == "group.hypertension_1_by_gender")
    assert drawn.data["original"] == drawn.data["anonymized"]
    assert [pytest.approx(one, rel=0.15) for one in drawn.data["original"]] == drawn.data["sampled"]


def test_a_release_of_its_own_rows_draws_two_tables(case: Case) -> None:
    assert case.original is not None
    alone = Case(release=Release.as_it_is(case.original), original=case.original)
    found = Distribution(groups=GROUPS, samples=2).audit(alone, Run())
    for one in found.charts:
        if one.name.startswith("group."):
            assert ["original", "anonymized"] == [name for name in one.data if name != "labels"]
