"""The outlier handler: who leaves, who is taken in elsewhere, who returns, and what it reports."""

import attrs
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom import Classes, Column, Findings, Guard, Partitioner, Schema, StageContext, Table
from anonloom.errors import ParameterError
from anonloom_loss import gcp
from anonloom_rayden.cof import Cof
from anonloom_rayden.detection import ScoreSettings, beyond, removable
from anonloom_rayden.gower import space_of
from anonloom_rayden.vptree import VpTree
from anonloom_testing.privacy_cases import AtLeast, DistinctValues


def ages(values, illness=None):
    frame = pd.DataFrame({"age": values, "illness": illness or ["x"] * len(values)})
    return Table.build(
        frame,
        Schema(
            [
                Column(name="age", role="quasi", type="number"),
                Column(name="illness", role="sensitive"),
            ]
        ),
    )


def handled(method, table, classes, guard):
    context = StageContext(seed=3)
    result = method.handle(table, classes, guard, context)
    return result, {finding.name: finding for finding in Findings.of(context.found)}


def warned(method, table, classes, guard):
    context = StageContext(seed=3)
    method.handle(table, classes, guard, context)
    return [notice.text for notice in Findings.of(context.found).notices]


def values_of(found):
    return {name: finding.value for name, finding in found.items()}


#: Twelve classes of ten neighbouring ages, and in each one row that is far from the others.
TWELVE = [100 * index + step for index in range(12) for step in range(9)] + [
    5000 + index for index in range(12)
]
LABELS = np.array([index for index in range(12) for _ in range(9)] + list(range(12)))


def test_outliers_form_classes_of_their_own():
    table = ages(TWELVE)
    classes = Classes.from_labels(LABELS)

    result, report = handled(Cof(), table, classes, Guard([AtLeast(k=5)]))

    assert {frozenset(range(9 * index, 9 * index + 9)) for index in range(12)} | {
        frozenset(range(108, 113)),
        frozenset(range(113, 120)),
    } == {frozenset(result.members(index).tolist()) for index in range(len(result))}
    assert gcp(table, result) < gcp(table, classes)
    assert {
        "outliers_detected": 12,
        "outliers_recovered": 12,
        "outliers_kept": 0,
        "outliers_suppressed": 0,
        "recovery_rate": 1.0,
        "suppression_rate": 0.0,
    } == values_of(report)


def test_no_class_falls_below_what_the_guard_demands():
    """Classes of ten cannot spare a row when ten are demanded."""
    classes = Classes.from_labels(LABELS)

    result, report = handled(Cof(), ages(TWELVE), classes, Guard([AtLeast(k=10)]))

    assert classes is result
    assert (12, 12) == (report["outliers_detected"].value, report["outliers_kept"].value)


def test_the_papers_rule_leaves_classes_below_k():
    method = Cof(removal="paper")
    result, _ = handled(method, ages(TWELVE), Classes.from_labels(LABELS), Guard([AtLeast(k=10)]))

    assert [9] * 12 == result.sizes[:12].tolist()
    assert not method.sound


@pytest.mark.parametrize("unrecovered", ["return", "suppress"])
def test_fewer_outliers_than_a_class_needs_return_or_are_suppressed(unrecovered):
    """Four rows cannot form a class of five."""
    table = ages(TWELVE[:36] + TWELVE[108:112])
    classes = Classes.from_labels(np.concatenate([LABELS[:36], LABELS[108:112]]))

    result, report = handled(Cof(unrecovered=unrecovered), table, classes, Guard([AtLeast(k=5)]))

    if unrecovered == "return":
        assert [10] * 4 == result.sizes.tolist()
        assert [] == result.suppressed.tolist()
    else:
        assert [9] * 4 == result.sizes.tolist()
        assert [36, 37, 38, 39] == result.suppressed.tolist()
    lost = 4 * (unrecovered == "suppress")
    assert {
        "outliers_detected": 4,
        "outliers_recovered": 0,
        "outliers_kept": 4 - lost,
        "outliers_suppressed": lost,
        "recovery_rate": 0.0,
        "suppression_rate": lost / 40,
    } == values_of(report)


def test_a_rate_without_outliers_is_no_rate():
    """Nothing was recovered and nothing had to be: not 100 %."""
    classes = Classes.from_labels(np.repeat([0, 1], 6))

    result, report = handled(Cof(), ages(list(range(12))), classes, Guard([AtLeast(k=3)]))

    assert classes is result
    assert (None, "none detected") == (
        report["recovery_rate"].value,
        report["recovery_rate"].status,
    )
    assert not report["recovery_rate"].assessable
    assert 0 == report["outliers_detected"].value


@attrs.frozen(kw_only=True)
class Pairs(Partitioner):
    """Understands sizes only, and not even these: pairs of rows."""

    @property
    def guard_use(self):
        return "size"

    def partition(self, table, classes, guard, context):
        return Classes.from_labels(
            np.arange(len(classes.rows)) // 2, classes.rows, classes.suppressed
        )


def test_what_a_recovery_by_size_makes_is_merged_until_admitted():
    result, report = handled(
        Cof(recovery=Pairs()), ages(TWELVE), Classes.from_labels(LABELS), Guard([AtLeast(k=5)])
    )

    assert (result.sizes >= 5).all()
    assert 12 == report["outliers_recovered"].value


def test_what_an_unsound_recovery_leaves_too_small_is_not_published():
    """Algorithm 2, line 18: fragments below k are not recovered."""
    method = Cof(recovery=VpTree(cut="paper", vantage="random"), unrecovered="suppress")
    values = TWELVE[:108] + [5000] * 8 + [9000, 9001, 9002, 9003]

    result, report = handled(
        method, ages(values), Classes.from_labels(LABELS), Guard([AtLeast(k=5)])
    )

    assert (result.sizes >= 5).all()
    assert [116, 117, 118, 119] == result.suppressed.tolist()
    assert 4 == report["outliers_suppressed"].value


def test_a_class_keeps_the_rows_that_its_diversity_needs():
    """The far row of each class is the only one with another illness."""
    illness = ["x"] * 108 + ["y"] * 12
    guard = Guard([AtLeast(k=5), DistinctValues(l=2, of="illness")])
    classes = Classes.from_labels(LABELS)

    result, report = handled(Cof(), ages(TWELVE, illness), classes, guard)

    assert classes is result
    assert 12 == report["outliers_kept"].value


# --- what was not done is said --------------------------------------------------------------------


def test_outliers_that_no_class_can_spare_are_warned_of():
    classes = Classes.from_labels(LABELS)

    assert [
        "12 outliers were detected and none was moved: 12 are in classes without rows to spare "
        "beyond what the privacy models demand (a partitioner that leaves some helps, such as "
        "vp-tree with 'cut: half'). The release is the same without this stage."
    ] == warned(Cof(), ages(TWELVE), classes, Guard([AtLeast(k=10)]))
    assert [] == warned(Cof(), ages(TWELVE), classes, Guard([AtLeast(k=5)]))


def test_vp_tree_and_cof_as_they_come_say_that_nothing_was_moved():
    rng = np.random.default_rng(1)
    table, guard = ages(rng.normal(size=400).round(2).tolist()), Guard([AtLeast(k=8)])
    classes = VpTree().partition(table, table.whole(), guard, StageContext())
    halves = VpTree(cut="half").partition(table, table.whole(), guard, StageContext())

    (message,) = warned(Cof(), table, classes, guard)

    assert "are in classes without rows to spare beyond what the privacy models demand" in message
    assert [] == warned(Cof(), table, halves, guard)


def test_outliers_that_all_returned_are_warned_of():
    table = ages(TWELVE[:36] + TWELVE[108:112])
    classes = Classes.from_labels(np.concatenate([LABELS[:36], LABELS[108:112]]))

    assert [
        "4 outliers were detected and none was moved: 4 could leave and form no class that these "
        "models admit. The release is the same without this stage."
    ] == warned(Cof(), table, classes, Guard([AtLeast(k=5)]))


def test_outliers_that_stayed_and_that_returned_are_counted_apart():
    """Of four classes of ten one has a row more than the ten that are demanded."""
    values = [*TWELVE[:36], 40, *TWELVE[108:112]]
    classes = Classes.from_labels(np.array([*LABELS[:36], 0, *LABELS[108:112]]))

    assert [
        "4 outliers were detected and none was moved: 3 are in classes without rows to spare "
        "beyond what the privacy models demand (a partitioner that leaves some helps, such as "
        "vp-tree with 'cut: half'); 1 could leave and form no class that these models admit. The "
        "release is the same without this stage."
    ] == warned(Cof(), ages(values), classes, Guard([AtLeast(k=10)]))


def test_classes_in_which_nobody_can_be_an_outlier_are_warned_of():
    """One of five lies two deviations off at most."""
    table, guard = ages([1, 2, 3, 4, 900, 11, 12, 13, 14, 15]), Guard([AtLeast(k=5)])
    classes = Classes.from_labels(np.repeat([0, 1], 5))

    assert [
        "No row can be an outlier: one of p rows lies at most sqrt(p - 1) standard deviations "
        "above their mean, no class has more than 5 rows, and 'alpha: 2' asks for more. A lower "
        "'alpha' or larger classes help."
    ] == warned(Cof(), table, classes, guard)
    assert [] == warned(
        Cof(), ages(list(range(12))), Classes.from_labels(np.repeat([0, 1], 6)), guard
    )


# --- the cap --------------------------------------------------------------------------------------


def slow_removable(table, classes, guard, flagged, scores):
    """The longest prefix, most outlying first, without which the guard admits a class."""
    leaving = []
    for index in range(len(classes)):
        own = range(int(classes.bounds[index]), int(classes.bounds[index + 1]))
        ranked = sorted((p for p in own if p in flagged), key=lambda p: (-scores[p], p))
        for length in range(len(ranked), 0, -1):
            rest = [classes.rows[p] for p in own if p not in ranked[:length]]
            ask = np.array(rest, np.int64), np.array([0]), np.array([len(rest)])
            if len(rest) >= guard.min_size and guard.admits(table, *ask)[0]:
                leaving += ranked[:length]
                break
    return sorted(leaving)


def test_the_most_outlying_leave_as_many_as_the_guard_allows(drawn):
    @given(
        data=st.data(), table=drawn.tables(), guard=drawn.guards(), alpha=st.sampled_from([0, 1])
    )
    @settings(deadline=None, max_examples=150)
    def holds(data, table, guard, alpha):
        classes = data.draw(drawn.starts(table))
        if not len(classes):
            return
        space = space_of(table, "gower", "equality")
        scores = ScoreSettings(space, 2, "paper").scores(table, classes, StageContext())
        flagged = np.flatnonzero(beyond(scores, classes, alpha))

        result = flagged[removable(table, classes, guard, flagged, scores)]

        expected = slow_removable(table, classes, guard, set(flagged.tolist()), scores)
        assert expected == result.tolist()

    holds()


@pytest.mark.parametrize("neighbourhood", ["half", "k", 4])
def test_the_size_of_the_neighbourhood(neighbourhood):
    method = Cof(neighbourhood=neighbourhood)
    expected = {"half": [2, 2, 5, 50], "k": [1, 5, 10, 100], 4: [4, 4, 4, 4]}
    assert expected[neighbourhood] == [method.neighbours(k) for k in (1, 5, 10, 100)]


def test_classes_below_what_is_demanded_are_left_alone():
    """A stage before that is not sound may leave such; the final check is for them."""
    classes = Classes.from_labels(np.array([0] * 3 + [1] * 8))
    table = ages([1, 2, 90, *range(10, 17), 80])

    result, _ = handled(Cof(alpha=0.5), table, classes, Guard([AtLeast(k=4)]))

    assert [0, 1, 2] == sorted(result.members(0).tolist())


@pytest.mark.parametrize("alpha", [-1.0, 1e308])
def test_deviations_that_nobody_counts_are_refused(alpha):
    with pytest.raises(ParameterError) as refused:
        Cof(alpha=alpha)
    assert (
        "The 'alpha' parameter of Cof must be a number from 0 to 1000000. "
        f"Got {alpha} instead." == str(refused.value)
    )
