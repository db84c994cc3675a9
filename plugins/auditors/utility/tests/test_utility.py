"""The figures of `utility` against slow and obvious references."""

from collections import Counter

import attrs
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonloom import (
    AuditInput,
    Classes,
    Column,
    Finding,
    Findings,
    Release,
    Schema,
    StageContext,
    Table,
)
from anonloom.kinds import GridRow
from anonloom_utility.auditor import Utility
from anonloom_utility.charts import size_edges

SCHEMA = Schema(
    [
        Column(name="age", role="quasi", type="number"),
        Column(name="job", role="quasi"),
        Column(name="ill", role="sensitive"),
    ]
)


def build(rows: list[tuple[int, str]]) -> Table:
    frame = pd.DataFrame(rows, columns=["age", "job"])
    return Table.build(frame.assign(ill="flu"), SCHEMA)


def publish(table: Table, labels: list[int]) -> Release:
    classes = Classes.from_labels(np.array(labels))
    lo, hi = classes.extents(table.codes)
    cells = [axis.publish(lo[:, index], hi[:, index]) for index, axis in enumerate(table.axes)]
    return Release.from_cells(table, classes, cells, truthful=True)


def audit(
    table: Table, release: Release, k: int | None = None, demanded: int | None = None
) -> Findings:
    return Utility(k=k).audit(
        AuditInput(release=release, original=table, demanded=demanded), StageContext()
    )


def values(found: Findings) -> dict[str, object]:
    return {finding.name: finding.value for finding in found}


released = st.lists(
    st.tuples(st.integers(0, 9), st.sampled_from("abcd"), st.integers(-1, 3)),
    min_size=1,
    max_size=25,
)


@given(released, st.integers(0, 3))
def test_figures_agree_with_a_reference_that_loops_over_records(
    rows: list[tuple[int, str, int]], dropped: int
) -> None:
    table = build([(age, job) for age, job, _ in rows])
    release = attrs.evolve(publish(table, [label for *_, label in rows]), dropped=dropped)
    result = values(audit(table, release))

    cells = list(zip(release.frame["age"], release.frame["job"], strict=True))
    stars = [cell == ("*", "*") for cell in cells]
    total = len(rows) + dropped
    lost = sum(stars) + dropped
    made = Counter(label for (*_, label), star in zip(rows, stars, strict=True) if not star)
    seen = Counter(cell for cell, star in zip(cells, stars, strict=True) if not star)
    assert lost == result["suppressed"]
    assert lost / total == result["suppression_rate"]
    assert (len(made), len(seen)) == (result["classes"], result["published_classes"])
    assert sum(n * n for n in made.values()) + total * lost == result["dm"]
    assert sum(n * n for n in seen.values()) + total * lost == result["dm_published"]
    if seen:
        k = min(seen.values())
        assert k == result["smallest_class"]
        assert (total - lost) / (len(made) * k) == result["cavg"]
        assert (total - lost) / (len(seen) * k) == result["cavg_published"]
    else:
        assert (None, None, None) == (
            result["smallest_class"],
            result["cavg"],
            result["cavg_published"],
        )


@given(released, st.integers(0, 3))
def test_gcp_is_the_mean_over_records_and_columns_recounted_from_the_originals(
    rows: list[tuple[int, str, int]], dropped: int
) -> None:
    table = build([(age, job) for age, job, _ in rows])
    release = attrs.evolve(publish(table, [label for *_, label in rows]), dropped=dropped)
    ages = [age for age, *_ in rows]
    width = max(ages) - min(ages)
    lost = {"age": float(dropped), "job": float(dropped)}
    for _, _, label in rows:
        own = [row for row in rows if row[2] == label]
        spread = max(age for age, *_ in own) - min(age for age, *_ in own)
        # A flat hierarchy has nothing between a value and all of them.
        different = len({job for _, job, _ in own}) > 1
        lost["age"] += 1 if label < 0 else (spread / width if width else 0)
        lost["job"] += 1 if label < 0 else different
    total = len(rows) + dropped
    result = values(audit(table, release))
    assert lost["age"] / total == pytest.approx(result["ncp.age"])
    assert lost["job"] / total == pytest.approx(result["ncp.job"])
    assert sum(lost.values()) / (2 * total) == pytest.approx(result["gcp"])


@given(released)
def test_set_valued_loss_counts_the_members_of_each_class(rows: list[tuple[int, str, int]]) -> None:
    table = build([(age, job) for age, job, _ in rows])
    release = publish(table, [label for *_, label in rows])
    ages, jobs = {age for age, *_ in rows}, {job for _, job, _ in rows}
    width = max(ages) - min(ages)
    lost = 0.0
    for (_, _, label), star in zip(rows, release.suppressed_rows, strict=True):
        if star:
            lost += 2
            continue
        members = [row for row in rows if row[2] == label]
        own = [age for age, *_ in members]
        lost += (max(own) - min(own)) / width if width else 0.0
        different = len({job for _, job, _ in members})
        lost += different / len(jobs) if different > 1 else 0.0
    assert lost / (2 * len(rows)) == pytest.approx(values(audit(table, release))["gcp_sets"])


def test_a_table_published_as_it_is_has_lost_nothing() -> None:
    table = build([(1, "a"), (2, "b"), (2, "b")])
    result = values(audit(table, Release.as_it_is(table)))
    assert (0.0, 0.0, 0.0) == (result["gcp"], result["ncp.age"], result["ncp.job"])
    assert 2 == result["published_classes"]


def test_without_classes_of_stages_their_figures_are_not_assessable() -> None:
    table = build([(1, "a"), (2, "b")])
    result = audit(table, Release.as_it_is(table))
    for name in ("classes", "cavg", "dm", "gcp_sets"):
        assert "not assessable" == result[name].status
        assert not result[name].assessable
        assert ("the release does not say which classes its stages made",) == result[
            name
        ].assumptions


def test_rows_that_correspond_to_nobody_have_no_set_valued_loss() -> None:
    table = build([(1, "a"), (2, "b")])
    release = attrs.evolve(publish(table, [0, 0]), origin=None)
    finding = audit(table, release)["gcp_sets"]
    assert ("rows cannot be traced to the original",) == finding.assumptions


def test_origins_of_a_table_from_which_rows_were_held_out_are_traced() -> None:
    table = build([(1, "a"), (5, "b"), (1, "a"), (9, "c")])
    rest = table.take(np.array([3, 1, 0]))
    release = publish(rest, [0, 0, 1])
    # [5, 9] of a range of 8, two of three jobs, and one record that stays as it is.
    assert (2 * (4 / 8 + 2 / 3)) / 6 == pytest.approx(values(audit(rest, release))["gcp_sets"])


@pytest.mark.parametrize(
    ("k", "demanded", "cavg", "source"),
    [
        (None, None, 1.0, "k = 4, the smallest published class, as no k was given"),
        (None, 1, 1.0, "k = 4, the smallest published class, as no k was given"),
        (None, 2, 2.0, "k = 2, as the declared privacy demands"),
        (1, 2, 4.0, "k = 1, as given"),
    ],
)
def test_k_is_the_given_the_demanded_or_the_smallest_size_and_is_named(
    k: int | None, demanded: int | None, cavg: float, source: str
) -> None:
    table = build([(1, "a")] * 4 + [(2, "b")] * 4)
    result = audit(table, publish(table, [0] * 4 + [1] * 4), k, demanded)
    for name in ("cavg", "cavg_published"):
        assert cavg == result[name].value
        assert (source, "suppressed records are in no class") == result[name].assumptions


def test_a_class_of_the_whole_table_that_publishes_only_stars_is_suppressed() -> None:
    table = Table.build(
        pd.DataFrame({"job": ["a", "b"]}), Schema([Column(name="job", role="quasi")])
    )
    release = publish(table, [0, 0])
    result = values(audit(table, release))
    assert (1.0, 0, 0) == (
        result["suppression_rate"],
        result["classes"],
        result["published_classes"],
    )
    assert 2 * 2 == result["dm"]


def test_ninety_five_of_a_hundred_records_lose_at_most_the_figure() -> None:
    table = build([(age, "a") for age in range(100)])
    labels = list(range(100))
    labels[:8] = [0] * 8
    result = values(audit(table, publish(table, labels)))
    assert (7 / 99) / 2 == pytest.approx(result["record_loss_95"])
    labels = list(range(100))
    labels[:5] = [0] * 5
    assert 0.0 == values(audit(table, publish(table, labels)))["record_loss_95"]


def test_dropped_records_are_the_ones_that_lost_most() -> None:
    table = build([(1, "a"), (2, "b")])
    release = attrs.evolve(publish(table, [0, 1]), dropped=1)
    assert 1.0 == values(audit(table, release))["record_loss_95"]


@given(st.integers(1, 10**6), st.integers(0, 10**6))
def test_every_class_size_has_exactly_one_bar(smallest: int, more: int) -> None:
    edges = size_edges(smallest, smallest + more)
    assert (smallest, smallest + more + 1) == (edges[0], edges[-1])
    assert (np.diff(edges) > 0).all()
    assert len(edges) <= 15


def test_charts_hold_the_histogram_and_the_loss_of_every_column() -> None:
    table = build([(1, "a"), (1, "a"), (2, "b"), (2, "b"), (2, "b")])
    sizes, columns = audit(table, publish(table, [0, 0, 1, 1, 1])).charts
    assert {"labels": ["2", "3"], "as partitioned": [1, 1], "as published": [1, 1]} == sizes.data
    assert {"labels": ["age", "job"], "loss": [0.0, 0.0]} == columns.data


def test_no_loss_is_measured_where_values_were_changed() -> None:
    """One typical value per class is as narrow as the originals, and is none of them."""
    table = build([(10, "a"), (20, "b"), (30, "c"), (60, "d")])
    classes = Classes.from_labels(np.array([0, 0, 1, 1]))
    cells = [np.array(["15", "45"], object), np.array(['{"a", "b"}', '{"c", "d"}'], object)]
    result = audit(table, Release.from_cells(table, classes, cells, truthful=False))
    reason = "published values differ from the originals instead of covering them: 'age'"
    for name in ("gcp", "record_loss_95", "gcp_sets", "ncp.age"):
        assert (None, "not assessable", (reason,)) == (
            result[name].value,
            result[name].status,
            result[name].assumptions,
        )
    assert 0.5 == result["ncp.job"].value
    (chart,) = [chart for chart in result.charts if chart.name == "column_losses"]
    assert ["job"] == chart.data["labels"]


def grid_row(k: int, method: str, gcp: float) -> GridRow:
    results = [("gcp", gcp), ("cavg", 1.0), ("ncp.age", gcp / 2)]
    findings = [Finding(name=name, value=value, meaning=name) for name, value in results]
    return GridRow(f"k={k} {method}", {"k": k, "method": method}, Findings.of(findings))


def test_an_experiment_shows_loss_against_the_varied_number() -> None:
    grid = [grid_row(10, "a", 0.2), grid_row(5, "a", 0.1), grid_row(5, "b", 0.3)]
    charts = {chart.name: chart for chart in Utility().summarize(grid).charts}
    assert {
        "method = a": {"x": [5.0, 10.0], "y": [0.1, 0.2]},
        "method = b": {"x": [5.0], "y": [0.3]},
    } == charts["gcp"].data
    assert [[0.1], [0.05], [0.15]] == charts["column_losses"].data["z"]


def test_an_experiment_without_a_varied_number_has_no_lines() -> None:
    grid = [
        attrs.evolve(grid_row(5, name, 0.1), parameters={"method": name, "fast": flag})
        for name, flag in (("a", True), ("b", False))
    ]
    assert ["column_losses"] == [chart.name for chart in Utility().summarize(grid).charts]
    assert () == Utility().summarize([]).charts
