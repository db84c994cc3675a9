"""Levels of attributes and published cells, and the classes of critical values."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonloom.findings import NotAssessable
from anonloom_prism.cell_midpoints import places
from anonloom_prism.correlations import ALL
from anonloom_prism.encoding import encode, encode_column, types_of
from anonloom_prism.targets import targets

CELLS = st.lists(
    st.one_of(st.none(), st.integers(-5, 40), st.floats(-1e6, 1e6)), min_size=1, max_size=60
)


@given(CELLS, st.integers(2, 6), st.integers(2, 9))
def test_levels_of_numbers_are_ranges_and_the_last_is_the_most_frequent(
    cells: list[float | None], bins: int, levels: int
) -> None:
    series = pd.Series(cells, dtype=float)
    codes, count, _ = encode_column(series, "number", bins, levels)
    assert list(range(count)) == np.unique(codes).tolist()
    assert (np.diff(np.bincount(codes)) >= 0).all()
    assert count <= max(levels, bins) + 1
    missing = series.isna().to_numpy()
    assert len(set(codes[missing]) & set(codes[~missing])) == 0
    of_values = [codes[~missing & (series == value)] for value in series.dropna().unique()]
    assert all(len(set(of.tolist())) == 1 for of in of_values)
    spans = [series[codes == level] for level in set(codes[~missing].tolist())]
    spans.sort(key=lambda span: span.min())
    assert all(a.max() < b.min() for a, b in pairwise(spans))


@given(st.lists(st.sampled_from(["a", "b", "c", "d", "e", None]), min_size=1), st.integers(2, 5))
def test_levels_of_categories_do_not_depend_on_the_order_of_rows(
    cells: list[str | None], levels: int
) -> None:
    there, back = (
        encode_column(pd.Series(given, dtype=object), "category", 4, levels)
        for given in (cells, cells[::-1])
    )
    assert there[1] == back[1] <= levels + 1
    assert there[0].tolist() == back[0][::-1].tolist()


@pytest.mark.parametrize("heap", [0.0, 9.0])
def test_a_heap_at_either_end_is_told_from_the_rest(heap: float) -> None:
    values = np.where(np.arange(100) < 90, heap, np.linspace(1, 8, 100))
    codes, count, _ = encode_column(pd.Series(values), "number", 4, 8)
    assert 2 == count
    assert (codes == 1).tolist() == (values == heap).tolist()


def test_rare_categories_share_a_level() -> None:
    codes, count, _ = encode_column(pd.Series(list("aaaaabbbcdef")), "category", 4, 3)
    assert (3, [2] * 5 + [0] * 3 + [1] * 4) == (count, codes.tolist())


def test_values_that_levels_put_together_are_numbered() -> None:
    towns = pd.Series([*"aaabbbccdd", None, None, "e", "e", "f", "f", "f"])
    values = encode_column(towns, "category", 4, 3).values
    assert values is not None
    assert [0] * 3 + [1] * 3 + [2] * 2 + [3] * 2 + [6] * 2 + [4] * 2 + [5] * 3 == values.tolist()
    ages = pd.Series([3, 1, 2, 3, np.nan, 1, 2, 2])
    assert [2, 0, 1, 2, 3, 0, 1, 1] == np.array(encode_column(ages, "number", 2, 2).values).tolist()


def test_values_are_not_numbered_where_levels_say_the_same_or_hardly_any_repeats() -> None:
    assert encode_column(pd.Series([1, 2, 1, 2]), "number", 2, 2).values is None
    assert encode_column(pd.Series(list("abcabc")), "category", 2, 3).values is None
    assert encode_column(pd.Series(list("abcdea")), "category", 2, 2).values is None
    assert encode_column(pd.Series([1.5, 2.5, 3.5, 4.5, 5.5, 1.5]), "number", 2, 2).values is None


def test_constant_columns_are_set_apart() -> None:
    frame = pd.DataFrame({"one": [1, 1, 1], "two": ["a", "b", "a"], "none": [None] * 3})
    encoded = encode({name: frame[name] for name in frame}, types_of(frame, None), 4, 8)
    assert (("two",), ("one", "none")) == (encoded.names, encoded.constant)


def test_indicators_are_the_levels_but_the_last() -> None:
    frame = pd.DataFrame({"x": list("aabbbc"), "y": [1, 2, 2, 2, 2, 1]})
    encoded = encode({name: frame[name] for name in frame}, types_of(frame, None), 4, 8)
    expected = np.concatenate(
        [
            codes[:, None] == np.arange(levels - 1)
            for codes, levels in zip(encoded.codes, encoded.levels, strict=True)
        ],
        axis=1,
    )
    assert expected.astype(float).tolist() == encoded.indicators().tolist()


def test_published_numbers_are_read_as_their_middles() -> None:
    cells = pd.Series(["3", "[10, 20]", "*", None, '{"1", "2"}', "20-30"])
    expected = [3, 15, np.nan, np.nan, 1.5, 25]
    np.testing.assert_array_equal(expected, places(cells, "number"))
    assert places(pd.Series(["3", "young"]), "number") is None


def test_numbers_and_dates_of_other_tools_are_read_as_their_middles() -> None:
    cells = pd.Series(["(10.0, 20.0]", "30~40", "90+", "60s", "NA", "(-inf, 5.0]"])
    np.testing.assert_array_equal([15, 35, 90, 65, np.nan, 5], places(cells, "number"))
    days = places(pd.Series(["1970-01-01 to 1970-01-03", "[1970-01-01,1970-01-05]"]), "date")
    assert days is not None
    assert [86_400, 2 * 86_400] == days.tolist()


def test_published_dates_are_read_as_their_middles() -> None:
    cells = pd.Series(["[1970-01-01, 1970-01-03]", "1970-01-02", "1970-02"])
    result = places(cells, "date")
    assert result is not None
    assert [86400, 86400, 31 * 86400] == result.tolist()


ILLNESS = pd.Series(["Flu", "flu ", "cold", None, "cancer"], name="illness")


def test_each_critical_value_is_a_target_and_all_together() -> None:
    result = targets(ILLNESS, "category", ["cancer", "Flu"], 4)
    assert ("cancer", "Flu", ALL) == result.names
    assert [1, 1, 2, -1, 0] == result.classes.tolist()
    expected = [[True, False, False], [False, True, False], [True, True, False]]
    assert expected == result.members.tolist()


def test_all_together_is_no_target_when_everybody_is_critical() -> None:
    assert ("cancer", "cold", "flu") == targets(ILLNESS, "category", None, 4).names
    assert ("no",) == targets(pd.Series(["no", "yes"]), "category", None, 4).names


def test_a_sensitive_number_is_seen_in_ranges_without_their_bounds() -> None:
    result = targets(pd.Series([*range(40), None], dtype=float), "number", None, 4)
    assert tuple(f"range {index} of 4" for index in (1, 2, 3, 4)) == result.names
    assert [1, 10, 10, 10, 10] == np.bincount(result.classes + 1).tolist()


def test_critical_numbers_may_be_named() -> None:
    result = targets(pd.Series([1.0, 2.0, 3.0, None], name="stage"), "number", [3], 4)
    assert ("3",) == result.names
    assert [1, 1, 0, -1] == result.classes.tolist()


@pytest.mark.parametrize(
    ("cells", "critical", "said"),
    [
        (["a", "b"], ["c"], "'critical' must name values that occur in 's'. Got 'c' instead."),
        (["a", "a"], None, "'s' takes fewer than two values: there is nothing to infer"),
        (
            [str(index) for index in range(60)],
            None,
            "'s' has 60 critical values, more than 50: name those that matter with 'critical'",
        ),
    ],
)
def test_what_cannot_be_searched_for_is_said(
    cells: list[str], critical: list[str] | None, said: str
) -> None:
    with pytest.raises(NotAssessable) as caught:
        targets(pd.Series(cells, name="s"), "category", critical, 4)
    assert said == str(caught.value)
