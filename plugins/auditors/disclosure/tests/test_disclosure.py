"""What counts, who counts, and what the auditor does not blame."""

from typing import Any

import attrs
import numpy as np
import pandas as pd
import pytest

from anonloom import AuditInput, Column, Findings, Release, Schema, StageContext, Table
from anonloom_disclosure.auditor import Disclosure

SCHEMA = Schema(
    [
        Column(name="who", role="person"),
        Column(name="job", role="quasi"),
        Column(name="ill", role="sensitive"),
    ]
)


def build(rows: list[tuple[Any, Any, Any]]) -> Table:
    return Table.build(pd.DataFrame(rows, columns=["who", "job", "ill"]), SCHEMA)


def released(table: Table, cells: list[str] | None = None) -> Release:
    release = Release.as_it_is(table)
    return (
        release if cells is None else attrs.evolve(release, frame=release.frame.assign(job=cells))
    )


def audit(case: AuditInput, **parameters: Any) -> Findings:
    return Disclosure(**parameters).audit(case, StageContext(seed=1))


def clinic(n: int = 400, seed: int = 0) -> Table:
    rng = np.random.default_rng(seed)
    ill = rng.choice(["flu", "cold", "gout"], n)
    return build(list(zip(range(n), rng.integers(0, 5, n).astype(str), ill, strict=True)))


def test_a_raw_table_is_found_out() -> None:
    table = build([(n, f"job {n}", "flu" if n % 2 else "gout") for n in range(20)])
    result = audit(AuditInput(release=released(table), original=table))
    assert 1 == result["k"].value
    assert 1.0 == result["prosecutor_max"].value == result["records_at_risk"].value
    assert 1.0 == result["certainty.ill"].value
    (rows,) = result.private
    assert list(range(20)) == rows.rows.tolist()


def test_a_fully_generalized_table_is_not_blamed() -> None:
    table = clinic()
    result = audit(AuditInput(release=released(table, ["*"] * len(table)), original=table))
    assert (None, "none detected") == (result["k"].value, result["k"].status)
    assert 0.0 == result["prosecutor_max"].value == result["marketer"].value
    assert () == result.private


def test_an_unrelated_sensitive_column_is_not_blamed() -> None:
    table = clinic(4000)
    result = audit(AuditInput(release=released(table), original=table))
    assert 0.0 == pytest.approx(result["certainty_excess.ill"].value, abs=0.02)
    assert 0.0 == result["records_at_risk"].value


def test_a_related_sensitive_column_is_found_out() -> None:
    table = clinic(4000)
    jobs = table.column("job")
    text = Table.build(pd.DataFrame({"who": range(4000), "job": jobs, "ill": jobs}), SCHEMA)
    result = audit(AuditInput(release=released(text), original=text))
    assert 1.0 == result["certainty.ill"].value
    assert result["certainty_excess.ill"].value > 0.7


def test_persons_are_counted_where_they_are_at_hand() -> None:
    # Three visits of one person do not hide that person.
    table = build(
        [("ann", "a", "flu"), ("ann", "a", "flu"), ("ann", "a", "gout"), ("bob", "a", "flu")]
    )
    result = audit(AuditInput(release=released(table), original=table))
    assert 2 == result["k"].value
    assert "persons" == result["k"].unit
    assert "persons are counted, not rows" in result["k"].assumptions
    # Both have flu, whatever else is told of them.
    assert 1.0 == result["certainty.ill"].value
    # flu twice, gout once: three things told of two persons
    expected = float(np.exp(-(2 / 3) * np.log(2 / 3) - (1 / 3) * np.log(1 / 3)))
    assert expected == pytest.approx(result["entropy_l.ill"].value)


def test_without_the_original_rows_are_counted_and_the_finding_says_so() -> None:
    table = build([("ann", "a", "flu"), ("ann", "a", "gout")])
    result = audit(AuditInput(release=released(table)))
    assert 2 == result["k"].value
    assert "rows are counted: the persons behind them are not at hand" in result["k"].assumptions


def test_a_release_that_cannot_be_traced_says_that_rows_are_counted() -> None:
    table = build([("ann", "a", "flu"), ("ann", "a", "gout")])
    release = attrs.evolve(
        released(table), origin=None, schema=Schema(c for c in SCHEMA if c.role != "person")
    )
    result = audit(AuditInput(release=release, original=table))
    assert "rows are counted: the persons behind them are not at hand" in result["k"].assumptions


def test_suppressed_rows_are_in_no_class() -> None:
    table = build([(n, "a", "flu") for n in range(5)])
    result = audit(AuditInput(release=released(table, ["a", "a", "a", "a", "*"]), original=table))
    assert 4 == result["k"].value
    assert 1 / 4 == result["marketer"].value


def test_a_missing_sensitive_value_is_no_value() -> None:
    table = build([(1, "a", "flu"), (2, "a", None), (3, "a", None), (4, "a", None)])
    result = audit(AuditInput(release=released(table), original=table))
    assert 1 == result["l.ill"].value
    assert 1 / 4 == result["certainty.ill"].value
    assert 0.0 == result["t.ill"].value


def test_a_class_without_any_value_is_not_diverse_but_tells_nothing() -> None:
    table = build([(1, "a", None), (2, "a", None), (3, "b", "flu"), (4, "b", "gout")])
    result = audit(AuditInput(release=released(table), original=table))
    assert (0, 0.0) == (result["l.ill"].value, result["entropy_l.ill"].value)
    assert 0.5 == result["certainty.ill"].value


def test_the_population_of_the_journalist_is_the_table_before_sampling() -> None:
    table = build([(n, "a" if n < 6 else "b", "flu") for n in range(10)])
    before = released(table)
    kept = np.array([0, 1, 2, 6, 7])
    case = AuditInput(release=before.take(kept), original=table, before_sampling=before)
    result = audit(case)
    assert 1 / 2 == result["prosecutor_max"].value
    assert 1 / 4 == result["journalist_max"].value
    assert (3 * (1 / 6) + 2 * (1 / 4)) / 5 == pytest.approx(result["journalist_average"].value)
    assert ("measured", 2 / 5) == (result["journalist_max"].status, result["marketer"].value)
    assert "the population is the table before sampling" in result["journalist_max"].assumptions


def test_a_class_that_is_suppressed_before_sampling_joins_no_other() -> None:
    table = build([(n, "a", "flu") for n in range(4)])
    before = released(table, ["*", "*", "a", "a"])
    case = AuditInput(release=before.take(np.array([0, 2])), original=table, before_sampling=before)
    assert 1 / 2 == audit(case)["journalist_max"].value


def test_without_a_population_the_journalist_is_bounded_by_the_prosecutor() -> None:
    table = clinic()
    result = audit(AuditInput(release=released(table), original=table))
    assert result["prosecutor_max"].value == result["journalist_max"].value
    assert "bound" == result["journalist_max"].status
    assert (
        "no population beyond the release is known: the same as the prosecutor's"
        in result["journalist_max"].assumptions
    )


def test_rows_of_unknown_origin_give_a_bound() -> None:
    table = clinic()
    result = audit(AuditInput(release=attrs.evolve(released(table), origin=None), original=table))
    assert "bound" == result["prosecutor_max"].status
    assert (
        "every row is taken for a person's, as its origin is not known"
        in result["prosecutor_max"].assumptions
    )


def test_the_distance_behind_t_is_named() -> None:
    frame = pd.DataFrame({"job": ["a", "b"], "ill": ["flu", "gout"], "cost": [1, 2]})
    schema = Schema(
        [
            Column(name="job", role="quasi"),
            Column(name="ill", role="sensitive"),
            Column(name="cost", role="sensitive", type="number"),
        ]
    )
    table = Table.build(frame, schema)
    result = audit(AuditInput(release=Release.as_it_is(table)))
    assert "equal distance" == result["t.ill"].assumptions[0]
    assert "ordered distance" == result["t.cost"].assumptions[0]


def test_other_columns_can_be_named_and_absent_ones_give_no_figure() -> None:
    table = clinic()
    result = audit(AuditInput(release=released(table)), of=("ill", "nothing"))
    assert "l.ill" in result
    assert "l.nothing" not in result


def test_every_finding_says_what_it_means_and_assumes_and_what_is_better() -> None:
    table = clinic()
    for finding in audit(AuditInput(release=released(table), original=table)):
        assert finding.meaning.endswith(".")
        assert finding.assumptions
        assert finding.better in ("lower", "higher")
