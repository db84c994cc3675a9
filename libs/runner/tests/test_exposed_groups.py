"""Who is exposed is told by groups, and no count gives one person away."""

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from anonloom import Column, Schema, Table
from anonloom_runner.exposed_groups import (
    exposed_groups,
    group_data,
    most_exposed,
    suppress_small,
)

SCHEMA = Schema(
    (
        Column(name="age", role="quasi", type="number"),
        Column(name="town", role="other", missing="own"),
        Column(name="who", role="truth"),
    )
)


def people(number=400):
    towns = ["Aachen"] * 250 + ["Bonn"] * 100 + ["Celle"] * 25 + [f"t{i}" for i in range(25)]
    return Table.build(
        pd.DataFrame({"age": range(number), "town": towns[:number], "who": range(number)}), SCHEMA
    )


@st.composite
def groups(draw):
    sizes = draw(st.lists(st.integers(0, 60), max_size=6))
    return [draw(st.integers(0, size)) for size in sizes], sizes


@given(groups())
def test_no_small_count_is_said_nor_given_away_by_the_sum(drawn):
    counts, sizes = drawn
    said = suppress_small(counts, sizes)
    hidden = [index for index, count in enumerate(said) if count is None]
    for index, count in enumerate(said):
        if count is not None:
            assert count == counts[index] >= 5
            assert sizes[index] - count == 0 or sizes[index] - count >= 5
    if hidden and len(hidden) < len(counts):
        # Whoever knows the sum of all knows the sum of these.
        inside = sum(counts[index] for index in hidden)
        outside = sum(sizes[index] - counts[index] for index in hidden)
        assert len(hidden) > 1
        assert inside == 0 or inside >= 5
        assert outside == 0 or outside >= 5


def test_counts_that_are_large_are_all_said():
    assert [30, 12] == suppress_small([30, 12], [40, 20])
    assert [None, None, 40] == suppress_small([3, 9, 40], [50, 50, 50])


def test_groups_are_named_by_their_place_and_no_cell_is_said():
    table = people()
    exposed = np.arange(0, 400, 2)
    result = exposed_groups(table, np.arange(400), exposed)
    assert ["age", "town"] == [column.column for column in result]
    age, town = result
    assert ["lowest quarter", "second quarter", "third quarter", "highest quarter"] == [
        group.label for group in age.groups
    ]
    assert [
        ("the most frequent value", "Aachen", 250, 125),
        ("2nd most frequent value", "Bonn", 100, 50),
        ("3rd most frequent value", "Celle", 25, 13),
        ("rarer values", "all others", 25, 12),
    ] == [(group.label, group.values, group.people, group.exposed) for group in town.groups]
    said = str(group_data(result))
    assert not [cell for cell in ("Aachen", "Bonn", "Celle", "399") if cell in said]


def test_only_people_who_were_attacked_are_counted():
    attacked = np.arange(100, 300)
    result = exposed_groups(people(), attacked, np.arange(150, 260))
    for column in result:
        assert 200 == sum(group.people for group in column.groups)
        assert 110 == sum(group.exposed for group in column.groups)


def test_groups_that_stand_out_are_named_the_most_exposed_first():
    data = group_data(exposed_groups(people(), np.arange(400), np.arange(100)))
    (first, second) = most_exposed(data, 0.25)
    assert ("age", "lowest quarter", 1.0) == (first["column"], first["group"], first["share"])
    assert ("town", "the most frequent value", 0.4) == (
        second["column"], second["group"], second["share"],
    )  # fmt: skip
    everybody = group_data(exposed_groups(people(), np.arange(400), np.arange(400)))
    assert [] == most_exposed(everybody, 1.0)
