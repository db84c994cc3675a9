"""The four proxies against slow and obvious references, and where they have nothing to say."""

import math
from typing import Any

import attrs
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon

from anonloom import AuditInput, Column, Findings, Release, Schema, StageContext, Table
from anonloom_testing.auditor import in_classes, publish_suppressed
from anonloom_testing.random_tables import mixed_table
from anonloom_utility import samples
from anonloom_utility.auditor import Utility
from anonloom_utility.proxies import associations
from anonloom_utility.samples import SampledTables

NAMES = (
    "correlation_preserved",
    "marginals_preserved",
    "accuracy_preserved",
    "distances_preserved",
)
SCHEMA = Schema(
    [
        Column(name="age", role="quasi", type="number"),
        Column(name="pay", role="other", type="number"),
        Column(name="town", role="quasi"),
        Column(name="vote", role="label"),
    ]
)


def people(n: int, seed: int) -> Table:
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, n)
    pay = age / 20 + rng.normal(size=n)
    town = np.where(pay > 3, "city", np.where(rng.random(n) < 0.5, "town", "farm"))
    vote = np.where(pay + rng.normal(size=n) > 2.5, "red", "blue")
    frame = pd.DataFrame({"age": age, "pay": pay.round(2), "town": town, "vote": vote})
    return Table.build(frame, SCHEMA)


def published(table: Table, **columns: Any) -> Release:
    """Publish a table with some columns changed."""
    changed = Table.build(table.frame.assign(**columns), table.schema)
    return Release.as_it_is(changed)


def audit(table: Table, release: Release, control: Table | None = None) -> Findings:
    case = AuditInput(release=release, original=table, control=control)
    return Utility().audit(case, StageContext(seed=3))


def value(found: Findings, name: str) -> float:
    figure = found[name].value
    assert isinstance(figure, int | float)
    return float(figure)


def strangers(n: int, seed: int) -> Release:
    return attrs.evolve(Release.as_it_is(people(n, seed)), origin=None)


def test_a_copy_preserves_everything() -> None:
    table = people(400, 1)
    for control in (None, people(200, 2)):
        result = audit(table, Release.as_it_is(table), control)
        assert [1.0] * 4 == [pytest.approx(value(result, name)) for name in NAMES]


def test_proxies_can_be_left_out() -> None:
    table = people(30, 1)
    case = AuditInput(release=Release.as_it_is(table), original=table)
    result = Utility(proxies=False).audit(case, StageContext())
    assert not [item.name for item in result if "preserved" in item.name]


# --- correlation ---------------------------------------------------------------------------------


def test_correlation_of_numbers_is_that_of_their_correlation_matrices() -> None:
    rng = np.random.default_rng(4)
    before = rng.normal(size=(300, 4)) @ rng.normal(size=(4, 4))
    after = before + rng.normal(size=before.shape)
    schema = Schema([Column(name=f"x{index}", role="quasi", type="number") for index in range(4)])
    table = Table.build(pd.DataFrame(before, columns=schema.names), schema)
    release = published(table, **{f"x{index}": after[:, index] for index in range(4)})
    pairs = np.triu_indices(4, 1)
    expected = np.corrcoef(np.corrcoef(before.T)[pairs], np.corrcoef(after.T)[pairs])[0, 1]
    assert expected == pytest.approx(value(audit(table, release), "correlation_preserved"))


def test_association_of_categories_is_the_size_of_their_covariance() -> None:
    table = people(250, 5)
    made = SampledTables.of(
        AuditInput(release=Release.as_it_is(table), original=table), StageContext()
    )
    frame = table.frame
    town = pd.get_dummies(frame["town"]).to_numpy(float)
    vote = pd.get_dummies(frame["vote"]).to_numpy(float)
    age = frame["age"].to_numpy(float)[:, None]

    def size(a: Any, b: Any) -> float:
        return float(np.linalg.norm((a - a.mean(0)).T @ (b - b.mean(0)) / 250))

    names = [feature.name for feature in made.features]
    result = associations(made, 0)
    for (a, item), (b, other) in (
        (("town", town), ("vote", vote)),
        (("age", age), ("town", town)),
    ):
        expected = size(item, other) / math.sqrt(size(item, item) * size(other, other))
        assert expected == pytest.approx(result[names.index(a), names.index(b)])


def test_shuffled_columns_keep_their_marginals_and_lose_everything_else() -> None:
    table = people(2000, 6)
    rng = np.random.default_rng(7)
    release = published(
        table, **{name: rng.permutation(table.frame[name].to_numpy()) for name in SCHEMA.names}
    )
    result = audit(table, release)
    assert 1.0 == pytest.approx(value(result, "marginals_preserved"))
    assert value(result, "correlation_preserved") < 0.7
    assert abs(value(result, "distances_preserved")) < 0.1


def test_noise_lowers_all_but_the_marginals_step_by_step() -> None:
    table = people(2000, 8)
    results = []
    for scale in (0.1, 1.0, 10.0):
        rng = np.random.default_rng(9)
        pay = table.frame["pay"] + scale * rng.normal(size=2000)
        age = table.frame["age"] + 18 * scale * rng.normal(size=2000)
        results.append(audit(table, published(table, pay=pay, age=age)))
    for name in ("distances_preserved", "marginals_preserved"):
        figures = [value(item, name) for item in results]
        assert sorted(figures, reverse=True) == figures
    assert value(results[0], "accuracy_preserved") > value(results[2], "accuracy_preserved")


# --- marginals -----------------------------------------------------------------------------------


def category(cells: list[Any]) -> Table:
    return Table.build(pd.DataFrame({"c": cells}), Schema([Column(name="c", role="quasi")]))


def of_cells(table: Table, cells: list[Any]) -> Release:
    release = Release.as_it_is(table)
    return Release(schema=release.schema, frame=pd.DataFrame({"c": pd.Categorical(cells)}))


@given(
    st.lists(st.sampled_from("abcd"), min_size=1, max_size=20),
    st.lists(st.sampled_from("abcd"), min_size=1, max_size=20),
)
def test_marginals_of_a_category_agree_with_scipy(before: list[str], after: list[str]) -> None:
    both = sorted({*before, *after})
    p, q = ([cells.count(item) / len(cells) for item in both] for cells in (before, after))
    expected = 1 - float(np.nan_to_num(jensenshannon(p, q, base=2))) ** 2
    result = audit(category(before), of_cells(category(before), after))
    assert expected == pytest.approx(value(result, "marginals_preserved"), abs=1e-9)


def test_a_generalized_cell_counts_evenly_and_nothing_known_is_everything_alike() -> None:
    table = category(["a"] * 6 + ["b"] * 2)
    star = audit(table, of_cells(table, ["*"] * 5))
    expected = 1 - jensenshannon([0.75, 0.25], [0.5, 0.5], base=2) ** 2
    assert expected == pytest.approx(value(star, "marginals_preserved"))
    schema = Schema([Column(name="c", role="quasi", type="number")])
    numbers = Table.build(pd.DataFrame({"c": np.arange(0.0, 40.0)}), schema)
    wide = audit(numbers, of_cells(numbers, ["[0, 39]"] * 7))
    assert 1.0 == pytest.approx(value(wide, "marginals_preserved"), abs=0.02)
    low = audit(numbers, of_cells(numbers, ["[0, 19]"] * 7))
    expected = 1 - jensenshannon([0.5, 0.5], [1.0, 0.0], base=2) ** 2
    assert expected == pytest.approx(value(low, "marginals_preserved"), abs=0.03)


def test_values_that_the_original_does_not_know_preserve_nothing() -> None:
    table = category(["a", "b", "a"])
    assert 0.0 == pytest.approx(value(audit(table, of_cells(table, ["x"])), "marginals_preserved"))
    half = audit(table, of_cells(table, ["x", "a", "a", "b"]))
    assert 0.0 < value(half, "marginals_preserved") < 1.0


def test_the_least_of_the_columns_is_named() -> None:
    table = people(300, 1)
    release = published(table, town="farm")
    (assumption, *_) = audit(table, release)["marginals_preserved"].assumptions
    assert assumption.startswith("least of 'town': 0.")


# --- accuracy ------------------------------------------------------------------------------------


def test_a_model_of_the_release_is_judged_by_rows_that_it_has_not_seen() -> None:
    # Every row has its own value: who has seen a row knows its label, and nobody else does.
    rng = np.random.default_rng(1)
    schema = Schema([Column(name="key", role="quasi"), Column(name="vote", role="label")])
    cells = {"key": [f"k{index}" for index in range(40)] * 2, "vote": rng.choice(["a", "b"], 80)}
    table = Table.build(pd.DataFrame(cells), schema)
    release = Release.as_it_is(table)
    result = audit(table, release)["accuracy_preserved"]
    assert 1.0 == result.value
    untraced = audit(table, attrs.evolve(release, origin=None))["accuracy_preserved"]
    assert isinstance(untraced.value, float)
    assert untraced.value > 1.1


def test_a_release_with_a_single_label_teaches_to_guess_it() -> None:
    table, control = people(800, 2), people(400, 3)
    result = audit(table, published(table, vote="red"), control)
    guessed = float((control.frame["vote"] == "red").mean())
    (assumption, *_) = result["accuracy_preserved"].assumptions
    assert assumption.startswith(f"right of 400 rows: {guessed:.4g}, ")
    assert value(result, "accuracy_preserved") < 0.9


def test_accuracy_says_what_guessing_gives() -> None:
    table = people(1000, 2)
    result = audit(table, strangers(1000, 3), people(500, 4))["accuracy_preserved"]
    assert isinstance(result.value, float)
    assert 1.0 == pytest.approx(result.value, abs=0.05)
    assert result.interval is not None
    assert result.interval[0] < result.value < result.interval[1]
    assert result.assumptions[0].startswith("right of 500 rows: 0.")
    assert "the most frequent value always 0." in result.assumptions[0]


def test_any_published_column_can_be_predicted() -> None:
    table, release = people(600, 2), strangers(600, 3)
    columns = [
        attrs.evolve(column, role="other") if column.name == "vote" else column for column in SCHEMA
    ]
    plain = Table.build(table.frame, Schema(columns))
    case = AuditInput(release=attrs.evolve(release, schema=plain.schema), original=plain)
    named = Utility(predict=("vote",)).audit(case, StageContext(seed=3))
    expected = value(audit(table, release), "accuracy_preserved")
    assert expected == value(named, "accuracy_preserved")
    unnamed = Utility().audit(case, StageContext(seed=3))
    assert "not assessable" == unnamed["accuracy_preserved"].status


def test_what_is_not_published_cannot_be_predicted() -> None:
    assert "column 'wage' is not declared; published are: 'age', 'pay', 'town', 'vote'" == Utility(
        predict=("vote", "wage")
    ).problem(SCHEMA)
    assert Utility(predict=("vote",)).problem(SCHEMA) is None


# --- distances -----------------------------------------------------------------------------------


def test_without_correspondence_the_quantiles_are_a_bound() -> None:
    table = people(1000, 2)
    result = audit(table, strangers(1000, 3))["distances_preserved"]
    assert "bound" == result.status
    assert isinstance(result.value, float)
    assert result.value > 0.99


# --- little or nothing to say --------------------------------------------------------------------


def test_where_a_proxy_has_no_value_it_says_why() -> None:
    table = people(50, 1)
    empty = audit(table, Release.as_it_is(table).take(np.empty(0, np.int64)))
    assert {"nothing is published"} == {empty[name].assumptions[0] for name in NAMES}
    one = category(["a", "b", "a"])
    result = audit(one, Release.as_it_is(one))
    assert (
        "fewer than three columns vary, which is one association or none"
        == (result["correlation_preserved"].assumptions[0])
    )
    assert (
        "no published column is to be predicted and takes several values: give one the role "
        "'label', or name it in 'predict'" == (result["accuracy_preserved"].assumptions[0])
    )
    same = category(["a", "a"])
    assert (
        "no column varies"
        == (audit(same, Release.as_it_is(same))["distances_preserved"].assumptions[0])
    )
    many = published(table, vote=[f"v{index}" for index in range(50)])
    assert (
        "there are no rows with a label to learn from"
        == (audit(table, many)["accuracy_preserved"].assumptions[0])
    )


def test_columns_that_are_not_compared_are_named() -> None:
    schema = Schema([*SCHEMA, Column(name="note", role="other")])
    frame = people(200, 1).frame.assign(note=[f"n{index}" for index in range(200)])
    table = Table.build(frame, schema)
    release = Release.as_it_is(table)
    release = attrs.evolve(
        release,
        frame=release.frame.drop(columns="pay"),
        schema=Schema([column for column in schema if column.name != "pay"]),
    )
    assumptions = audit(table, release)["marginals_preserved"].assumptions
    assert "not compared, as nearly every row has its own value: 'note'" in assumptions
    assert "not compared, as the release lacks them: 'pay'" in assumptions


@settings(max_examples=40, deadline=None)
@given(
    st.integers(1, 30), st.integers(1, 5), st.integers(0, 999), st.booleans(), st.booleans(),
    st.sampled_from(["classes", "as it is", "suppressed"]), st.booleans(),
)  # fmt: skip
def test_no_proxy_is_ever_infinite_or_not_a_number(
    rows: int, columns: int, seed: int, missing: bool, constant: bool, how: str, held_out: bool
) -> None:
    table = mixed_table(rows, columns, seed, missing, constant)
    schema = Schema(
        [attrs.evolve(c, role="label", publish=None) if c.name == "q1" else c for c in table.schema]
    )
    table = Table.build(table.frame, schema)
    publish = {
        "classes": in_classes,
        "as it is": Release.as_it_is,
        "suppressed": publish_suppressed,
    }[how]
    release = publish(table)  # type: ignore[operator]  # three functions of a table
    control = mixed_table(4, columns, seed + 1) if held_out else None
    result = audit(table, release, control)
    for name in NAMES:
        assert (result[name].value is None) == (result[name].status == "not assessable")
        if result[name].value is not None:
            assert math.isfinite(value(result, name))
            assert -1 - 1e-12 <= value(result, name) or name == "accuracy_preserved"
    if how == "as it is" and result["marginals_preserved"].value is not None:
        assert 1.0 == pytest.approx(value(result, "marginals_preserved"))


def test_large_tables_are_sampled_and_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    table = people(3000, 5)
    whole = audit(table, strangers(3000, 6))
    monkeypatch.setattr(samples, "MOST_ROWS", 1000)
    some = audit(table, strangers(3000, 6))
    for name in NAMES:
        assert value(whole, name) == pytest.approx(value(some, name), abs=0.05)
        assert "from random samples of 1000 rows" in some[name].assumptions
        assert "from random samples of 1000 rows" not in whole[name].assumptions
