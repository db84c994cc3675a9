"""How much is perturbed, what is left alone, and what is refused."""

import numpy as np
import pandas as pd
import pytest

from anonloom import Column, Schema, StageContext, Table
from anonloom.errors import UsageError
from anonloom.hierarchies import Tree, Widths
from anonloom_columns import OrderedColumn
from anonloom_perturbation.noise import add_noise, usual_noise
from anonloom_perturbation.perturb import Perturb
from anonloom_perturbation.swaps import donors

ROWS = 20_000


def number(values, **more):
    column = Column(name="x", role="other", type="number", **more)
    return OrderedColumn.of(pd.Series(values, dtype=float), column)


def one_column(values, **more):
    column = Column(name="x", **({"role": "quasi", "type": "number"} | more))
    return Table.build(pd.DataFrame({"x": values}), Schema([column]))


@pytest.fixture
def table():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "id": [f"n{index}" for index in range(ROWS)],
            "age": rng.integers(18, 81, ROWS),
            "sex": rng.choice(["f", "m"], ROWS),
            "lag": rng.exponential(5.0, ROWS),
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 999, ROWS), "D"),
            "town": [f"t{index % 500}" for index in range(ROWS)],
            "illness": rng.choice(["flu", "gout"], ROWS),
            "outcome": rng.choice(["well", "ill"], ROWS),
            "who": [f"p{index // 2}" for index in range(ROWS)],
        }
    )
    columns = [
        Column(name="id", role="identifier", pseudonymize=True),
        Column(name="age", role="quasi", type="number"),
        Column(name="sex", role="quasi"),
        Column(name="lag", role="other", type="number"),
        Column(name="day", role="other", type="date"),
        Column(name="town", role="other"),
        Column(name="illness", role="sensitive"),
        Column(name="outcome", role="label"),
        Column(name="who", role="person"),
    ]
    return Table.build(frame, Schema(columns))


def moved(table, found, name):
    before, after = table.column(name), found.column(name)
    if before.dtype.kind == "M":
        return ((after - before) / pd.Timedelta(days=1)).to_numpy()
    return (after - before).to_numpy(float)


def share_changed(table, found, name):
    return float((table.column(name) != found.column(name)).mean())


@pytest.mark.parametrize(
    ("level", "number_share", "days", "swaps"),
    [("low", 1 / 15, 1, 0.02), ("medium", 1 / 5, 3, 0.05), ("high", 1 / 3, 7, 0.10)],
)
def test_a_level_says_how_much(table, level, number_share, days, swaps):
    """Without clipping; rounding to whole days adds a twelfth to the variance."""
    result = Perturb(level=level, clip=False).protect(table, StageContext())

    assert np.std(moved(table, result, "lag")) == pytest.approx(
        number_share * table.column("lag").std(), rel=0.03
    )
    assert np.std(moved(table, result, "day")) == pytest.approx(np.sqrt(days**2 + 1 / 12), rel=0.03)
    # Of 500 towns nearly every swap is seen; chosen are exactly the share.
    assert share_changed(table, result, "town") == pytest.approx(swaps, rel=0.01)


def test_named_columns_have_their_own_amounts(table):
    """Lag has the paper's noise of half a day; nobody is told of the level here."""
    method = Perturb(level=None, noise={"age": 3, "lag": 0.5}, swap={"town": 0.3}, clip=False)

    result = method.protect(table, StageContext())

    assert np.std(moved(table, result, "age")) == pytest.approx(3, rel=0.03)
    assert np.std(moved(table, result, "lag")) == pytest.approx(0.5, rel=0.03)
    assert share_changed(table, result, "town") == pytest.approx(0.3, rel=0.01)
    for name in ("id", "sex", "day", "illness", "outcome", "who"):
        assert table.column(name).equals(result.column(name))


def test_only_quasi_and_other_are_perturbed_unless_named(table):
    result = Perturb().protect(table, StageContext())

    untouched = [n for n in table.frame.columns if table.column(n).equals(result.column(n))]
    assert ["id", "illness", "outcome", "who"] == untouched


def test_columns_say_which_are_perturbed(table):
    result = Perturb(columns=("sex", "illness"), noise={"lag": 1}).protect(table, StageContext())

    changed = [n for n in table.frame.columns if not table.column(n).equals(result.column(n))]
    assert ["sex", "lag", "illness"] == changed


def test_one_share_swaps_every_category(table):
    result = Perturb(level=None, swap=0.5).protect(table, StageContext())

    assert share_changed(table, result, "town") == pytest.approx(0.5, rel=0.01)
    # Two sexes: half of the swapped have the same as before.
    assert share_changed(table, result, "sex") == pytest.approx(0.25, rel=0.05)


def test_the_whole_share_is_swapped_in_one_circle():
    source = donors(np.ones(50, bool), 1.0, "permute", np.random.default_rng(0))

    assert list(range(50)) == sorted(source.tolist())
    assert all(index != taken for index, taken in enumerate(source))


@pytest.mark.parametrize(("rows", "share"), [(2, 0.01), (10, 0.1), (40, 0.02)])
def test_a_share_of_less_than_two_rows_swaps_two(rows, share):
    """One alone has nobody to swap with: it would keep its value."""
    for seed in range(5):
        source = donors(np.ones(rows, bool), share, "permute", np.random.default_rng(seed))

        first, second = np.flatnonzero(source != np.arange(rows))
        assert [second, first] == source[[first, second]].tolist()


def test_swapping_agrees_with_a_slow_transcript():
    """The same draws, row by row on plain lists."""
    present = [True, False, True, True, False, True, True, True]
    for how in ("permute", "redraw"):
        rng = np.random.default_rng(3)
        rows = [index for index, there in enumerate(present) if there]
        chosen = rng.choice(rows, 3, replace=False).tolist()
        if how == "permute":
            givers = [chosen[index - 1] for index in range(3)]
        else:
            givers = rng.choice(rows, 3).tolist()
        expected = list(range(8))
        for taker, giver in zip(chosen, givers, strict=True):
            expected[taker] = giver

        result = donors(np.array(present), 0.5, how, np.random.default_rng(3))

        assert expected == result.tolist()


def test_redrawn_values_follow_their_frequencies():
    towns = ["a"] * 9000 + ["b"] * 1000

    method = Perturb(swap=1.0, swapping="redraw")
    result = method.protect(one_column(towns, type="category"), StageContext()).column("x")

    assert (result == "b").mean() == pytest.approx(0.1, abs=0.02)
    assert (result[:9000] == "b").mean() == pytest.approx(0.1, abs=0.02)


def test_jitter_agrees_with_a_slow_transcript():
    line = number([1.5, np.nan, 3.25, 10.0])
    draws = np.random.default_rng(5).standard_normal(4)

    result = add_noise(line, 4.0, True, np.random.default_rng(5))

    expected = [
        None if cell is None else min(max(round(cell + 4.0 * draw, 2), 1.5), 10.0)
        for cell, draw in zip([1.5, None, 3.25, 10.0], draws, strict=True)
    ]
    assert expected == [None if np.isnan(place) else place for place in result]


def test_a_missing_cell_shifts_nobody_elses_noise():
    whole = add_noise(number([1.25, 2.0, 3.5]), 1.0, False, np.random.default_rng(5))
    gap = add_noise(number([1.25, np.nan, 3.5]), 1.0, False, np.random.default_rng(5))

    assert [whole[0], whole[2]] == [gap[0], gap[2]]


@pytest.mark.parametrize(("level", "seconds"), [("low", 3600), ("medium", 86400), ("high", 604800)])
def test_times_have_the_noise_of_the_paper(level, seconds):
    """Appendix C: noise_levels, time."""
    column = Column(name="x", role="other", type="time")
    table = Table.build(
        pd.DataFrame({"x": pd.Series(["2020-05-05T10:11:12"] * ROWS, dtype="datetime64[s]")}),
        Schema([column]),
    )

    result = Perturb(level=level, clip=False).protect(table, StageContext())

    after = (result.column("x") - table.column("x")).dt.total_seconds()
    assert np.std(after) == pytest.approx(seconds, rel=0.03)


def test_the_noise_on_a_number_is_in_the_ratio_of_the_papers_age():
    """Appendix C: ages deviate by 15 years; their noise is 1, 3 and 5."""
    ages = number([42 - 15, 42 + 15])

    expected = [1, 3, 5]
    assert expected == pytest.approx([usual_noise(ages, lv) for lv in ("low", "medium", "high")])


@pytest.mark.parametrize("clip", [True, False])
def test_very_large_numbers_and_noise_stay_numbers(clip):
    table = one_column([-1e300, 1e300, 0.5, 1e-300])

    for noise in (1e300, 1.7e308):
        result = Perturb(noise={"x": noise}, clip=clip).protect(table, StageContext()).column("x")
        assert (result.abs() <= 1e300).all()


def test_dates_stay_within_the_years_that_can_be_written():
    table = one_column(["0001-01-01", "9999-12-31"] * 20, type="date")

    result = Perturb(noise={"x": 1e9}, clip=False).protect(table, StageContext()).column("x")

    assert {"0001-01-01", "9999-12-31"} == {str(day.date()) for day in result}


def test_clipping_is_optional():
    table = one_column([0.0, 1.0] * 50)

    inside = Perturb(noise={"x": 5}).protect(table, StageContext()).column("x")
    outside = Perturb(noise={"x": 5}, clip=False).protect(table, StageContext()).column("x")

    assert (0.0, 1.0) == (inside.min(), inside.max())
    assert outside.min() < 0.0 < 1.0 < outside.max()


def test_values_that_the_hierarchy_lacks_become_the_nearest_that_the_column_has():
    """A file lists single ages; noise makes others."""
    tree = Tree(tree={"young": ["10", "21", "30"], "old": ["60", "70"]})
    table = one_column([10, 21, 30, 60, 70] * 9, hierarchy=tree, publish="nodes")

    result = Perturb(noise={"x": 4}).protect(table, StageContext())

    assert {10.0, 21.0, 30.0, 60.0, 70.0} == set(result.column("x"))
    assert not table.column("x").equals(result.column("x"))


def test_a_hierarchy_that_covers_every_number_changes_nothing():
    table = one_column([10, 21, 30] * 9)
    binned = one_column([10, 21, 30] * 9, hierarchy=Widths(widths=(10,)), publish="nodes")

    plain, bins = (Perturb(noise={"x": 4}).protect(t, StageContext()) for t in (table, binned))

    assert plain.column("x").tolist() == bins.column("x").tolist()
    assert bins.axes[0].value_count == len(set(bins.column("x")))


def test_rows_that_are_suppressed_stay_so():
    table = one_column([1.0, None, 3.0, None], missing="suppress")

    result = Perturb().protect(table, StageContext())

    assert [False, True, False, True] == result.incomplete.tolist()


def test_says_how_many_cells_differ(table):
    context = StageContext()

    result = Perturb(columns=("town", "lag")).protect(table, context)

    changed, chart = context.found
    shares = [share_changed(table, result, name) for name in ("lag", "town")]
    assert ("changed", pytest.approx(np.mean(shares))) == (changed.name, changed.value)
    assert {"labels": ["lag", "town"], "share": pytest.approx(shares)} == chart.data


def test_persons_and_pseudonyms_pass_through(table):
    result = (
        Perturb()
        .protect(table.restricted_to(frozenset({"quasi", "other"})), StageContext())
        .with_all_columns()
    )

    assert table.persons.tolist() == result.persons.tolist()
    assert table.pseudonym_keys == result.pseudonym_keys


PUBLISHED = "published are: 'id', 'age', 'sex', 'lag', 'day', 'town', 'illness', 'outcome'"


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({"columns": ["zip"]}, f"column 'zip' is not declared; {PUBLISHED}"),
        ({"noise": {"aeg": 1}}, f"column 'aeg' is not declared; {PUBLISHED}"),
        ({"swap": {"zip": 0.1}}, f"column 'zip' is not declared; {PUBLISHED}"),
        (
            {"columns": ["who"]},
            f"column 'who' has role 'person' and is not published; {PUBLISHED}",
        ),
        ({"columns": ["id"]}, "column 'id' is a pseudonym, which has nothing to perturb"),
        (
            {"noise": {"sex": 1}},
            "'noise' names column 'sex', which is a category; 'swap' is for these",
        ),
        (
            {"swap": {"age": 0.1}},
            "'swap' names column 'age', which is a number; 'noise' is for these",
        ),
        (
            {"swap": {"day": 0.1}},
            "'swap' names column 'day', which is a date; 'noise' is for these",
        ),
    ],
)
def test_columns_that_do_not_suit_are_named(table, params, expected):
    method = Perturb(**params)

    assert expected == method.problem(table.schema)
    with pytest.raises(UsageError) as caught:
        method.protect(table, StageContext())
    assert f"perturb: {expected}" == str(caught.value)


def test_a_table_without_anything_to_perturb_is_refused():
    schema = Schema([Column(name="illness", role="sensitive")])

    expected = "no column has role 'quasi' or 'other': name those to be perturbed in 'columns'"
    assert expected == Perturb().problem(schema)
    assert None is Perturb(columns=("illness",)).problem(schema)


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        (
            {"level": "extreme"},
            "The 'level' parameter of Perturb must be one of 'low', 'medium', 'high' or None. "
            "Got 'extreme' instead.",
        ),
        (
            {"noise": {"age": -1}},
            "The 'noise' parameter of Perturb must be a mapping of names to numbers, each of at "
            "least 0. Got {'age': -1} instead.",
        ),
        (
            {"noise": 3},
            "The 'noise' parameter of Perturb must be a mapping of names to numbers, each of at "
            "least 0. Got 3 instead.",
        ),
        (
            {"swap": 1.5},
            "The 'swap' parameter of Perturb must be a number or a mapping of names to numbers, "
            "each from 0 to 1, or None. Got 1.5 instead.",
        ),
        (
            {"swap": {"sex": -0.1}},
            "The 'swap' parameter of Perturb must be a number or a mapping of names to numbers, "
            "each from 0 to 1, or None. Got {'sex': -0.1} instead.",
        ),
        (
            {"swapping": "shuffle"},
            "The 'swapping' parameter of Perturb must be one of 'permute', 'redraw'. "
            "Got 'shuffle' instead.",
        ),
        (
            {"columns": []},
            "The 'columns' parameter of Perturb must be a list of texts that is not empty and "
            "without repetitions, or None. Got [] instead.",
        ),
        (
            {"columns": ["age", "age"]},
            "The 'columns' parameter of Perturb must be a list of texts that is not empty and "
            "without repetitions, or None. Got ['age', 'age'] instead.",
        ),
        (
            {"clip": "yes"},
            "The 'clip' parameter of Perturb must be true or false. Got 'yes' instead.",
        ),
        ({"level": None}, "nothing would be perturbed: give 'level', 'noise' or 'swap'"),
        (
            {"level": None, "swap": 0},
            "nothing would be perturbed: give 'level', 'noise' or 'swap'",
        ),
    ],
)
def test_parameters_are_checked(params, expected):
    with pytest.raises(ValueError) as caught:  # noqa: PT011  # the whole text is compared
        Perturb(**params)

    assert expected == str(caught.value)
