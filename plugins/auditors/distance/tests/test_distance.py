"""What the figures say of copies, strangers, and tables of which little can be said."""

import json
import math
from typing import Any

import attrs
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom import AuditInput, Column, Findings, Release, Schema, StageContext, Table
from anonloom.errors import ParameterError
from anonloom_distance.auditor import Distance
from anonloom_testing.auditor import in_classes, publish_suppressed
from anonloom_testing.random_tables import mixed_table

SCHEMA = Schema(
    [
        Column(name="age", role="quasi", type="number"),
        Column(name="town", role="quasi"),
        Column(name="pay", role="other", type="number"),
    ]
)


def people(n: int, seed: int, schema: Schema = SCHEMA) -> Table:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n),
            "town": rng.choice(list("abcdefgh"), n),
            "pay": rng.normal(size=n).round(2),
        }
    )
    return Table.build(frame, schema)


def audit(
    original: Table,
    release: Release,
    *,
    truth: Any = None,
    control: Table | None = None,
    workers: int = 1,
    **parameters: Any,
) -> Findings:
    case = AuditInput(release=release, original=original, truth=truth, control=control)
    return Distance(**parameters).audit(case, StageContext(seed=1, workers=workers))


def strangers(n: int, seed: int) -> Release:
    return attrs.evolve(Release.as_it_is(people(n, seed)), origin=None)


def value(found: Findings, name: str) -> float:
    figure = found[name].value
    assert isinstance(figure, int | float)
    return float(figure)


# --- copies and strangers ------------------------------------------------------------------------


def test_a_perfect_copy_is_at_distance_0_and_finds_every_source() -> None:
    table = people(500, 1)
    result = audit(table, Release.as_it_is(table), truth=np.arange(500), control=people(250, 2))
    assert 0.0 == result["dcr"].value == result["dcr_original"].value == result["dcr_5"].value
    assert 0.0 == result["dcr_relative"].value
    assert 1.0 == result["copies"].value
    assert 0.0 == result["nndr_5"].value
    assert value(result, "identifiability") > 0.95
    assert value(result, "closer_to_train_share") > 0.98
    assert value(result, "nearest_is_source") > 0.95
    rows = next(item for item in result.private if item.name == "nearest_to_release")
    assert len(rows.rows) > 450
    assert rows.scores is not None
    assert 1.0 == rows.scores[0]


def test_the_source_among_equal_rows_is_found_by_chance() -> None:
    frame = pd.DataFrame({"age": [30, 30, 30, 30, 60, 60, 90], "town": "a", "pay": 1.0})
    table = Table.build(frame, SCHEMA)
    result = audit(table, Release.as_it_is(table), truth=np.arange(7))
    assert 3 / 7 == pytest.approx(result["nearest_is_source"].value)
    # Two at distance 0 are as near as each other; a single one is infinitely nearer.
    assert 6 / 7 == pytest.approx(result["nndr"].value)
    assert 6 / 7 == pytest.approx(result["copies_null"].value)
    # 30: four published, three others; 60: two and one; 90: one and none.
    assert (4 * 4 / 7 + 2 * 2 / 3 + 1) / 7 == pytest.approx(result["identifiability"].value)
    assert 7 / 13 == result["identifiability_null"].value


@pytest.mark.parametrize("size", [100, 1000, 3000])
def test_strangers_are_as_near_as_chance_however_many_they_are(size: int) -> None:
    table = people(1000, 3)
    result = audit(table, strangers(size, 4), control=people(500, 5))
    assert 1000 / 1500 == pytest.approx(value(result, "closer_to_train_share"), abs=0.06)
    assert 0.0 == pytest.approx(value(result, "identifiability_excess"), abs=0.08)
    alone = audit(table, strangers(size, 4))
    assert size / (size + 999) == pytest.approx(value(alone, "identifiability"), abs=0.03)
    assert size / (size + 999) == alone["identifiability_null"].value
    assert 0.0 == pytest.approx(value(alone, "identifiability_excess"), abs=0.1)


def test_few_values_that_everybody_shares_are_nobodys_fault() -> None:
    schema = Schema([Column(name="sex", role="quasi"), Column(name="town", role="quasi")])

    def crowd(n: int, seed: int) -> Table:
        rng = np.random.default_rng(seed)
        frame = {"sex": rng.choice(["f", "m"], n), "town": rng.choice(list("abc"), n)}
        return Table.build(pd.DataFrame(frame), schema)

    table, control = crowd(600, 1), crowd(90, 2)
    for release in (Release.as_it_is(table), Release.as_it_is(crowd(60, 3))):
        result = audit(table, release, control=control)
        assert 0.0 == pytest.approx(value(result, "identifiability_excess"), abs=0.02)
        assert 0.0 == pytest.approx(value(result, "closer_to_train_excess"), abs=0.1)
        assert 1.0 == result["copies"].value == result["copies_null"].value
        relative = result["dcr_relative"]
        assert (None, "not assessable") == (relative.value, relative.status)
        assert "every original row has an equal one" == relative.assumptions[0]


def test_noise_takes_rows_away_from_their_sources_step_by_step() -> None:
    table = people(1500, 6)
    frame = table.frame
    results = []
    for scale in (0.01, 0.3, 3.0):
        rng = np.random.default_rng(7)
        noisy = frame.assign(
            age=frame["age"] + scale * 18 * rng.normal(size=1500),
            pay=frame["pay"] + scale * rng.normal(size=1500),
        )
        release = Release.as_it_is(Table.build(noisy, SCHEMA))
        results.append(audit(table, release, truth=np.arange(1500)))
    for name, rising in (("dcr", True), ("nearest_is_source", False), ("nndr", True)):
        figures = [value(item, name) for item in results]
        assert sorted(figures, reverse=not rising) == figures
    assert value(results[0], "nearest_is_source") > 0.9
    assert value(results[-1], "nearest_is_source") < 0.05


# --- generalized cells ---------------------------------------------------------------------------


def test_coarser_classes_are_farther_away_and_the_null_without_control_is_a_bound() -> None:
    table = people(600, 8)
    by_size = [audit(table, in_classes(table, size)) for size in (1, 5, 50)]
    figures = [value(result, "dcr_original") for result in by_size]
    assert sorted(figures) == figures
    assert ["measured", "bound", "bound"] == [
        result["identifiability_excess"].status for result in by_size
    ]
    assert (
        "the squared distance to a generalized cell is the mean over the original's values under it"
        in by_size[1]["dcr"].assumptions
    )
    assert (
        "the null is that of other persons of the same population, published as they are; of rows "
        "that noise or generalization moved it is too high, and the excess too low; a control "
        "table ('holdout' under 'data') gives the right one"
        == by_size[1]["identifiability_excess"].assumptions[0]
    )
    held_out = audit(table, in_classes(table, 5), control=people(300, 9))
    assert "measured" == held_out["identifiability_excess"].status


def test_a_column_of_which_the_release_says_nothing_is_left_out() -> None:
    table = people(200, 10)
    release = Release.as_it_is(table)
    silent = attrs.evolve(release, frame=release.frame.assign(town=pd.Categorical(["*"] * 200)))
    result = audit(table, silent)
    assert "left out, as the release says nothing of them: 'town'" in result["dcr"].assumptions
    assert 0.0 == result["dcr"].value
    assert value(audit(table, silent, columns=("age",)), "dcr_null") == pytest.approx(0, abs=0.01)


def test_a_text_is_left_out_unless_it_is_asked_for() -> None:
    schema = Schema([*SCHEMA, Column(name="note", role="other")])
    frame = people(200, 10).frame.assign(note=[f"note {index}" for index in range(200)])
    table = Table.build(frame, schema)
    result = audit(table, Release.as_it_is(table))
    message = "left out, as nearly every row has its own value: 'note'"
    assert message in result["dcr"].assumptions
    asked = audit(table, Release.as_it_is(table), columns=("note",))
    assert math.sqrt(2) == pytest.approx(asked["dcr_null"].value)
    assert message not in asked["dcr"].assumptions


# --- little or nothing to say --------------------------------------------------------------------


ATTACK = {
    f"{attack}_{figure}"
    for attack in ("nearest", "calibrated")
    for figure in ("risk", "success", "baseline", "copy")
}


def reasons(found: Findings) -> set[str]:
    figures = [item for item in found if item.name not in ATTACK]
    assert all(item.value is None and item.status == "not assessable" for item in figures)
    return {item.assumptions[0] for item in figures}


def test_where_there_are_no_distances_every_figure_says_why() -> None:
    table = people(20, 1)
    assert {"every published row is suppressed"} == reasons(audit(table, publish_suppressed(table)))
    empty = Release.as_it_is(table).take(np.empty(0, np.int64))
    assert {"nothing is published"} == reasons(audit(table, empty))
    same = Table.build(pd.DataFrame({"age": [3.0] * 9, "town": "a", "pay": 1.0}), SCHEMA)
    messages = {"no column that both tables show says anything"}
    assert messages == reasons(audit(same, Release.as_it_is(same)))
    town = Schema([Column(name="town", role="quasi")])
    here = Table.build(pd.DataFrame({"town": list("abab")}), town)
    there = Table.build(pd.DataFrame({"town": list("xyxy")}), town)
    assert messages == reasons(audit(here, Release.as_it_is(there)))
    names = {item.name for item in audit(table, Release.as_it_is(table))}
    assert names == {item.name for item in audit(table, empty)}


def test_one_row_has_no_scale_and_two_have() -> None:
    messages = {"no column that both tables show says anything"}
    assert messages == reasons(audit(people(1, 1), strangers(5, 2)))
    two = people(2, 1)
    result = audit(two, Release.as_it_is(two).take(np.array([0])))
    assert 0.0 == result["dcr"].value
    assert "measured" == result["dcr_null"].status


def test_without_control_and_truth_their_figures_say_what_is_missing() -> None:
    table = people(30, 1)
    result = audit(table, strangers(30, 2))
    assert "not assessable" == result["closer_to_train_share"].status
    assert (
        "there is no control table: write 'holdout' under 'data'"
        == (result["closer_to_train_excess"].assumptions[0])
    )
    source = audit(table, strangers(30, 2), truth=np.full(30, -1))["nearest_is_source"]
    assert "not assessable" == source.status
    assert "which row a published row came from is not known" == source.assumptions[0]


@settings(max_examples=40, deadline=None)
@given(
    st.integers(1, 30), st.integers(1, 5), st.integers(0, 999), st.booleans(), st.booleans(),
    st.integers(0, 30), st.booleans(),
)  # fmt: skip
def test_no_figure_is_ever_infinite_or_not_a_number(
    rows: int, columns: int, seed: int, missing: bool, constant: bool, kept: int, held_out: bool
) -> None:
    table = mixed_table(rows, columns, seed, missing, constant)
    release = in_classes(table, 4) if seed % 2 else Release.as_it_is(table)
    release = release.take(np.arange(min(kept, rows)))
    control = mixed_table(5, columns, seed + 1) if held_out else None
    result = audit(table, release, truth=np.arange(len(release)), control=control)
    for item in result:
        assert (item.value is None) == (item.status == "not assessable")
        if item.value is not None:
            assert math.isfinite(value(result, item.name))
        if item.interval is not None:
            low, high = item.interval
            assert low <= value(result, item.name) <= high
    for name in ("identifiability", "closer_to_train_share", "nearest_is_source", "nndr", "copies"):
        if result[name].value is not None:
            assert 0 <= value(result, name) <= 1 + 1e-12
    json.dumps([dict(chart.data) for chart in result.charts], allow_nan=False)


# --- samples, threads, parameters ----------------------------------------------------------------


def test_a_sample_asks_but_everybody_is_asked() -> None:
    table = people(4000, 11)
    release = Release.as_it_is(table)
    result = audit(table, release, truth=np.arange(4000), records=300)
    # Had the reference been sampled, most copies would have been missed.
    assert 1.0 == result["copies"].value
    assert "300 rows of a table, drawn at random, ask; all rows are asked" in (
        result["dcr"].assumptions
    )
    whole, some = audit(table, strangers(4000, 12)), audit(table, strangers(4000, 12), records=500)
    low, high = some["dcr"].interval or (0, 0)
    assert low - 0.02 < value(whole, "dcr") < high + 0.02
    assert high - low > (whole["dcr"].interval or (0, 0))[1] - (whole["dcr"].interval or (0, 0))[0]


def test_threads_do_not_change_the_figures_and_the_run_is_told_how_far_it_is() -> None:
    table = people(3000, 13)
    release = strangers(3000, 14)
    one = audit(table, release)
    two = audit(table, release, workers=2)
    assert [each.value for each in one] == [each.value for each in two]
    assert [each.interval for each in one] == [each.interval for each in two]
    reports: list[tuple[int, int | None]] = []
    messages: list[str] = []
    context = StageContext(
        seed=1, report=lambda done, total: reports.append((done, total)), say=messages.append
    )
    Distance().audit(AuditInput(release=release, original=table), context)
    assert reports[-1][0] == reports[-1][1]
    assert f"comparing {reports[-1][1]:,} pairs of records" in messages


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"records": 0},
            "The 'records' parameter of Distance must be an integer of at least 1, or None. "
            "Got 0 instead.",
        ),
        (
            {"categories": "hot"},
            "The 'categories' parameter of Distance must be one of 'one-hot', 'frequency', "
            "'hierarchical'. Got 'hot' instead.",
        ),
        (
            {"columns": ["a", "a"]},
            "The 'columns' parameter of Distance must be a list of texts that is not empty and "
            "without repetitions, or None. Got ['a', 'a'] instead.",
        ),
    ],
)
def test_a_parameter_that_makes_no_sense_is_refused(
    parameters: dict[str, Any], message: str
) -> None:
    with pytest.raises(ParameterError) as error:
        Distance(**parameters)
    assert message == str(error.value)


def test_a_column_that_is_not_published_is_named() -> None:
    schema = Schema([*SCHEMA, Column(name="who", role="person")])
    assert Distance(columns=("who",)).problem(schema) == (
        "column 'who' has role 'person' and is not published; published are: 'age', 'town', 'pay'"
    )
    assert Distance().problem(schema) is None
