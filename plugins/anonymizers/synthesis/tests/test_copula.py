"""What synthetic tables keep, what they do not, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom import Column, Release, Schema, StageContext, Table
from anonloom.errors import DataError, UsageError
from anonloom.hierarchies import Tree
from anonloom_synthesis.category_order import WELL_HELD, order_categories
from anonloom_synthesis.copula import Copula
from anonloom_synthesis.margins import margin_of

ROWS = 20_000


def shoppers(rows=ROWS):
    """A number, a lag and two categories that go with it; one column that goes with none."""
    rng = np.random.default_rng(1)
    normal = rng.standard_normal((4, rows))
    age = np.clip(np.round(42 + 15 * normal[0]), 18, 80)
    lag = np.exp(0.6 * normal[0] + 0.8 * normal[1]).round(2)
    # Neighbours in age are no neighbours in the alphabet.
    channel = np.array(["Search", "Email", "Video", "Display", "Social"])[
        np.digitize(0.7 * normal[0] + 0.7 * normal[2], [-0.8, -0.2, 0.3, 0.9])
    ]
    place = np.array(["shop", "web"])[(0.5 * normal[0] + normal[3] > 0.4).astype(int)]
    frame = pd.DataFrame({"age": age, "lag": lag, "channel": channel, "place": place})
    frame["day"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 365, rows), "D")
    types = {"age": "number", "lag": "number", "day": "date"}
    columns = [
        Column(
            name=name, role="quasi" if name == "age" else "other", type=types.get(name, "category")
        )
        for name in frame
    ]
    return Table.build(frame, Schema(columns))


@pytest.fixture(scope="module")
def table():
    return shoppers()


def associations(table):
    """Spearman's correlations of numbers, and mean ages of the categories around the mean."""
    frame = table.frame
    return {
        "age-lag": frame["age"].corr(frame["lag"], method="spearman"),
        **frame.groupby("channel")["age"].mean().to_dict(),
        **frame.groupby("place")["age"].mean().to_dict(),
    }


def test_distributions_and_dependence_stay(table):
    result = Copula().protect(table, StageContext())

    before, after = associations(table), associations(result)
    assert before.pop("age-lag") == pytest.approx(after.pop("age-lag"), abs=0.02)
    assert before == pytest.approx(after, abs=2.0)
    for name in ("channel", "place"):
        shares = [t.frame[name].value_counts(normalize=True).to_dict() for t in (table, result)]
        assert shares[0] == pytest.approx(shares[1], abs=0.015)
    for name in ("age", "lag"):
        quantiles = [t.frame[name].quantile([0.1, 0.5, 0.9]).tolist() for t in (table, result)]
        assert quantiles[0] == pytest.approx(quantiles[1], rel=0.05)


@pytest.mark.parametrize("rho", [0.95, 0.90, 0.85, 0.80, 0.75, 0.70, 0.60, 0.0])
def test_the_share_of_the_paper_is_what_remains(table, rho):
    """Equation 41: correlation retention rho; the normal variables are those of the columns."""
    runs = StageContext(), StageContext()
    whole = Copula().protect(table, runs[0])
    part = Copula(correlation=rho).protect(table, runs[1])

    matrices = [np.array(run.found[-1].data["z"]) for run in runs]
    off = ~np.eye(5, dtype=bool)
    assert np.allclose(rho * matrices[0][off], matrices[1][off], atol=0.001)
    assert associations(part)["age-lag"] == pytest.approx(
        rho * associations(whole)["age-lag"], abs=0.03
    )


def test_categories_in_a_fitted_order_keep_more(table):
    """By text the channels' order has little to do with age."""
    channels = ["Search", "Email", "Video", "Display", "Social"]
    before = associations(table)

    def off(order):
        after = associations(Copula(order=order).protect(table, StageContext()))
        return max(abs(before[channel] - after[channel]) for channel in channels)

    assert off("fitted") < 2.0
    assert off("declared") > 8.0


def test_the_fitted_order_is_that_in_which_columns_go_together(table):
    margins = [margin_of(table, name, 2) for name in table.schema.names]
    scores = np.stack([margin.codes.astype(float) for margin in margins], 1)

    result = order_categories(margins, scores)[2]

    order = [result.cells[row] for row in result.rows]
    assert order in (
        ["Search", "Email", "Video", "Display", "Social"],
        ["Social", "Display", "Video", "Email", "Search"],
    )
    # Every row still has its own level.
    assert [result.cells[row] for row in result.rows[result.codes]] == result.cells.tolist()


def test_two_categories_find_their_order_together():
    """Only the pairs are telling: neither order is known in advance."""
    rng = np.random.default_rng(2)
    index = rng.integers(0, 6, 6000)
    beside = np.clip(index + rng.integers(-1, 2, 6000), 0, 5)
    one, other = np.array(list("dafceb"))[index], np.array(list("zvywxu"))[beside]
    table = Table.build(
        pd.DataFrame({"one": one, "other": other}),
        Schema([Column(name=name, role="other") for name in ("one", "other")]),
    )
    margins = [margin_of(table, name, 2) for name in ("one", "other")]
    scores = np.stack([margin.codes.astype(float) for margin in margins], 1)

    orders = ["".join(m.cells[row] for row in m.rows) for m in order_categories(margins, scores)]

    assert ["dafceb", "zvywxu"] in (orders, [order[::-1] for order in orders])


def test_rare_categories_keep_the_order_of_their_text():
    """The mean of a few rows is chance; it must not make a correlation."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {"x": rng.standard_normal(2000), "town": [f"t{index % 100:02d}" for index in range(2000)]}
    )
    table = Table.build(
        frame,
        Schema([Column(name="x", role="other", type="number"), Column(name="town", role="other")]),
    )
    margins = [margin_of(table, name, 2) for name in ("x", "town")]

    result = order_categories(margins, np.stack([m.codes.astype(float) for m in margins], 1))

    assert 2000 / 100 < WELL_HELD
    assert margins[1].codes.tolist() == result[1].codes.tolist()


def test_the_declared_order_is_that_of_the_hierarchy():
    tree = Tree(tree={"cold": ["north", "peak"], "warm": ["beach", "south"]})
    column = Column(name="x", role="quasi", hierarchy=tree)
    cells = ["south", "beach", "peak", "north"]
    table = Table.build(pd.DataFrame({"x": cells}), Schema([column]))

    margin = margin_of(table, "x", 1)

    assert ["north", "peak", "beach", "south"] == [margin.cells[row] for row in margin.rows]


def test_gaps_are_as_frequent_and_go_with_the_same_columns():
    """Only the young leave out their income; incomes that are there still rise with age."""
    rng = np.random.default_rng(4)
    normal = rng.standard_normal((2, ROWS))
    age = np.round(45 + 12 * normal[0])
    income = 1000 * np.exp(0.5 * normal[0] + 0.5 * normal[1])
    income[(age < 35) & (rng.random(ROWS) < 0.7)] = np.nan
    frame = pd.DataFrame({"age": age, "income": income})
    columns = [Column(name=name, role="other", type="number") for name in frame]

    result = Copula().protect(Table.build(frame, Schema(columns)), StageContext()).frame

    assert frame["income"].isna().mean() == pytest.approx(result["income"].isna().mean(), abs=0.01)
    gaps = [f["age"][f["income"].isna()].mean() for f in (frame, result)]
    assert gaps[0] == pytest.approx(gaps[1], abs=4.0)
    there = [f.dropna().corr(method="spearman").iloc[0, 1] for f in (frame, result)]
    assert there[0] == pytest.approx(there[1], abs=0.08)


def test_rows_correspond_to_nobody():
    frame = pd.DataFrame(
        {
            "name": ["Ada", "Bob", "Cy", "Di"] * 5,
            "card": [f"c{index}" for index in range(20)],
            "who": [f"p{index}" for index in range(20)],
            "house": [f"h{index // 2}" for index in range(20)],
            "real": [f"r{index}" for index in range(20)],
            "age": range(20, 40),
            "illness": ["Flu", "gout"] * 10,
        }
    )
    columns = [
        Column(name="name", role="identifier"),
        Column(name="card", role="identifier", pseudonymize=True),
        Column(name="who", role="person"),
        Column(name="house", role="group"),
        Column(name="real", role="truth"),
        Column(name="age", role="quasi", type="number"),
        Column(name="illness", role="sensitive"),
    ]
    table = Table.build(frame, Schema(columns))

    result = Copula(rows=50).protect(table, StageContext())

    assert None is result.origin
    assert None is result.persons
    assert {} == result.pseudonym_keys
    assert ("age", "illness") == result.schema.names
    assert ["age", "illness"] == list(result.frame.columns)
    assert (50, {"Flu", "gout"}) == (len(result), set(result.column("illness")))
    release = Release.as_it_is(result)
    assert None is release.origin
    assert None is release.rows_in(table)


def test_incomplete_rows_are_not_learnt_from():
    frame = pd.DataFrame({"age": [1.0, 1.0, 2.0, 2.0, None, None], "town": list("aabbcc")})
    columns = [
        Column(name="age", role="quasi", type="number", missing="suppress"),
        Column(name="town", role="other"),
    ]
    context = StageContext()

    result = Copula().protect(Table.build(frame, Schema(columns)), context)

    assert 4 == len(result)
    assert {"a", "b"} >= set(result.column("town"))
    assert not result.incomplete.any()
    assert {"copies", "withheld_values", "left_out"} == {f.name for f in context.found[:3]}
    assert 2 == context.found[2].value


def test_many_rows_are_drawn_in_batches(table):
    reports = []
    context = StageContext(report=lambda done, total: reports.append((done, total)))

    result = Copula(rows=150_000).protect(table, context)

    assert 150_000 == len(result)
    assert [(65_536, 150_000), (131_072, 150_000), (150_000, 150_000)] == reports


def test_batches_of_a_categorical_column_are_put_together(table):
    typed = Table.build(table.frame.astype({"channel": "category"}), table.schema)

    result = Copula(rows=70_000).protect(typed, StageContext())

    assert set(table.column("channel")) == set(result.column("channel").cat.categories)


def test_another_seed_draws_other_rows(table):
    frames = [Copula(rows=100).protect(table, StageContext(seed=seed)).frame for seed in (1, 1, 2)]

    assert frames[0].equals(frames[1])
    assert not frames[0].equals(frames[2])


def test_a_thousand_categories_are_no_trouble():
    rng = np.random.default_rng(5)
    towns = np.char.add("t", np.minimum(rng.zipf(1.3, ROWS), 1000).astype(str))
    table = Table.build(
        pd.DataFrame({"town": towns, "age": rng.integers(18, 80, ROWS)}),
        Schema(
            [Column(name="town", role="quasi"), Column(name="age", role="quasi", type="number")]
        ),
    )

    result = Copula().protect(table, StageContext())

    before, after = (t.frame["town"].value_counts(normalize=True).head(5) for t in (table, result))
    assert before.to_dict() == pytest.approx(after.reindex(before.index).to_dict(), abs=0.015)


CELLS = {
    "whole": st.integers(-50, 50).map(float),
    "weight": st.floats(-1e300, 1e300, allow_nan=False),
    "town": st.sampled_from(["a", "b", "c"]),
    "flag": st.sampled_from(["f", "m"]),
    "born": st.integers(-9000, 9000).map(
        lambda day: pd.Timestamp("1990-01-01") + pd.Timedelta(days=day)
    ),
}
TYPES = {"whole": "number", "weight": "number", "born": "date"}


@st.composite
def tables(draw):
    """Draw mixed columns of all roles: ties, gaps, constant columns, all missing, one row."""
    names = draw(st.lists(st.sampled_from(sorted(CELLS)), min_size=1, max_size=5, unique=True))
    count = draw(st.integers(1, 25))
    frame, columns = {}, []
    for name in names:
        cells = CELLS[name]
        shape = draw(st.sampled_from(["plain", "gaps", "constant", "missing"]))
        if shape == "constant":
            cells = st.just(draw(cells))
        elif shape == "gaps":
            cells = st.one_of(cells, st.none())
        elif shape == "missing":
            cells = st.none()
        frame[name] = pd.Series(
            draw(st.lists(cells, min_size=count, max_size=count)),
            dtype="datetime64[s]" if name == "born" else float if name in TYPES else object,
        )
        role = draw(st.sampled_from(["quasi", "other", "sensitive", "label"]))
        columns.append(Column(name=name, role=role, type=TYPES.get(name, "category")))
    return Table.build(pd.DataFrame(frame), Schema(columns))


METHODS = st.builds(
    Copula,
    correlation=st.floats(0, 1),
    rows=st.one_of(st.none(), st.integers(1, 60)),
    shared=st.integers(1, 4),
    order=st.sampled_from(["fitted", "declared"]),
)


@given(table=tables(), method=METHODS, seed=st.integers(0, 9))
@settings(deadline=None, max_examples=200)
def test_every_table_gives_a_table_of_its_own_kind(table, method, seed):
    result = method.protect(table, StageContext(seed=seed))

    assert None is result.origin
    assert table.schema == result.schema
    assert (method.rows or len(table)) == len(result)
    for column in table.schema:
        before, after = table.column(column.name), result.column(column.name)
        old, new = before.dropna(), after.dropna()
        if not before.isna().any() and (len(old.unique()) > 1 or len(old) >= method.shared):
            rare = column.type == "category" and (old.value_counts() < method.shared).all()
            assert rare or not after.isna().any()
        if column.type == "category":
            counts = old.value_counts()
            assert set(new) <= set(counts[counts >= method.shared].index)
            continue
        if len(new):
            assert old.min() <= new.min()
            assert new.max() <= old.max()
        if column.name == "whole":
            assert (new == new.round()).all()
        elif column.type == "date":
            assert (new == new.dt.normalize()).all()


def test_a_column_without_values_to_draw_is_refused_where_it_must_have_some():
    column = Column(name="town", role="quasi", missing="refuse")
    table = Table.build(pd.DataFrame({"town": ["a", "b"]}), Schema([column]))

    with pytest.raises(DataError) as caught:
        Copula(shared=3).protect(table, StageContext())

    assert (
        "copula: column 'town': no value is held by 3 persons, so that none can be drawn, and "
        "'missing: refuse' allows no gaps" == str(caught.value).split("\n")[0]
    )
    assert "Drop the column, or lower 'shared'." == caught.value.hint


def test_nothing_can_be_learnt_from_suppressed_rows():
    column = Column(name="age", role="quasi", type="number", missing="suppress")
    table = Table.build(pd.DataFrame({"age": [None, None]}), Schema([column]))

    with pytest.raises(DataError) as caught:
        Copula().protect(table, StageContext())

    assert (
        "copula: every row is suppressed by a missing value ('missing: suppress'), so that there "
        "is nothing to learn from" == str(caught.value)
    )


def test_a_table_without_published_columns_is_refused():
    schema = Schema([Column(name="who", role="person")])
    table = Table.build(pd.DataFrame({"who": ["p", "q"]}), schema)

    expected = "no column has a role that a synthetic row can have (quasi, sensitive, label, other)"
    assert expected == Copula().problem(schema)
    with pytest.raises(UsageError) as caught:
        Copula().protect(table, StageContext())
    assert f"copula: {expected}" == str(caught.value)


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        (
            {"correlation": 1.2},
            "The 'correlation' parameter of Copula must be a number from 0 to 1. Got 1.2 instead.",
        ),
        (
            {"correlation": -0.1},
            "The 'correlation' parameter of Copula must be a number from 0 to 1. Got -0.1 instead.",
        ),
        (
            {"rows": 0},
            "The 'rows' parameter of Copula must be an integer of at least 1, or None. "
            "Got 0 instead.",
        ),
        (
            {"shared": 0},
            "The 'shared' parameter of Copula must be an integer of at least 1. Got 0 instead.",
        ),
        (
            {"order": "alphabet"},
            "The 'order' parameter of Copula must be one of 'fitted', 'declared'. "
            "Got 'alphabet' instead.",
        ),
    ],
)
def test_parameters_are_checked(params, expected):
    with pytest.raises(ValueError) as caught:  # noqa: PT011  # the whole text is compared
        Copula(**params)

    assert expected == str(caught.value)
