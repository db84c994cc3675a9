"""Figures 7 to 9 of the paper, in their form, on a small table of the same shape."""

import numpy as np
import pandas as pd
import pytest

from anonloom import AuditInput, Classes, Column, Release, Schema, StageContext, Table
from anonloom_distribution.auditor import Distribution
from anonloom_testing.auditor import publish_classes

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
def case() -> AuditInput:
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
    return AuditInput(release=before.take(kept), original=table, before_sampling=before)


def test_figures_7_to_9_hold_the_three_tables_side_by_side(case: AuditInput) -> None:
    result = Distribution(groups=GROUPS).audit(case, StageContext())
    seven, eight, nine = [chart for chart in result.charts if chart.name.startswith("group.")]
    assert ("line", "bars", "bars") == (seven.kind, eight.kind, nine.kind)
    assert ["original", "anonymized", "sampled"] == list(seven.data)
    assert [float(index) for index in range(5, 80, 10)] == seven.data["sampled"]["x"]
    assert ["Female", "Male"] == eight.data["labels"]
    assert [f"{index} to {index + 10}" for index in range(0, 80, 10)] == nine.data["labels"]


def test_averages_closely_resemble_the_original_as_figure_7_says(case: AuditInput) -> None:
    result = Distribution(groups=GROUPS).audit(case, StageContext())
    figure = result["group_deviation.blood_glucose_level_by_age"]
    assert isinstance(figure.value, float)
    assert figure.value < 0.03


def test_the_lower_the_share_the_more_a_count_deviates_as_figure_9_says(case: AuditInput) -> None:
    release = case.before_sampling
    assert release is not None
    values = []
    for share in (0.8, 0.5, 0.1):
        rng = np.random.default_rng(3)
        kept = np.flatnonzero(rng.random(len(release)) < share)
        sampled = AuditInput(
            release=release.take(kept), original=case.original, before_sampling=release
        )
        result = Distribution(groups=GROUPS, samples=2, scaled=False).audit(sampled, StageContext())
        values.append(result["group_deviation.diabetes_1_by_age"].value)
    assert sorted(values) == values


def test_counts_of_hypertension_by_gender_are_slightly_off_as_figure_8_says(
    case: AuditInput,
) -> None:
    result = Distribution(groups=GROUPS).audit(case, StageContext())
    drawn = next(chart for chart in result.charts if chart.name == "group.hypertension_1_by_gender")
    assert drawn.data["original"] == drawn.data["anonymized"]
    assert [pytest.approx(datum, rel=0.15) for datum in drawn.data["original"]] == drawn.data[
        "sampled"
    ]


def test_a_release_of_its_own_rows_draws_two_tables(case: AuditInput) -> None:
    assert case.original is not None
    alone = AuditInput(release=Release.as_it_is(case.original), original=case.original)
    result = Distribution(groups=GROUPS, samples=2).audit(alone, StageContext())
    for chart in result.charts:
        if chart.name.startswith("group."):
            assert ["original", "anonymized"] == [name for name in chart.data if name != "labels"]
