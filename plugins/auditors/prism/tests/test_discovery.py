"""The search: planted sets are found, supersets skipped, independent tables left in peace."""

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom import Column, Schema, Table
from anonloom_prism.correlations import ALL, Correlation, Measure
from anonloom_prism.discovery import Question, Search, discover, search
from anonloom_prism.encoding import encode, types_of
from anonloom_prism.pair_counts import joint

MEASURES: tuple[Measure, ...] = ("cramers-v", "classifier", "multiple-correlation")


def noise(n: int, attributes: int, seed: int) -> dict[str, Any]:
    """Numbers, categories, some missing, some of many values: all independent."""
    rng = np.random.default_rng(seed)
    kinds = (
        lambda: np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
        lambda: rng.choice(list("abcdefgh"), n, p=np.array([60, 20, 10, 4, 3, 1, 1, 1]) / 100),
        lambda: rng.integers(0, 2, n),
        lambda: rng.choice([f"v{index}" for index in range(40)], n),
    )
    return {f"a{index}": kinds[index % 4]() for index in range(attributes)}


def planted(n: int, seed: int, attributes: int = 10) -> pd.DataFrame:
    """Illness follows from two attributes of which neither alone tells anything."""
    rng = np.random.default_rng([seed, 1])
    columns = noise(n, attributes, seed)
    columns["left"], columns["right"] = rng.normal(size=n), rng.choice(["yes", "no"], n)
    differ = (columns["left"] > 0) != (columns["right"] == "yes")
    ill = rng.random(n) < np.where(differ, 0.8, 0.1)
    columns["illness"] = np.where(ill, "ill", rng.choice(["flu", "cold"], n))
    return pd.DataFrame(columns)


def searched(frame: pd.DataFrame, critical: list[Any] | None, **options: Any) -> Search:
    names = tuple(name for name in frame if name != "illness")
    return search(frame, None, "illness", critical, names, Question(**options))


@pytest.mark.parametrize("measure", ["cramers-v", "classifier"])
@pytest.mark.parametrize("seed", range(3))
def test_the_planted_pair_is_found_and_nothing_else(measure: Measure, seed: int) -> None:
    result = discover(planted(1500, seed), "illness", ["ill"], measure=measure)
    assert [({"left", "right"}, "ill")] == [(set(item.attributes), item.target) for item in result]
    assert result[0].p < 1e-6


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("column", ["copy", "code"])
def test_a_copy_of_the_sensitive_column_is_found_however_many_values_it_has(
    measure: Measure, column: str
) -> None:
    """The critical value is rare: levels put it together with dozens of others."""
    rng = np.random.default_rng(0)
    illness = np.minimum(rng.geometric(0.1, 3000), 40)
    frame = pd.DataFrame(noise(3000, 4, 0)).assign(illness=[f"i{index}" for index in illness])
    frame[column] = frame["illness"] if column == "copy" else illness * 10.0
    critical = ["i25"]
    result = searched(frame, critical, measure=measure)
    assert [({column}, "i25")] == [(set(item.attributes), item.target) for item in result.found]
    assert result.found[0].value > 0.98


@pytest.mark.parametrize("measure", MEASURES)
def test_of_a_single_attribute_the_finer_or_the_coarser_view_counts(measure: Measure) -> None:
    """What shows in ranges alone is found, too, where there is hardly a row of every value."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"age": rng.integers(0, 70, 150)})
    frame["illness"] = np.where(rng.random(150) < np.where(frame["age"] < 35, 0.6, 0.1), "x", "y")
    assert ["age"] == [*searched(frame, ["x"], measure=measure).found[0].attributes]


@pytest.mark.parametrize("measure", ["cramers-v", "classifier"])
def test_values_of_single_attributes_agree_with_slow_measures(
    slow: dict[str, Any], measure: Measure
) -> None:
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"town": rng.integers(0, 20, 200).astype(str)})
    frame["illness"] = np.where(rng.random(200) < frame["town"].astype(int) / 25, "x", "y")
    result = searched(frame, ["x"], measure=measure, threshold=1e-6, levels=2, alpha=None).found
    expected = slow[measure](frame["town"].astype(int).to_numpy(), (frame["illness"] == "x"))
    assert pytest.approx(expected) == result[0].value


def test_what_only_a_combination_shows_is_not_seen_by_adding_up() -> None:
    assert () == discover(planted(1500, 0), "illness", ["ill"], measure="multiple-correlation")


@pytest.mark.parametrize("measure", ["cramers-v", "multiple-correlation"])
def test_what_adds_up_is_found_in_combination_too(measure: Measure) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(noise(2000, 6, 0))
    frame["one"], frame["two"] = rng.integers(0, 2, 2000), rng.integers(0, 2, 2000)
    share = 0.1 + 0.4 * frame["one"] + 0.4 * frame["two"]
    frame["illness"] = np.where(rng.random(2000) < share, "ill", "well")
    result = discover(frame, "illness", ["ill"], measure=measure, threshold=0.5)
    assert [frozenset({"one", "two"})] == [item.attributes for item in result]


@pytest.mark.long
@pytest.mark.parametrize("measure", MEASURES)
def test_independent_tables_are_blamed_no_more_often_than_stated(measure: Measure) -> None:
    """Small tables and rare values, where many sets pass the threshold by chance."""
    blamed = passed = 0
    for seed in range(60):
        rng = np.random.default_rng([seed, 2])
        frame = pd.DataFrame(noise(60, 6, seed))
        frame["illness"] = np.where(rng.random(60) < 0.1, "ill", "well")
        frame.loc[:1, "illness"] = "ill"
        result = searched(frame, ["ill"], measure=measure, alpha=0.1)
        blamed += bool(result.found)
        passed += result.by_chance > 0
    # Of 60 tables 12 or more are blamed with a chance of 0.015, were it 0.1 of them.
    assert blamed < 12
    assert passed > 20


@pytest.mark.long
@pytest.mark.parametrize("measure", MEASURES)
def test_a_few_hits_that_meet_in_rare_values_are_no_more_blamed_than_stated(
    measure: Measure,
) -> None:
    """A distribution that fits in the middle only blames a fifth of these tables."""
    blamed = 0
    for seed in range(60):
        rng = np.random.default_rng([seed, 3])
        frame = pd.DataFrame(
            {f"a{index}": rng.integers(0, 40, 400).astype(str) for index in range(25)}
        )
        frame["illness"] = rng.permutation(["ill"] * 8 + ["well"] * 392)
        result = searched(frame, ["ill"], measure=measure, size=1, threshold=0.2)
        blamed += bool(result.found)
    # Of 60 tables 8 or more are blamed with a chance of 0.01, were it 0.05 of them.
    assert blamed < 8


def test_a_false_alarm_is_what_the_guard_prevents() -> None:
    frame = pd.DataFrame(noise(40, 6, 0))
    frame["illness"] = np.random.default_rng(0).choice(["ill", "well"], 40)
    assert () == searched(frame, ["ill"]).found
    assert len(searched(frame, ["ill"], alpha=None).found) > 0


@pytest.mark.parametrize("measure", MEASURES)
def test_supersets_of_what_was_found_are_skipped(measure: Measure) -> None:
    rng = np.random.default_rng(1)
    frame = planted(1500, 4, attributes=4)
    frame["copy"] = np.where(rng.random(1500) < 0.05, "well", frame["illness"])
    result = searched(frame, ["ill"], measure=measure, threshold=0.25)
    sets = [item.attributes for item in result.found]
    assert frozenset({"copy"}) in sets
    assert not any(a < b for a in sets for b in sets)
    # Six attributes are left beside the copy; the classifier and V find their planted pair.
    pair = measure != "multiple-correlation"
    expected = {1: 7, 2: 15, 3: 20 - 4 * pair}
    assert expected == result.looked_at
    assert {1: 7, 2: 21, 3: 35} == result.sets


@settings(max_examples=25)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(6, 80),
    measure=st.sampled_from(["cramers-v", "classifier"]),
)
def test_sets_of_every_size_agree_with_slow_measures(
    slow: dict[str, Any], seed: int, n: int, measure: str
) -> None:
    frame = pd.DataFrame(noise(n, 4, seed))
    illness = np.random.default_rng(seed).choice(["a", "b", "c"], n)
    illness[:3] = ["a", "b", "c"]
    frame["illness"] = illness
    result = searched(frame, ["a", "b"], measure=measure, threshold=1e-6, size=4, alpha=None)
    columns = {name: frame[name] for name in frame if name != "illness"}
    encoded = encode(columns, types_of(frame, None), 4, 8)
    finer = dict(zip(encoded.names, encoded.values, strict=True))
    true = {"a": illness == "a", "b": illness == "b", ALL: illness != "c"}
    expected: dict[tuple[frozenset[str], str], float] = {}
    for size in range(1, len(encoded.names) + 1):
        known = {attributes for attributes, _ in expected}
        for chosen in combinations(range(len(encoded.names)), size):
            names = frozenset(encoded.names[index] for index in chosen)
            if any(item < names for item in known):
                continue
            cells = np.asarray(joint(encoded, chosen))
            for target, of in true.items():
                value = slow[measure](cells, of)
                if size == 1 and (values := finer[encoded.names[chosen[0]]]) is not None:
                    value = max(value, slow[measure](values, of))
                if value >= 1e-6:
                    expected[names, target] = value
    got = {(item.attributes, item.target): item.value for item in result.found}
    assert {key: pytest.approx(value, abs=1e-4) for key, value in expected.items()} == got


@pytest.mark.parametrize("measure", MEASURES)
def test_the_order_of_rows_and_columns_decides_nothing(measure: Measure) -> None:
    frame = planted(400, 2, attributes=5)
    turned = frame.sample(frac=1, random_state=0)[frame.columns[::-1]]
    options: dict[str, Any] = {"measure": measure, "alpha": None, "threshold": 0.1}
    one, other = (discover(given, "illness", None, **options) for given in (frame, turned))

    def plain(found: tuple[Correlation, ...]) -> dict[Any, Any]:
        return {(each.attributes, each.target): round(each.value, 6) for each in found}

    assert len(one) > 3
    assert plain(one) == plain(other)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("n", [2, 3, 5])
def test_tiny_tables_and_odd_columns_are_coped_with(measure: Measure, n: int) -> None:
    frame = pd.DataFrame(
        {
            "same": [1] * n,
            "own": [f"r{index}" for index in range(n)],
            "again": [f"r{index}" for index in range(n)],
            "none": [None] * n,
            "flag": [index % 2 == 0 for index in range(n)],
            "day": pd.date_range("2024-01-01", periods=n),
            "illness": ["ill"] + ["well"] * (n - 1),
        }
    )
    result = searched(frame, ["ill"], measure=measure)
    assert () == result.found
    assert ("same", "none") == result.constant


@pytest.mark.parametrize("measure", MEASURES)
def test_a_table_without_attributes_has_no_correlations(measure: Measure) -> None:
    assert () == discover(pd.DataFrame({"s": ["a", "b"]}), "s", measure=measure)


def test_rows_without_a_sensitive_value_are_left_out() -> None:
    frame = planted(1500, 0, attributes=2)
    frame.loc[::10, "illness"] = None
    result = searched(frame, ["ill"])
    assert (1350, 150) == (result.rows, result.left_out)
    assert [{"left", "right"}] == [set(item.attributes) for item in result.found]


def test_a_table_knows_its_sensitive_column_and_its_labels() -> None:
    frame = planted(1500, 0, attributes=2).assign(outcome=lambda given: given["illness"])
    table = Table.build(
        frame,
        Schema(
            [
                Column(name="left", role="quasi", type="number"),
                Column(name="right", role="other"),
                Column(name="illness", role="sensitive"),
                Column(name="outcome", role="label"),
            ]
        ),
    )
    assert [{"left", "right"}] == [
        set(item.attributes) for item in discover(table, critical=["ill"])
    ]
    by_frame = discover(frame, "illness", ["ill"], label="outcome", attributes=["left", "right"])
    assert discover(table, critical=["ill"])[0].attributes == by_frame[0].attributes


def test_wrong_columns_are_named() -> None:
    frame = pd.DataFrame({"a": [1, 2], "s": ["x", "y"]})
    wrong: tuple[tuple[dict[str, Any], str], ...] = (
        ({}, "'sensitive' must name a column of the data frame"),
        ({"sensitive": "t"}, "there is no column 't'"),
        ({"sensitive": "s", "attributes": ["b"]}, "there is no column 'b'"),
    )
    for options, message in wrong:
        with pytest.raises(ValueError, match="column") as caught:
            discover(frame, **options)
        assert message == str(caught.value)
    table = Table.build(frame, Schema([Column(name="a", role="other")]))
    with pytest.raises(ValueError, match="role") as caught:
        discover(table)
    assert "the role 'sensitive' has no column: name one with 'sensitive'" == str(caught.value)


def test_a_correlation_says_itself() -> None:
    one = Correlation(
        attributes=frozenset(("b", "a")), target="ill", measure="cramers-v", value=0.512, p=0.01
    )
    assert "a + b -> ill (0.51)" == str(one)


@pytest.mark.parametrize("measure", ["cramers-v", "classifier", "multiple-correlation"])
@pytest.mark.parametrize("alpha", [0.05, None])
@pytest.mark.parametrize("hits", [60, 400])
def test_what_is_so_clear_that_its_chance_is_0_is_found(
    measure: Measure, alpha: float | None, hits: int
) -> None:
    """Every one of the hits is told: the chance of that is less than any number, or nearly."""
    columns = noise(20_000, 4, seed=3)
    ill = np.arange(20_000) < hits
    columns["code"] = np.where(ill, "z", np.array(list("abc"))[np.arange(20_000) % 3])
    columns["illness"] = np.where(ill, "ill", "well")
    result = discover(pd.DataFrame(columns), "illness", ["ill"], measure=measure, alpha=alpha)
    assert [{"code"}] == [set(item.attributes) for item in result]
    assert result[0].p < 1e-100
