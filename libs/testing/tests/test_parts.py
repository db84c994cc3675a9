"""The parts of the kit: its oracle, its tables and strategies, and core's own methods under it."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom import Column, Schema
from anonloom.sources import Frame
from anonloom_testing import SourceConformance, oracle, tables
from anonloom_testing.observation import fingerprint
from anonloom_testing.privacy_cases import Demand, admitted_classes
from anonloom_testing.strategies import demands, divisions, samples


@pytest.mark.parametrize(
    ("cell", "value", "covered"),
    [
        ("*", 3, True),
        ("*", None, True),
        (None, None, True),
        (None, 3, False),
        ("3", None, False),
        ("3", 3, True),
        ("3", 3.0, True),
        ("[3, 5]", 3, True),
        ("[3, 5]", 5, True),
        ("[3, 5]", 5.5, False),
        ("[-2.5, -1]", -2, True),
        ("[2020-01-05, 2020-02-01]", "2020-01-31", True),
        ("[2020-01-05, 2020-02-01]", "2020-01-04", False),
        ('{"a", "b, c"}', "b, c", True),
        ('{"a", "b"}', "c", False),
        ('{"1", "2"}', 2, True),
        ("north", "n1", True),
        ("north", "s1", False),
        ("n1", "n1", True),
        ("n1", "n2", False),
    ],
)
def test_the_oracle_reads_published_cells(cell, value, covered):
    above = tables.clinic().above["region"] if isinstance(value, str) else None

    assert covered is oracle.covers(cell, value, above)


def test_the_oracle_imports_nothing_of_the_product():
    """What is checked and what checks share no code."""
    code = (
        "import importlib.util, sys;"
        f"spec = importlib.util.spec_from_file_location('oracle', {oracle.__file__!r});"
        "module = importlib.util.module_from_spec(spec); spec.loader.exec_module(module);"
        "print([n for n in ('anonloom', 'numpy', 'pandas') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True)

    assert "[]" == done.stdout.strip(), done.stderr


@pytest.mark.parametrize("make", tables.ORDINARY_TABLES, ids=lambda make: make.__name__)
def test_every_table_is_the_same_each_time_and_independent(make):
    first, second = make(), make()
    table = first.table()
    expected = fingerprint(second.table())
    table.codes[:] = 0

    assert first.rows == second.rows
    assert expected == fingerprint(first.table())


def test_the_tables_have_the_properties_that_they_are_named_for():
    def combinations(sample):
        return len({tuple(row[name] for name in sample.schema.quasi) for row in sample.rows})

    assert 1 == len(tables.one_row())
    assert 3 == len(tables.exactly_three())
    assert ("age",) == tables.one_column().schema.quasi
    assert 1 == combinations(tables.all_equal())
    assert 24 == len(tables.many_columns().schema.quasi)
    assert tables.incomplete_rows().table().incomplete.any()
    assert 15 == len({row["person"] for row in tables.persons_with_many_rows().rows})
    people = tables.unique_people()
    assert len(people) == combinations(people)
    assert 12 == combinations(tables.crowd())
    assert {20} == set(
        np.unique(
            [str([r[n] for n in ("age", "region", "sex")]) for r in tables.crowd().rows],
            return_counts=True,
        )[1]
    )


@given(st.data())
@settings(max_examples=60)
def test_the_guard_and_the_oracle_of_a_demand_agree(data):
    """Both ways of saying a demand admit the same classes."""
    sample, demand = data.draw(samples()), data.draw(demands())
    classes, _ = data.draw(divisions(len(sample)))
    rows = np.array([row for members in classes for row in members], np.int64)
    stops = np.cumsum([len(members) for members in classes]).astype(np.int64)
    starts = np.array([0, *stops[:-1]][: len(stops)], np.int64)

    result = demand.guard().admits(sample.table(), rows, starts, stops).tolist()

    expected = [demand.holds([sample.rows[index] for index in item], sample) for item in classes]
    assert expected == result


@given(samples(), demands())
@settings(max_examples=60)
def test_classes_that_the_kit_makes_satisfy_their_demand(sample, demand):
    order = list(range(len(sample)))

    classes = admitted_classes(sample, demand, order)

    assert sorted(row for item in classes for row in item) in ([], order)
    assert all(demand.holds([sample.rows[index] for index in item], sample) for item in classes)


def test_a_demand_says_itself_in_a_few_words():
    assert "k = 3, l = 2, t = 0.4, half sampled" == Demand(3, 2, 0.4, True).words


def test_a_source_that_makes_its_rows_itself_is_checked_without_stored_ones():
    class Own(SourceConformance):
        method = Frame
        schema = Schema((Column(name="age", role="quasi", type="number"),))

        def build_method(self, **changes):
            return Frame.of(tables.clinic().frame)

    results = {result.check: result.status for result in Own().results()}

    assert "passed" == results["check_returns_the_declared_columns"]
    assert "skipped" == results["check_rows_are_those_stored"]
    assert "failed" not in results.values()
