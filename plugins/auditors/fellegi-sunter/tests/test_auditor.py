"""What the auditor says of releases whose answer is known, and of those without one."""

import math

import attrs
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom import AuditInput, Column, Release, Schema, StageContext, Table
from anonloom.errors import DataError
from anonloom.hierarchies import Tree
from anonloom.params import InvalidValue, build
from anonloom_fellegi_sunter import patterns
from anonloom_fellegi_sunter.agreement import MOST_PATTERNS
from anonloom_fellegi_sunter.auditor import FellegiSunter
from anonloom_fellegi_sunter.figures import NAMES
from anonloom_testing import tables
from anonloom_testing.auditor import in_classes, publish_suppressed
from anonloom_testing.random_tables import mixed_table

RATES = NAMES[:6]


def table_of(columns, **types):
    """Return a table of quasi-identifiers; those named in types are no categories."""
    schema = [Column(name=n, role="quasi", type=types.get(n, "category")) for n in columns]
    return Table.build(pd.DataFrame(columns), Schema(schema))


def people(rows=200, seed=0):
    """Return people who differ in one column at least."""
    rng = np.random.default_rng(seed)
    return table_of(
        {
            "code": [f"c{index % 40}" for index in range(rows)],
            "age": (20 + np.arange(rows) // 40).astype(float),
            "town": rng.choice(list("abcdefgh"), rows),
            "work": rng.choice(list("uvwxyz"), rows),
        },
        age="number",
    )


def of_values(table, release_columns):
    """Return a release with the table's schema and these columns."""
    return Release(schema=table.schema, frame=pd.DataFrame(release_columns))


def audited(release, table, truth=None, run=None, **parameters):
    result = FellegiSunter(**parameters).audit(
        AuditInput(release, table, truth=truth), run or StageContext(seed=1)
    )
    for finding in result:
        if isinstance(finding.value, float):
            assert math.isfinite(finding.value)
        if finding.interval is not None:
            assert all(math.isfinite(end) for end in finding.interval)
    return result


def values(found, *names):
    return [found[name].value for name in names]


# --- known answers -------------------------------------------------------------------------------


@pytest.mark.parametrize("blocking", [None, (), ("town",), {"age": 2, "town": "exact"}])
def test_a_table_published_as_it_is_links_everybody(blocking):
    table = people()
    release = Release.as_it_is(table)

    result = audited(release, table, release.rows_in(table), blocking=blocking, share_of_sd=0.0)

    assert ["sound", 1.0, 1.0, 1.0, 1.0] == values(
        result, "model", "linkage_rate", "linkage_rate_posterior", "precision_at_1", "block_recall"
    )
    assert 0.0 == result["linkage_null_posterior"].value
    assert "measured" == result["linkage_excess_posterior"].status
    assert "measured" == result["precision_at_1"].status


def test_the_most_exposed_are_private_rows_of_the_original():
    table = people(60)
    release = Release.as_it_is(table).take(np.arange(60)[::-1])

    result = audited(release, table, release.rows_in(table), blocking=(), share_of_sd=0.0)

    exposed = next(rows for rows in result.private if rows.name == "most_exposed")
    assert list(range(60)) == sorted(exposed.rows.tolist())
    assert [1.0] * 60 == exposed.scores.tolist()


def test_ties_share_the_chance_to_be_right():
    """Four rows of everything: whoever is linked is right once in four times."""
    once = people(80)
    table = once.take(np.repeat(np.arange(80), 4))
    table = attrs.evolve(table, origin=np.arange(320))
    release = Release.as_it_is(table)

    result = audited(release, table, np.arange(320), blocking=(), share_of_sd=0.0)

    assert 0.25 == result["precision_at_1"].value
    assert () == result.private


def test_another_draw_of_the_same_population_is_not_blamed():
    table, others = people(300, seed=1), people(300, seed=2)
    release = attrs.evolve(Release.as_it_is(others), origin=None)

    # The codes are the same in both draws by construction: they are left out.
    result = audited(release, table, np.full(300, -1), columns=("town", "work", "age"))

    assert abs(result["linkage_excess"].value) < 0.05
    assert abs(result["linkage_excess_posterior"].value) < 0.05
    assert (None, "none detected") == (
        result["precision_at_1"].value,
        result["precision_at_1"].status,
    )


def test_a_sample_is_judged_by_a_null_of_its_size():
    table = people(200)
    release = Release.as_it_is(table).take(np.arange(20))

    result = audited(release, table, np.arange(20), blocking=(), share_of_sd=0.0)

    assert 20.0 == result["candidates"].value
    assert 1.0 == result["precision_at_1"].value
    assert 0.1 == pytest.approx(result["linkage_rate_posterior"].value, abs=0.02)


def test_a_generalized_cell_agrees_with_all_that_it_covers():
    tree = Tree(tree={"n": ["n1", "n2"], "s": ["s1", "s2"]})
    regions = ["n1", "n2", "s1", "s2"] * 10
    schema = Schema(
        [
            Column(name="region", role="quasi", hierarchy=tree),
            Column(name="age", role="quasi", type="number"),
            Column(name="pet", role="quasi", publish="set"),
        ]
    )
    frame = pd.DataFrame(
        {"region": regions, "age": np.arange(40.0), "pet": ["cat", "dog", "eel", "fox"] * 10}
    )
    table = Table.build(frame, schema)
    release = of_values(
        table,
        {"region": ["n", "s1", "*"], "age": ["[10, 19]", "12", "5"], "pet": ['{"cat", "eel"}'] * 3},
    )
    seen = {}

    def count(comparison, sheet, blocks, workers, done):
        seen["found"] = real(comparison, sheet, blocks, workers, done)
        seen["masks"] = comparison.masks
        return seen["found"]

    real = patterns.count_patterns
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("anonloom_fellegi_sunter.linking.count_patterns", count)
        audited(release, table, blocking=(), tolerance={"age": 1.0})

    covered = {
        ("n", "[10, 19]"): lambda r, a: (r[0] == "n", 10 <= a <= 19),
        ("s1", "12"): lambda r, a: (r == "s1", 11 <= a <= 13),
        ("*", "5"): lambda r, a: (False, 4 <= a <= 6),
    }
    expected = np.zeros(16, np.int64)
    for index, agrees in enumerate(covered.values()):
        for region, age, pet in frame.itertuples(index=False):
            bits = (*agrees(region, age), pet in ("cat", "eel"))
            expected[8 * (index == 2) + sum(1 << k for k in range(3) if bits[k])] += 1
    assert [0, 1] == seen["masks"].tolist()
    assert expected.tolist() == seen["found"].tolist()


def test_coarse_cells_make_the_excess_a_bound():
    table = tables.clinic().table()

    result = audited(in_classes(table), table, np.arange(90))

    assert "bound" == result["linkage_excess"].status
    assert any(
        "cover several values" in assumption for assumption in result["linkage_excess"].assumptions
    )


def test_records_of_one_person_are_no_strangers():
    """Everybody has two equal records: with them the null would link everybody."""
    once = tables.unique_people(60)
    rows = [row | {"person": f"p{index}"} for index, row in enumerate(once.rows)]
    schema = Schema((*once.schema.columns, Column(name="person", role="person")))
    sample = tables.Sample([*rows, *rows], schema)
    table = sample.table()

    result = audited(Release.as_it_is(table), table, columns=("age", "sex", "outcome", "note"))

    assert 0.0 == result["linkage_null_posterior"].value
    assert 1.0 == result["linkage_rate_posterior"].value


# --- nothing to judge by -------------------------------------------------------------------------


def without_values(found):
    return [(found[name].value, found[name].status) for name in NAMES]


NO_ANSWER = [(None, "not assessable")] * len(NAMES)


def test_an_empty_release_cannot_be_judged():
    table = people()
    release = Release.as_it_is(table).take(np.arange(0))

    result = audited(release, table, np.empty(0, np.int64))

    assert NO_ANSWER == without_values(result)
    assert ["degenerate", 1.0, 0] == values(result, "model", "without_candidates", "comparisons")


def test_disjoint_numbers_are_in_no_block():
    table = people()
    release = of_values(table, {name: table.frame[name] for name in table.schema.names})
    release.frame["age"] += 1e6

    result = audited(release, table, np.arange(200), blocking={"age": 10})

    assert NO_ANSWER == without_values(result)
    assert [1.0] == values(result, "without_candidates")


def test_disjoint_categories_say_nothing():
    table = table_of({"town": list("abcd") * 10, "work": list("xyzyx") * 8})
    release = of_values(table, {"town": list("efgh") * 10, "work": list("uvwvu") * 8})

    result = audited(release, table)

    assert NO_ANSWER == without_values(result)
    assert (
        "column 'town' is open in every row of the release",
        "column 'work' is open in every row of the release",
        "column 'town': 40 cells could not be read and say nothing",
        "column 'work': 40 cells could not be read and say nothing",
    ) == result["left_out"].assumptions


def test_records_without_candidates_are_not_safe():
    table = people()
    kept = np.flatnonzero(table.frame["town"].to_numpy() != "a")
    release = Release.as_it_is(table).take(kept)

    result = audited(release, table, release.rows_in(table), blocking={"town": "exact"})

    missing = 1 - len(kept) / 200
    assert 0.05 < missing == pytest.approx(result["without_candidates"].value)
    assert {"not assessable"} == {result[name].status for name in (*RATES, "precision_at_1")}
    assert (
        f"{missing:.1%} of the records have no candidate: what is not compared is not safe"
        == result["linkage_rate"].assumptions[0]
    )


@pytest.mark.parametrize("publish", [Release.as_it_is, in_classes, publish_suppressed])
def test_constant_and_missing_columns_are_left_out(publish):
    table = table_of(
        {
            "one": ["x"] * 40,
            "none": pd.Series([None] * 40, dtype=object),
            "nan": [np.nan] * 40,
            "code": [f"c{index}" for index in range(40)],
        },
        nan="number",
    )
    release = publish(table)

    result = audited(release, table, release.rows_in(table), blocking=())

    assert "degenerate" == result["model"].value
    assert result["left_out"].value >= 3
    assert {"not assessable"} == {result[name].status for name in RATES}


def test_a_suppressed_column_is_left_out_and_the_others_link():
    table = people()
    release = Release.as_it_is(table)
    release.frame["town"] = "*"

    result = audited(release, table, release.rows_in(table), share_of_sd=0.0)

    assert ("column 'town' is open in every row of the release",) == result["left_out"].assumptions
    assert 1.0 == result["precision_at_1"].value


def test_blocks_of_one_record_leave_nothing_to_choose():
    table = table_of({"code": [f"c{index}" for index in range(50)], "town": list("abcde") * 10})
    release = Release.as_it_is(table)

    result = audited(release, table, release.rows_in(table), blocking=("code",))

    assert [1.0, 50, "degenerate"] == values(result, "precision_at_1", "comparisons", "model")
    assert "bound" == result["precision_at_1"].status
    assert "not assessable" == result["linkage_rate"].status


def test_without_truth_precision_is_not_assessable():
    table = people()

    result = audited(Release.as_it_is(table), table)

    for name in ("precision_at_1", "block_recall"):
        assert (None, "not assessable") == (result[name].value, result[name].status)
        assert "nobody knows which row belongs to which record" == result[name].assumptions[0]


# --- every table ---------------------------------------------------------------------------------


@given(
    rows=st.integers(1, 40),
    columns=st.sampled_from([1, 2, 4, 24]),
    missing=st.booleans(),
    constant=st.booleans(),
    publish=st.sampled_from([Release.as_it_is, in_classes, publish_suppressed]),
    blocking=st.sampled_from([None, (), ("q0",), {"q0": 3}]),
    seed=st.integers(0, 5),
)
@settings(max_examples=60)
def test_figures_are_shares_or_say_why_not(
    rows, columns, missing, constant, publish, blocking, seed
):
    table = mixed_table(rows, columns, seed, missing, constant)
    release = publish(table)

    result = audited(release, table, release.rows_in(table), blocking=blocking)

    for name in NAMES:
        value = result[name].value
        if value is None:
            assert "not assessable" == result[name].status
        else:
            assert (-1 if "excess" in name else 0) <= value <= 1
    for suffix in ("", "_posterior"):
        rate, null, excess = values(
            result, *(f"linkage_{item}{suffix}" for item in ("rate", "null", "excess"))
        )
        assert (rate is None) == (excess is None)
        assert rate is None or rate - null == pytest.approx(excess)
    recall, precision = values(result, "block_recall", "precision_at_1")
    assert precision is None or precision <= recall + 1e-12


def test_neither_threads_nor_tiles_nor_pieces_change_anything(monkeypatch):
    sample = tables.clinic(300)
    table = sample.table()
    release = in_classes(table, 3)

    def everything(workers):
        result = audited(release, table, np.arange(300), StageContext(seed=1, workers=workers))
        return [(item.name, item.value, item.interval) for item in result]

    expected = everything(1)
    assert expected == everything(3)
    monkeypatch.setattr(patterns, "PIECE", 700)
    assert expected == everything(1)
    assert expected == everything(3)


def test_blocks_larger_than_a_tile():
    rows = 2 * patterns.TILE + 7
    table = people(rows)
    release = Release.as_it_is(table)
    order = np.random.default_rng(3).permutation(rows)

    result = audited(release.take(order), table, order, blocking=(), share_of_sd=0.0)

    assert [rows * rows, 1.0] == values(result, "comparisons", "precision_at_1")


def test_the_order_of_rows_does_not_matter():
    table = people()
    release = Release.as_it_is(table)
    order = np.random.default_rng(5).permutation(200)

    first = audited(release, table, np.arange(200))
    other = audited(release.take(order), table, order)

    assert values(first, *NAMES) == values(other, *NAMES)


def test_names_may_have_spaces_quotes_and_braces():
    names = {"code": "c\"o'de", "age": "a {g} e", "town": "to,wn", "work": "*"}
    table = people()
    frame = table.frame.rename(columns=names)
    schema = Schema([attrs.evolve(c, name=names[c.name]) for c in table.schema])
    renamed = Table.build(frame, schema)

    first = audited(Release.as_it_is(table), table, np.arange(200))
    other = audited(Release.as_it_is(renamed), renamed, np.arange(200))

    assert values(first, *NAMES) == values(other, *NAMES)


def test_of_too_many_columns_those_are_compared_that_agree_least_by_chance():
    rng = np.random.default_rng(0)
    columns = {f"q{index}": rng.integers(0, 2 + index, 60).astype(str) for index in range(26)}
    table = table_of(columns)

    def chance(name):
        return sum(np.mean(columns[name] == value) ** 2 for value in set(columns[name]))

    result = audited(Release.as_it_is(table), table, np.arange(60), blocking=())

    most = sorted(columns, key=chance)[20:]
    assert {
        f"column '{name}' agrees by chance more often than the 20 that are compared"
        for name in most
    } == set(result["left_out"].assumptions)
    assert 1.0 == result["precision_at_1"].value


def test_of_columns_left_open_in_all_ways_as_many_are_compared_as_can_be_counted():
    rng = np.random.default_rng(0)
    table = table_of({f"q{index}": rng.integers(0, 9, 400).astype(str) for index in range(20)})
    release = Release.as_it_is(table)
    for name in table.schema.names:
        release.frame[name] = release.frame[name].astype(object)
        release.frame.loc[rng.random(400) < 0.5, name] = "*"

    result = audited(release, table, np.arange(400), blocking=())

    compared = 20 - result["left_out"].value
    assert 10 < compared < 20
    assert 300 << compared <= MOST_PATTERNS
    assert result["precision_at_1"].value > 0.9


# --- parameters ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"tolerance": {"age": -1}},
            "the tolerance of 'age' must be a number of at least 0. Got -1.0 instead.",
        ),
        (
            {"blocking": {"age": 0}},
            "the blocking of 'age' must be a number above 0, 'exact' or 'auto'. Got 0.0 instead.",
        ),
        (
            {"columns": [f"q{index}" for index in range(21)]},
            "at most 20 columns can be compared, as their patterns are counted. Got 21.",
        ),
    ],
)
def test_parameters_that_no_column_can_mean_are_refused(parameters, message):
    with pytest.raises(InvalidValue) as refused:
        build(FellegiSunter, parameters)

    assert message == str(refused.value)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"blocking": ("income",)},
            "column 'income' is not declared; published are: 'code', 'age', 'town', 'work'",
        ),
        (
            {"columns": ("income",)},
            "column 'income' is not declared; published are: 'code', 'age', 'town', 'work'",
        ),
        ({"tolerance": {"town": 1.0}}, "column 'town' is a category: there is no tolerance"),
        ({"tolerance": {"age": 1.0}, "blocking": {"age": "auto"}}, None),
    ],
)
def test_columns_that_do_not_suit_are_named_before_any_data_are_read(parameters, message):
    assert message == FellegiSunter(**parameters).problem(people().schema)


def test_a_key_that_the_release_lacks_is_an_error():
    table = people()
    release = Release.as_it_is(table)
    release = attrs.evolve(release, frame=release.frame.drop(columns="town"))

    with pytest.raises(DataError) as refused:
        audited(release, table, blocking=("town",))

    message = "column 'town' is not in the release: records cannot be blocked by it"
    assert message == str(refused.value)


def test_a_column_that_the_release_lacks_is_left_out():
    table = people()
    release = Release.as_it_is(table)
    release = attrs.evolve(release, frame=release.frame.drop(columns="town"))

    result = audited(release, table, blocking=("code",), columns=("town", "work", "age", "code"))

    assert "column 'town' is not in the release" in result["left_out"].assumptions


def test_the_comparisons_are_announced_and_counted_to_the_end():
    reports, notes = [], []
    context = StageContext(
        report=lambda done, total: reports.append((done, total)), say=notes.append
    )
    table = people()

    audited(Release.as_it_is(table), table, run=context, blocking=())

    assert "40,000 pairs of a record and a published row: none: all pairs are compared" in notes
    assert (160_000, 160_000) == reports[-1]


def test_charts_hold_what_every_column_weighs():
    table = people()

    result = audited(Release.as_it_is(table), table, blocking=(), share_of_sd=0.0)

    agreement, weights, curve = result.charts
    names = ["code", "age", "town", "work"]
    assert names == agreement.data["labels"] == weights.data["labels"]
    m, u = agreement.data["matching pairs (m)"], agreement.data["other pairs (u)"]
    assert np.log2(np.array(m) / u).tolist() == weights.data["agrees"]
    assert all(weight > 0 for weight in weights.data["agrees"])
    assert all(weight < 0 for weight in weights.data["disagrees"])
    assert {"release", "null"} == set(curve.data)
    assert 1.0 == curve.data["release"]["y"][0]
