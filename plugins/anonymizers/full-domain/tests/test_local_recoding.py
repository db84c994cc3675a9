"""Local recoding on tables small enough to see the result, and on wide ones."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom import Classes, Column, Findings, Guard, Schema, StageContext, Table
from anonloom.hierarchies import Tree
from anonloom_full_domain.full_domain import FullDomain
from anonloom_full_domain.local_recoding import LocalRecoding
from anonloom_loss import gcp
from anonloom_testing.privacy_cases import AtLeast
from anonloom_testing.strategies import demands, samples

TOWNS = {"north": ["a", "b"], "south": ["d", "e"]}


def towns(text):
    schema = Schema([Column(name="town", role="quasi", hierarchy=Tree(tree=TOWNS))])
    return Table.build(pd.DataFrame({"town": list(text)}), schema)


def members(classes):
    return [classes.members(index).tolist() for index in range(len(classes))]


def test_what_is_admitted_on_a_low_level_leaves_the_rest_to_higher_ones():
    """Three rows of a are published as a; one of b is left, which d and e do not need either."""
    table = towns("aaabdde")

    result = LocalRecoding(rest="suppress").partition(
        table, table.whole(), Guard([AtLeast(k=3)]), StageContext()
    )

    assert [[0, 1, 2], [4, 5, 6]] == members(result)
    assert [3] == result.suppressed.tolist()
    assert [[0], [1]] == result.regions.level.tolist()
    assert not result.global_recoding


def test_the_rest_goes_where_the_loss_rises_least():
    """Beside a, the row of b makes `north` of three rows; beside d and e, `*` of three."""
    table = towns("aaabdde")
    context = StageContext()

    result = LocalRecoding().partition(table, table.whole(), Guard([AtLeast(k=3)]), context)

    assert [[0, 1, 2, 3], [4, 5, 6]] == members(result)
    assert [[0, 1], [2, 3]] == np.hstack([result.regions.lo, result.regions.hi]).tolist()
    assert {"lattice_nodes": 3, "rows_in_no_box": 1} == {
        item.name: item.value for item in context.found
    }


def test_a_search_that_left_combinations_out_says_so():
    table = towns("aaabdde")
    for most, expected in ((2, 1), (3, 0)):
        context = StageContext()
        LocalRecoding(most_nodes=most).partition(
            table, table.whole(), Guard([AtLeast(k=3)]), context
        )
        assert expected == len(Findings.of(context.found).notices)


def least_sum_of_widths(values, k):
    """Return the least sum of (width x rows) over all divisions of sorted values into k or more."""
    best = [0.0] + [float("inf")] * len(values)
    for stop in range(k, len(values) + 1):
        for start in range(max(0, stop - 2 * k + 1), stop - k + 1):
            cost = best[start] + (values[stop - 1] - values[start]) * (stop - start)
            best[stop] = min(best[stop], cost)
    return best[-1]


@pytest.mark.parametrize("draw", ["normal", "lognormal", "uniform"])
def test_a_continuous_number_without_a_hierarchy_has_levels_as_fine_as_its_rows(draw):
    values = np.sort(getattr(np.random.default_rng(3), draw)(size=1000))
    column = Column(name="x", role="quasi", type="number")
    table = Table.build(pd.DataFrame({"x": values}), Schema([column]))

    result = LocalRecoding().partition(table, table.whole(), Guard([AtLeast(k=5)]), StageContext())

    optimum = least_sum_of_widths(values.tolist(), 5) / (values[-1] - values[0]) / len(values)
    assert gcp(table, result) <= 3 * optimum


def test_a_given_class_of_which_nothing_can_be_published_stays_whole():
    table = towns("ade")

    result = LocalRecoding().partition(table, table.whole(), Guard([AtLeast(k=3)]), StageContext())

    assert [[0, 1, 2]] == members(result)
    assert [[2]] == result.regions.level.tolist()


def test_the_rest_stays_in_its_given_class():
    """Row 5 is a b of the second class: the rows of a in the first are not its company."""
    table = towns("aaadddb")
    given = Classes(np.array([0, 1, 2, 3, 4, 5, 6]), np.array([0, 3, 7]))

    result = LocalRecoding().partition(table, given, Guard([AtLeast(k=3)]), StageContext())

    assert [[0, 1, 2], [3, 4, 5, 6]] == members(result)


def test_the_rest_avoids_classes_that_would_tell_nothing():
    """Beside three rows of a and f, the row of e and m would make everything `*`."""
    frame = pd.DataFrame({"town": list("aaadddddde"), "sex": list("fffffffffm")})
    schema = Schema(
        [
            Column(name="town", role="quasi", hierarchy=Tree(tree=TOWNS)),
            Column(name="sex", role="quasi"),
        ]
    )
    table = Table.build(frame, schema)

    result = LocalRecoding().partition(table, table.whole(), Guard([AtLeast(k=3)]), StageContext())

    assert [[0, 1, 2], [3, 4, 5, 6, 7, 8, 9]] == members(result)


@given(sample=samples(), demand=demands())
@settings(max_examples=100)
def test_nothing_is_suppressed_where_the_whole_table_is_admitted(sample, demand):
    """Whatever the models: what no box admits widens classes or is merged with them."""
    table, guard = sample.table(), demand.guard()

    result = LocalRecoding().partition(table, table.whole(), guard, StageContext())

    if guard.admits_classes(table, table.whole()).all():
        assert [] == result.suppressed.tolist()
    assert guard.admits_classes(table, result).all()


def wide(columns, rows=60):
    rng = np.random.default_rng(1)
    kinds = rng.integers(0, 4, (6, columns))
    frame = pd.DataFrame(
        np.where(rng.random((rows, columns)) < 0.9, kinds[rng.integers(0, 6, rows)], 0)
    )
    frame.columns = [f"q{index}" for index in range(columns)]
    schema = Schema([Column(name=name, role="quasi", type="number") for name in frame])
    return Table.build(frame, schema)


@pytest.mark.parametrize("method", [FullDomain(), LocalRecoding()], ids=["full", "local"])
def test_thirty_columns_are_searched_greedily(method):
    table, run = wide(30), StageContext()

    result = method.partition(table, table.whole(), Guard([AtLeast(k=5)]), run)

    assert 60 == len(result.rows)
    assert result.sizes.min() >= 5


@pytest.mark.parametrize("n", [4, 5, 9])
@pytest.mark.parametrize("method", [FullDomain(), LocalRecoding()], ids=["full", "local"])
def test_tables_about_as_large_as_k(method, n):
    """Below k nothing can be published; up to 2k - 1 rows are one class."""
    table = towns(("aabde" * 2)[:n])

    result = method.partition(table, table.whole(), Guard([AtLeast(k=5)]), StageContext())

    assert ([] if n < 5 else [n]) == result.sizes.tolist()


def test_a_constant_column_is_published_as_it_is():
    table = towns("aaaa")

    for method in (FullDomain(), LocalRecoding()):
        result = method.partition(table, table.whole(), Guard([AtLeast(k=2)]), StageContext())
        assert [[0]] == result.regions.level.tolist()
        assert 0.0 == gcp(table, result)


def test_progress_ends_with_all_rows():
    reports = []
    table = towns("aabbddeea")

    LocalRecoding().partition(
        table,
        table.whole(),
        Guard([AtLeast(k=2)]),
        StageContext(report=lambda done, total: reports.append((done, total))),
    )

    assert (9, 9) == reports[-1]
    assert sorted(reports) == reports


@given(sample=samples(), k=st.integers(1, 5), rounds=st.sampled_from(["cells", "levels"]))
@settings(max_examples=60)
def test_the_order_of_the_rows_changes_no_class(sample, k, rounds):
    table = sample.table()
    back = table.take(np.arange(len(table))[::-1])
    method = LocalRecoding(rounds=rounds)

    result = method.partition(table, table.whole(), Guard([AtLeast(k=k)]), StageContext())
    turned = method.partition(back, back.whole(), Guard([AtLeast(k=k)]), StageContext())

    last = len(table) - 1
    assert {frozenset(rows) for rows in members(result)} == {
        frozenset(last - row for row in rows) for rows in members(turned)
    }


@pytest.mark.parametrize("method", [FullDomain(), LocalRecoding()], ids=["full", "local"])
def test_any_number_of_columns_may_be_constant(method):
    """Arrays have at most 64 dimensions, the table has 80 columns, one of which varies."""
    frame = pd.DataFrame({f"q{index}": ["x"] * 6 for index in range(80)})
    frame["q40"] = list("aabbbb")
    table = Table.build(frame, Schema([Column(name=name, role="quasi") for name in frame]))

    result = method.partition(table, table.whole(), Guard([AtLeast(k=2)]), StageContext())

    assert [[0, 1], [2, 3, 4, 5]] == members(result)
    assert [0, 1] == result.regions.lo[:, 40].tolist()
    assert [0, 1] == result.regions.hi[:, 40].tolist()
    assert 0 == np.delete(result.regions.hi, 40, axis=1).sum()
    assert {0} == set(result.regions.level.ravel().tolist())
