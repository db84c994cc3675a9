"""What is reproducible of Haruna et al., Data Privacy and Utility Trade-Off (RAYDEN), 2026.

benchmarks/README.md says what is not, with our figures beside the paper's.
"""

import numpy as np
import pandas as pd
import pytest

from anonloom import Classes, Column, Findings, Guard, Schema, StageContext, Table
from anonloom_loss import merge_until_admitted
from anonloom_rayden.cof import Cof
from anonloom_rayden.detection import ScoreSettings
from anonloom_rayden.gower import space_of
from anonloom_rayden.vptree import VpTree
from anonloom_testing.privacy_cases import AtLeast

#: Table 3, columns 'RYD Det.', n = 10,000.
DETECTED = {5: 421, 10: 394, 15: 371, 20: 348, 25: 311}
SEEDS = range(5)
QUASI = "age workclass education marital-status occupation race sex native-country".split()

TREE = VpTree(cut="paper", vantage="random")
OUTLIERS = Cof(
    neighbourhood="half", removal="paper", recovery=TREE, unrecovered="suppress", alpha=2.0
)


@pytest.fixture(scope="module")
def adult():
    get_data = pytest.importorskip("get_data", reason="tools/get_data.py is not at hand")
    try:
        path = get_data.find_or_fetch("adult")
    except get_data.DataUnavailableError as problem:
        pytest.skip(str(problem))
    return pd.read_csv(path, usecols=QUASI)


def some_of(adult, seed):
    """10,000 of the complete rows."""
    rows = np.random.default_rng(seed).permutation(len(adult))[:10_000]
    return Table.build(
        adult.iloc[rows],
        Schema(
            [
                Column(name=name, role="quasi", type="number" if name == "age" else "category")
                for name in QUASI
            ]
        ),
    )


def literally(table, k, seed):
    """Algorithms 1 and 2; parts below k are joined with the nearest class in between.

    The text asks for that step, Algorithm 1 does not have it. It is one of several readings, and
    was chosen because it fits Table 3: benchmarks/README.md names those that do not.
    """
    guard = Guard([AtLeast(k=k)])
    parts = TREE.partition(
        table, table.whole(), guard, StageContext(seed=seed, stage="partitioner")
    )
    classes = merge_until_admitted(table, parts, guard)
    context = StageContext(seed=seed, stage="outliers")
    after = OUTLIERS.handle(table, classes, guard, context)
    return parts, after, {finding.name: finding.value for finding in context.found}


@pytest.fixture(scope="module")
def experiments(adult):
    tables = [some_of(adult, seed) for seed in SEEDS]
    return {k: [literally(tables[seed], k, seed) for seed in SEEDS] for k in DETECTED}


@pytest.mark.compiled
def test_table_3_detected_outliers(experiments):
    """Within a tenth of the paper's, mean of five seeds, at every k."""
    ours = {
        k: np.mean([result["outliers_detected"] for _, _, result in runs])
        for k, runs in experiments.items()
    }
    print({k: (DETECTED[k], float(ours[k])) for k in DETECTED})
    assert [] == [k for k in DETECTED if abs(ours[k] / DETECTED[k] - 1) > 0.1]


@pytest.mark.compiled
def test_table_3_fewer_outliers_are_detected_at_larger_k(experiments):
    ours = [
        sum(result["outliers_detected"] for _, _, result in runs) for runs in experiments.values()
    ]
    assert sorted(ours, reverse=True) == ours


@pytest.mark.compiled
def test_table_3_most_outliers_are_recovered(experiments):
    """More than nine in ten at every k; how many exactly is not reproduced."""
    for runs in experiments.values():
        assert np.mean([result["recovery_rate"] for _, _, result in runs]) > 0.9


@pytest.mark.compiled
def test_ties_at_the_median_leave_parts_outside_k_to_2k_minus_1(experiments):
    """The text promises k <= |P| <= 2k - 1; `<= median` does not give it."""
    for k, runs in experiments.items():
        sizes = np.concatenate([parts.sizes for parts, _, _ in runs])
        assert (sizes < k).any()
        assert (sizes > 2 * k - 1).any()


@pytest.mark.compiled
def test_the_literal_removal_leaves_classes_below_k(experiments):
    """Algorithm 2 takes every outlier out of its partition, however small that becomes."""
    assert all((after.sizes < 10).any() for _, after, _ in experiments[10])


def test_the_sound_variant_leaves_none(adult):
    table, guard = some_of(adult, 0), Guard([AtLeast(k=10)])
    classes = VpTree(cut="half").partition(table, table.whole(), guard, StageContext())

    after = Cof().handle(table, classes, guard, StageContext())

    assert 10 <= after.sizes.min() <= after.sizes.max() <= 19
    assert len(after) > len(classes)


def test_two_deviations_cannot_be_exceeded_among_five_rows(adult):
    """At k = 5 aligned classes have five rows: no score lies more than sqrt(4) deviations off."""
    table, guard = some_of(adult, 0), Guard([AtLeast(k=5)])
    classes = VpTree().partition(table, table.whole(), guard, StageContext())
    context = StageContext()

    Cof(removal="paper").handle(table, classes, guard, context)

    assert {5} == set(classes.sizes.tolist())
    assert 0 == Findings.of(context.found)["outliers_detected"].value


# --- formulas, by hand ----------------------------------------------------------------------------


def people():
    frame = pd.DataFrame(
        {"age": [20, 30, 60, None], "sex": ["f", "m", "f", "m"], "town": ["a", "a", "b", None]}
    )
    return Table.build(
        frame,
        Schema(
            [
                Column(name="age", role="quasi", type="number"),
                Column(name="sex", role="quasi"),
                Column(name="town", role="quasi"),
            ]
        ),
    )


def test_gowers_distance(drawn):
    """Ages over a range of 40, equality of the others, and the mean over all three columns."""
    table = people()
    space = space_of(table, "gower", "equality")
    results = [drawn.between(space, table.codes, 0, other) for other in range(4)]
    assert [0, (0.25 + 1 + 0) / 3, (1 + 0 + 1) / 3, 1 / 3] == pytest.approx(results)


def test_chaining_distance_and_score():
    """Places 0, 1, 3, 10 and two neighbours: ac-dist = 2/(2*3) * (1*d1 + 2*d2), along the path.

    From 0 the path is 0, 1, 3: (1 + 2*2)/3 tenths. From 1: 1, 0, 3: (1 + 2*3)/3. From 3: 3, 1, 0:
    (2 + 2*1)/3. From 10: 10, 3, 1: (7 + 2*2)/3.
    """
    frame = pd.DataFrame({"age": [0, 1, 3, 10]})
    table = Table.build(frame, Schema([Column(name="age", role="quasi", type="number")]))
    scoring = ScoreSettings(space_of(table, "gower", "equality"), 2, "paper")

    result = scoring.scores(table, Classes.whole(np.arange(4)), StageContext())

    lengths = [5, 7, 4, 11]
    around = [7 + 4, 5 + 4, 7 + 5, 4 + 7]
    assert [2 * own / others for own, others in zip(lengths, around, strict=True)] == (
        pytest.approx(result.tolist())
    )
