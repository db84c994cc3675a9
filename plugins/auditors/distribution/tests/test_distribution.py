"""Groups, distances and associations of releases, against loops over records and planted changes."""

import json
from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
import pandas as pd
import pytest

from anonloom import AuditInput, Classes, Column, Findings, Release, Schema, StageContext, Table
from anonloom.kinds import GridRow
from anonloom_distribution.auditor import Distribution
from anonloom_distribution.results import MEANINGS
from anonloom_testing.auditor import in_classes, publish_classes, publish_suppressed
from anonloom_testing.random_tables import mixed_table

SCHEMA = Schema(
    [
        Column(name="age", role="quasi", type="number"),
        Column(name="town", role="quasi", publish="set"),
        Column(name="sugar", role="sensitive", type="number"),
        Column(name="smoker", role="sensitive"),
        Column(name="ill", role="label"),
    ]
)


def frame_of(n: int, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 81, n)
    sugar = 100 + age / 2 + rng.normal(0, 5, n).round(1)
    ill = np.where(rng.random(n) < age / 160, "1", "0")
    town = rng.choice(["Ash", "Birch", "Cedar"], n, p=[0.5, 0.3, 0.2])
    smoker = np.where((ill == "1") ^ (rng.random(n) < 0.3), "Yes", "No")
    return pd.DataFrame({"age": age, "town": town, "sugar": sugar, "smoker": smoker, "ill": ill})


def people(n: int = 400, seed: int = 0) -> Table:
    return Table.build(frame_of(n, seed), SCHEMA)


def published(table: Table, **columns: Any) -> Release:
    """Publish a table as it is, with some columns changed."""
    return Release.as_it_is(Table.build(table.frame.assign(**columns), table.schema))


def by_age(table: Table, size: int) -> Release:
    """Publish classes of so many neighbours in age."""
    labels = np.empty(len(table), np.int64)
    labels[np.argsort(table.codes[0], kind="stable")] = np.arange(len(table)) // size
    return publish_classes(table, Classes.from_labels(labels))


def audit(
    table: Table, release: Release, before: Release | None = None, **parameters: Any
) -> Findings:
    case = AuditInput(release=release, original=table, before_sampling=before)
    return Distribution(**parameters).audit(case, StageContext(seed=5))


def value(found: Findings, name: str) -> float:
    figure = found[name].value
    assert isinstance(figure, int | float)
    return float(figure)


def chart(found: Findings, name: str) -> dict[str, Any]:
    (one,) = [chart for chart in found.charts if chart.name == name]
    return dict(one.data)


def parsed_number(cell: str) -> tuple[float, float]:
    lo, _, hi = cell.strip("[]").partition(", ")
    return float(lo), float(hi or lo)


def parsed_set(cell: str) -> list[str]:
    members = json.loads(f"[{cell[1:-1]}]") if cell.startswith("{") else [cell]
    return [str(member) for member in members]


def part_of_range(cell: str, at: int, edges: list[float], reading: str) -> float:
    """Part of a published age that lies in the range from one edge to the next."""
    least, most = edges[at], edges[at + 1]
    lo, hi = parsed_number(cell)
    if reading == "midpoint" or lo == hi:
        middle = (lo + hi) / 2
        last = at == len(edges) - 2
        return float(least <= middle <= most if last else least <= middle < most)
    return max(0.0, min(hi, most) - max(lo, least)) / (hi - lo)


@pytest.mark.parametrize("reading", ["midpoint", "spread"])
@pytest.mark.parametrize("size", [1, 3, 7])
def test_figures_of_groups_agree_with_loops_over_records(reading: str, size: int) -> None:
    table = people(60, 3)
    release = by_age(table, size)
    edges = [0.0, 15.0, 40.0, 80.0]
    result = audit(
        table,
        release,
        reading=reading,
        least_rows=1,
        groups=[
            {"of": "sugar", "by": "age", "edges": edges},
            {"of": "ill", "value": 1, "by": "age", "edges": edges},
            {"of": "smoker", "value": "Yes", "by": "town"},
            {"by": "town"},
        ],
    )
    frame = release.frame
    means, counts = [], []
    for index in range(3):
        parts = [part_of_range(cell, index, edges, reading) for cell in frame["age"]]
        summed = sum(part * sugar for part, sugar in zip(parts, frame["sugar"], strict=True))
        means.append(summed / sum(parts) if sum(parts) else None)
        ill = zip(parts, frame["ill"], strict=True)
        counts.append(sum(part for part, item in ill if item == "1"))
    assert means == [
        None if item is None else pytest.approx(item)
        for item in chart(result, "group.sugar_by_age")["anonymized"]["y"]
    ]
    assert pytest.approx(counts) == chart(result, "group.ill_1_by_age")["anonymized"]
    towns: dict[str, list[float]] = {town: [0.0, 0.0] for town in ("Ash", "Birch", "Cedar")}
    for cell, smoker in zip(frame["town"], frame["smoker"], strict=True):
        members = list(towns) if cell == "*" else parsed_set(cell)
        for member in members if cell != "*" or reading == "spread" else []:
            towns[member][0] += (smoker == "Yes") / len(members)
            towns[member][1] += 1 / len(members)
    assert (
        pytest.approx([item for item, _ in towns.values()])
        == chart(result, "group.smoker_Yes_by_town")["anonymized"]
    )
    assert (
        pytest.approx([item for _, item in towns.values()])
        == chart(result, "group.rows_by_town")["anonymized"]
    )


def test_the_deviation_is_the_sum_of_differences_over_the_sum_of_the_originals_figures() -> None:
    table = people(200, 4)
    result = audit(
        table, by_age(table, 20), groups=[{"of": "ill", "value": 1, "by": "age", "ranges": 4}]
    )
    drawn = chart(result, "group.ill_1_by_age")
    pairs = list(zip(drawn["original"], drawn["anonymized"], strict=True))
    expected = sum(abs(b - a) for a, b in pairs) / sum(a for a, _ in pairs)
    assert expected == pytest.approx(value(result, "group_deviation.ill_1_by_age"))
    assert expected == pytest.approx(value(result, "group_deviation_mean"))
    assert 0 < expected < 1


def test_a_group_of_which_the_release_tells_nothing_deviates_by_all_of_it() -> None:
    table = people(100, 4)
    (one,) = [{"of": "sugar", "by": "age", "edges": [0, 40, 80]}]
    result = audit(table, publish_suppressed(table), groups=[one])
    assert 1.0 == value(result, "group_deviation.sugar_by_age")
    assumptions = result["group_deviation.sugar_by_age"].assumptions
    assert "100.00% of the release's rows are in no group" in assumptions
    assert [None, None] == chart(result, "group.sugar_by_age")["anonymized"]["y"]


# --- what is unchanged, sampled or shifted ---------------------------------------------------


FIGURES = ("jsd_mean", "jsd_max", "association_change", "association_change_max",
           "group_deviation_mean", "group_deviation_max")  # fmt: skip


@pytest.mark.parametrize("correlation", ["pearson", "spearman"])
@pytest.mark.parametrize("reading", ["midpoint", "spread"])
def test_an_unchanged_release_is_exactly_the_original(reading: str, correlation: str) -> None:
    table = people()
    result = audit(table, Release.as_it_is(table), reading=reading, correlation=correlation)
    assert [0.0] * 6 == [value(result, name) for name in FIGURES]
    assert [0.0] * 5 == [value(result, f"jsd.{name}") for name in SCHEMA.names]
    for null in ("jsd_null", "association_null", "association_null_max", "group_null"):
        assert (0.0, (0.0, 0.0)) == (result[null].value, result[null].interval)


def test_the_order_of_the_rows_does_not_matter() -> None:
    table = people()
    order = np.random.default_rng(2).permutation(len(table))
    result = audit(table, Release.as_it_is(table).take(order))
    assert [0.0] * 4 == [value(result, name) for name in FIGURES[:4]]
    assert pytest.approx(0.0, abs=1e-12) == value(result, "group_deviation_max")


def test_a_random_sample_stays_within_its_null() -> None:
    table = people(2000, 6)
    rows = np.random.default_rng(8).choice(2000, 700, replace=False)
    release = Release.as_it_is(table)
    result = audit(table, release.take(rows), release, samples=40)
    for figure, null in (
        ("jsd_mean", "jsd_null"),
        ("association_change", "association_null"),
        ("association_change_max", "association_null_max"),
        ("group_deviation_mean", "group_null"),
    ):
        interval = result[null].interval
        assert interval is not None
        assert interval[0] <= value(result, figure) <= interval[1]
    for row in chart(result, "jsd_table")["rows"]:
        assert "no" == row[-1]


def test_strangers_of_the_same_population_stay_within_the_null_of_new_persons() -> None:
    table = people(1500, 9)
    release = attrs.evolve(Release.as_it_is(people(1500, 10)), origin=None)
    result = audit(table, release, samples=40)
    assert (
        "40 random samples of 1500 rows of the original, drawn with replacement"
        == result["jsd_null"].assumptions[0]
    )
    # The original is a sample itself, so that two of them are apart by up to a factor of two.
    assert value(result, "jsd_mean") < 2 * value(result, "jsd_null")
    assert value(result, "association_change") < 2 * value(result, "association_null")


def test_a_planted_shift_is_found_and_only_there() -> None:
    table = people(1000, 11)
    release = published(table, sugar=table.frame["sugar"] + 20)
    result = audit(table, release)
    assert value(result, "jsd.sugar") > 0.5
    assert ("of 'sugar'",) == result["jsd_max"].assumptions
    assert [0.0] * 4 == [value(result, f"jsd.{name}") for name in SCHEMA.names if name != "sugar"]
    # A shift moves means and leaves associations as they are.
    assert pytest.approx(0.0, abs=1e-9) == value(result, "association_change_max")
    drawn = chart(result, "group.sugar_by_age")
    assert [pytest.approx(item + 20) for item in drawn["original"]] == drawn["anonymized"]
    assert value(result, "group_deviation.ill_1_by_age") == 0.0


def test_a_broken_association_is_found_and_named() -> None:
    table = people(1000, 12)
    mixed = np.random.default_rng(1).permutation(table.frame["sugar"].to_numpy())
    result = audit(table, published(table, sugar=mixed))
    assumption = result["association_change_max"].assumptions[0]
    assert assumption.startswith("of 'age' and 'sugar': 0.9")
    assert value(result, "association_change_max") > 0.8
    assert 0.0 == value(result, "jsd_max")
    changes = chart(result, "association_change")
    index = changes["x"].index("age"), changes["x"].index("sugar")
    assert value(result, "association_change_max") == changes["z"][index[0]][index[1]]
    assert [None] * 5 == [changes["z"][indice][indice] for indice in range(5)]


def test_generalizing_is_further_off_the_coarser_it_is() -> None:
    table = people(800, 13)
    figures = [value(audit(table, by_age(table, size)), "jsd.age") for size in (20, 100, 400)]
    assert sorted(figures) == figures
    assert figures[0] < figures[2]


# --- counts of a sample ------------------------------------------------------------------------


def sampled(table: Table, share: float) -> tuple[Release, Release]:
    """Publish classes of twenty, and the first rows of every class."""
    before = by_age(table, 20)
    assert before.classes is not None
    order = np.argsort(before.classes, kind="stable")
    return before, before.take(np.sort(order[np.arange(len(table)) % 20 < 20 * share]))


def test_counts_of_a_sample_are_scaled_by_class_or_left_as_they_are() -> None:
    table = people(400, 14)
    before, release = sampled(table, 0.25)
    groups = [{"by": "age", "edges": [0, 40, 80]}, {"of": "sugar", "by": "age", "edges": [0, 80]}]
    scaled = chart(audit(table, release, before, groups=groups), "group.rows_by_age")
    raw = chart(audit(table, release, before, groups=groups, scaled=False), "group.rows_by_age")
    assert ["labels", "original", "anonymized", "sampled"] == list(scaled)
    assert pytest.approx(scaled["anonymized"]) == scaled["sampled"]
    assert pytest.approx([item / 4 for item in scaled["anonymized"]]) == raw["sampled"]
    assert 400 == pytest.approx(sum(scaled["sampled"]))


def test_classes_of_which_nothing_is_known_are_scaled_alike() -> None:
    table = people(400, 14)
    before, release = sampled(table, 0.5)
    release = attrs.evolve(release, classes=None)
    result = audit(table, release, before, groups=[{"by": "age", "edges": [0, 80]}])
    assert [400.0] == chart(result, "group.rows_by_age")["sampled"]


def test_a_class_that_was_withheld_is_lost_and_not_stood_for() -> None:
    table = people(400, 14)
    before, release = sampled(table, 0.5)
    assert release.classes is not None
    release = attrs.evolve(
        release.take(np.flatnonzero(release.classes > 0)), dropped=int((release.classes == 0).sum())
    )
    result = audit(table, release, before, groups=[{"by": "age", "edges": [0, 80]}])
    assert [380.0] == chart(result, "group.rows_by_age")["sampled"]


def test_a_sample_that_was_drawn_first_is_scaled_to_the_original() -> None:
    table = people(400, 14)
    release = by_age(table.take(np.arange(0, 400, 2)), 20)
    result = audit(table, release, groups=[{"by": "age", "edges": [0, 80]}])
    assert [400.0] == chart(result, "group.rows_by_age")["anonymized"]


def test_deviations_before_sampling_stand_beside_those_after_it() -> None:
    table = people(400, 14)
    before, release = sampled(table, 0.5)
    result = audit(table, release, before)
    table_ = chart(result, "group_table")
    assert ["figure", "release", "before sampling", "random samples", "least", "most",
            "beyond noise"] == table_["columns"]  # fmt: skip
    alone = audit(table, before)
    for row in table_["rows"]:
        assert pytest.approx(row[2]) == value(alone, f"group_deviation.{row[0]}")


# --- missing values, stars, all forms ---------------------------------------------------------


@pytest.mark.parametrize("reading", ["midpoint", "spread"])
@pytest.mark.parametrize("publish", [Release.as_it_is, in_classes, publish_suppressed])
def test_every_form_of_publishing_has_figures(
    publish: Callable[[Table], Release], reading: str
) -> None:
    table = mixed_table(120, 6, seed=3, missing=True)
    result = audit(table, publish(table), reading=reading, least_rows=1)
    for finding in result:
        if finding.name.startswith("jsd"):
            assert 0.0 <= value(result, finding.name) <= 1.0
        elif finding.assessable:
            assert value(result, finding.name) >= 0.0
        assert finding.meaning.endswith(".")


def test_missing_values_are_a_bin_and_a_group_of_their_own() -> None:
    frame = frame_of(300, 15)
    frame.loc[::3, "age"] = None
    frame.loc[::5, "sugar"] = None
    table = Table.build(frame, SCHEMA)
    groups = [{"by": "age", "ranges": 2}, {"of": "sugar", "by": "age", "ranges": 2}]
    result = audit(table, Release.as_it_is(table), groups=groups)
    drawn = chart(result, "group.rows_by_age")
    assert ["missing", 100.0] == [drawn["labels"][-1], drawn["original"][-1]]
    expected = frame["sugar"][frame["age"].isna()].mean()
    assert expected == pytest.approx(chart(result, "group.sugar_by_age")["original"][-1])
    assert [0.0] * 6 == [value(result, name) for name in FIGURES]
    filled = published(table, age=frame["age"].fillna(40))
    # The share of what is missing, 1/3, has become one of what is 40.
    assert value(audit(table, filled), "jsd.age") > 0.3


def test_stars_say_nothing_in_the_middle_and_everything_where_they_are_spread() -> None:
    table = people(300, 16)
    middle = audit(table, publish_suppressed(table))
    assert [pytest.approx(1.0)] * 2 == [value(middle, f"jsd.{name}") for name in ("age", "town")]
    spread = audit(table, publish_suppressed(table), reading="spread")
    assert value(spread, "jsd.age") < 0.2
    # What is not told is associated with nothing.
    assert "'age' and 'sugar'" in middle["association_change_max"].assumptions[0]
    assert middle["association_change_max"].assumptions[0].endswith("0 in the release")


def test_moments_have_ranges_that_are_written_as_moments() -> None:
    days = pd.date_range("2024-01-01", periods=100).astype(str)
    schema = Schema(
        [Column(name="day", role="quasi", type="date"), Column(name="ill", role="label")]
    )
    frame = pd.DataFrame({"day": days, "ill": ["0", "1"] * 50})
    table = Table.build(frame, schema)
    groups = [{"by": "day", "edges": ["2024-01-01", "2024-02-01", "2024-03-01"]}]
    result = audit(table, Release.as_it_is(table), groups=groups)
    assert {
        "labels": ["2024-01-01 to 2024-02-01", "2024-02-01 to 2024-03-01"],
        # The last range has both its ends.
        "original": [31.0, 30.0],
        "anonymized": [31.0, 30.0],
    } == chart(result, "group.rows_by_day")
    assert "40.00%" not in str(result)
    assert (
        "39.00% of the release's rows are in no group"
        in result["group_deviation.rows_by_day"].assumptions
    )


# --- what is not shown -------------------------------------------------------------------------


def test_groups_of_few_persons_are_not_shown() -> None:
    frame = frame_of(200, 17)
    frame.loc[:4, "town"] = "Dale"
    table = Table.build(frame, SCHEMA)
    result = audit(table, Release.as_it_is(table), groups=[{"by": "town"}])
    assert "Dale" not in json.dumps([dict(item.data) for item in result.charts])
    assert "Dale" not in str(list(result))
    assert (
        "1 of 4 groups have fewer than 10 rows of the original and are left out"
        in result["group_deviation.rows_by_town"].assumptions
    )
    case = AuditInput(release=Release.as_it_is(table), original=table, demanded=70)
    strict = Distribution(groups=[{"by": "town"}]).audit(case, StageContext())
    assert "3 of 4 groups" in str(strict["group_deviation.rows_by_town"].assumptions)


def test_least_and_greatest_values_are_not_told_by_the_ranges() -> None:
    frame = frame_of(200, 18)
    frame.loc[0, "age"], frame.loc[1, "age"] = -7, 117
    table = Table.build(frame, SCHEMA)
    labels = chart(audit(table, Release.as_it_is(table)), "group.ill_1_by_age")["labels"]
    assert labels[0].startswith("< ")
    assert labels[-1].startswith("≥ ")
    assert not any("117" in label or "-7" in label for label in labels)


def test_where_every_group_is_too_small_nothing_is_said_of_groups() -> None:
    table = people(30, 19)
    result = audit(table, Release.as_it_is(table), least_rows=31)
    for name in ("group_deviation_mean", "group_deviation_max", "group_null"):
        assert "not assessable" == result[name].status
        assert ("no figure of groups can be compared",) == result[name].assumptions
    assert [] == [item.name for item in result.charts if item.name.startswith("group")]


def test_a_value_that_nobody_has_is_not_assessable() -> None:
    table = people(100, 19)
    groups = [{"of": "ill", "value": 7, "by": "town"}]
    finding = audit(table, Release.as_it_is(table), groups=groups)["group_deviation.ill_7_by_town"]
    assert ("not assessable", ("it is 0 in every group of the original",)) == (
        finding.status,
        finding.assumptions,
    )


def test_rarer_values_are_one_group() -> None:
    towns = [f"t{index:02}" for index in range(30) for _ in range(30 - index)]
    schema = Schema([Column(name="town", role="quasi")])
    table = Table.build(pd.DataFrame({"town": towns}), schema)
    result = audit(table, Release.as_it_is(table), groups=[{"by": "town"}])
    drawn = chart(result, "group.rows_by_town")
    assert [f"t{index:02}" for index in range(12)] + ["other values"] == drawn["labels"]
    assert [*range(30, 18, -1), sum(range(1, 19))] == drawn["original"]


def test_texts_and_absent_columns_are_named_as_not_compared() -> None:
    schema = Schema([*SCHEMA, Column(name="note", role="other"), Column(name="x", role="other")])
    frame = frame_of(120, 20).assign(note=[f"n{index}" for index in range(120)], x="a")
    table = Table.build(frame, schema)
    release = Release.as_it_is(table)
    release = attrs.evolve(release, frame=release.frame.drop(columns="x"))
    findings = audit(table, release, groups=[{"by": "x"}, {"by": "age"}])
    for name in ("jsd_mean", "association_change"):
        assert (
            "not compared, as nearly every row has its own value: 'note'",
            "not compared, as the release lacks them: 'x'",
        ) == findings[name].assumptions[-2:]
    assert "1 more are not compared" in findings["group_deviation_mean"].assumptions


def test_an_empty_release_has_no_figures() -> None:
    table = people(20, 21)
    result = audit(table, Release.as_it_is(table).take(np.empty(0, np.int64)))
    assert list(MEANINGS) == [finding.name for finding in result]
    for finding in result:
        assert ("not assessable", ("nothing is published",)) == (
            finding.status,
            finding.assumptions,
        )


def test_one_column_has_no_associations() -> None:
    table = Table.build(
        pd.DataFrame({"age": range(50)}), Schema([Column(name="age", role="quasi", type="number")])
    )
    result = audit(table, Release.as_it_is(table))
    assert ("the original and the release share fewer than two columns",) == result[
        "association_change"
    ].assumptions
    assert 0.0 == value(result, "jsd_mean")


# --- defaults and experiments -----------------------------------------------------------------


def test_without_groups_labels_come_first_and_the_rarer_of_two_values_is_counted() -> None:
    result = audit(people(400, 22), Release.as_it_is(people(400, 22)))
    names = [item.name for item in result if item.name.startswith("group_deviation.")]
    assert [
        f"group_deviation.{of}_by_{by}"
        for by in ("age", "town")
        for of in ("ill_1", "sugar", "smoker_yes")
    ] + ["group_deviation.age_by_town"] == names


def test_the_figures_of_a_default_audit_are_few() -> None:
    names = [f"q{index}" for index in range(6)]
    schema = Schema(
        [
            *[Column(name=name, role="quasi", type="number") for name in names],
            *[Column(name=f"s{index}", role="sensitive", type="number") for index in range(6)],
        ]
    )
    rng = np.random.default_rng(0)
    table = Table.build(pd.DataFrame(rng.integers(0, 9, (60, 12)), columns=schema.names), schema)
    result = audit(table, Release.as_it_is(table), least_rows=1)
    assert 12 == len([item for item in result if item.name.startswith("group_deviation.")])
    assert "54 more are not compared" in result["group_deviation_mean"].assumptions


def test_an_experiment_shows_distances_and_deviations_against_the_varied_number() -> None:
    table = people(300, 23)
    grid = [
        GridRow(f"k={k}", {"k": k}, audit(table, by_age(table, k), samples=2)) for k in (10, 30)
    ]
    charts = {item.name: item for item in Distribution().summarize(grid).charts}
    assert ["jsd_mean", "group_deviation_mean", "association_change", "jsd",
            "group_deviation"] == list(charts)  # fmt: skip
    for name in ("jsd_mean", "group_deviation_mean", "association_change"):
        line = charts[name].data[name]
        assert {"x": [10.0, 30.0], "y": [value(row.findings, name) for row in grid]} == line
        assert "random samples" in charts[name].data
    assert list(SCHEMA.names) == charts["jsd"].data["x"]
    assert () == Distribution().summarize([]).charts


def test_the_same_seed_gives_the_same_figures() -> None:
    table = people(200, 24)
    release = by_age(table, 10).take(np.arange(0, 200, 2))
    first, second = (list(audit(table, release)) for _ in range(2))
    assert first == second
