"""Predicates by sums of random numbers do what predicates counted one by one do."""

from collections import Counter
from math import inf, log

import attrs
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonloom import AuditInput, Column, Release, Schema, Table
from anonloom_risk import align_evidence
from anonloom_risk.nearest_rows import ORIGINAL, RELEASE, TARGETS
from anonloom_singling_out.auditor import draw_evidence, isolate_by_one
from anonloom_singling_out.families import CELLS, GRIDS, coarse, conjunctions
from anonloom_singling_out.predicates import occurrences

SCHEMA = Schema(
    (
        Column(name="age", role="quasi", type="number"),
        Column(name="town", role="quasi"),
        Column(name="job", role="quasi"),
    )
)
ROWS = st.lists(
    st.tuples(st.integers(20, 26), st.sampled_from("abc"), st.sampled_from("xy")),
    min_size=2,
    max_size=12,
)


def table(rows):
    return Table.build(pd.DataFrame(rows, columns=SCHEMA.names), SCHEMA)


def evidence(original, release, targets, control):
    case = AuditInput(
        Release.as_it_is(table(release)), original=table(original), control=table(control)
    )
    return draw_evidence(align_evidence(case, table(targets)), np.random.default_rng(0))


def met(known, family, side):
    """The parts that every row of a table meets, as tuples."""
    return list(
        zip(
            *(
                known.parts[column][way].of_cell[known.columns[column].sides[side]].tolist()
                for column, way in family
            ),
            strict=True,
        )
    )


def isolating(original, own, people, predicate):
    """Whether a predicate matches nobody of the original who is unlike the target."""
    return all(person == own for person, meets in zip(original, people, strict=True) if meets == predicate)  # fmt: skip


@given(ROWS, ROWS, ROWS, ROWS)
def test_the_surest_predicate_is_that_of_a_count_one_by_one(original, release, targets, control):
    known = evidence(original, release, targets, control)
    families = conjunctions(known.parts, np.random.default_rng(1))

    result = known.surest(families)

    for index, own in enumerate(targets):
        best, isolates = -inf, False
        for family in families:
            predicate = met(known, family, TARGETS)[index]
            rows = Counter(met(known, family, RELEASE))[predicate]
            bits = sum(
                known.parts[column][way].bits[known.columns[column].sides[TARGETS][index]]
                for column, way in family
            ) - log(min(max(rows, 1), 2))
            if rows and bits > best:
                best = bits
                isolates = isolating(original, own, met(known, family, ORIGINAL), predicate)
        assert best == pytest.approx(result.bits[index])
        assert isolates == result.isolates[index]


@given(ROWS, ROWS, ROWS, ROWS)
def test_one_column_isolates_whom_any_of_its_published_predicates_isolates(
    original, release, targets, control
):
    known = evidence(original, release, targets, control)

    result = isolate_by_one(known)

    for index, own in enumerate(targets):
        expected = False
        for column, ways in enumerate(known.parts):
            for way in range(min(len(ways), 2)):
                family = ((column, way),)
                predicate = met(known, family, TARGETS)[index]
                expected |= predicate in met(known, family, RELEASE) and isolating(
                    original, own, met(known, family, ORIGINAL), predicate
                )
        assert expected == result.isolates[index]


@given(st.lists(st.integers(0, 5)), st.lists(st.integers(0, 5)))
def test_occurrences_are_counted_up_to_two(among, keys):
    result = occurrences(np.array(among, np.uint64), np.array(keys, np.uint64))

    assert [min(among.count(key), 2) for key in keys] == result.tolist()


@given(ROWS, ROWS, ROWS)
def test_the_bits_of_a_part_are_its_share_of_release_and_control(original, release, control):
    known = evidence(original, release, original, control)

    for column in known.columns[1:]:
        parts = known.parts[known.columns.index(column)][CELLS]
        shown = [*column.sides[RELEASE].tolist(), *column.sides[3].tolist()]
        for cell in range(len(column)):
            share = (shown.count(cell) + 1) / (len(shown) + 1)
            assert parts.bits[cell] == pytest.approx(-log(share))


def test_families_leave_out_up_to_half_of_the_columns():
    known = evidence(*([[(20, "a", "x"), (23, "b", "y"), (26, "c", "x")]] * 4))

    families = conjunctions(known.parts, np.random.default_rng(0))

    of_cells = [[column for column, _ in family] for family in families[:4]]
    assert [[0, 1, 2], [1, 2], [0, 2], [0, 1]] == of_cells
    # With intervals come only those that have the number.
    assert 4 + len(GRIDS) * 3 == len(families)
    assert len(set(families)) == len(families)


@pytest.mark.parametrize("size", [1, 2, 9, 40])
def test_no_more_families_are_drawn_than_are_looked_through(size):
    schema = Schema(tuple(Column(name=f"c{index}", role="quasi") for index in range(size)))
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 3, (8, size)).astype(str), columns=schema.names)
    people = Table.build(frame, schema)
    case = AuditInput(Release.as_it_is(people), original=people)
    known = draw_evidence(align_evidence(case, people), rng)

    families = conjunctions(known.parts, rng)

    assert 1 <= len(families) <= 30
    assert size == len(families[0])
    assert 1 <= len(list(coarse(known.parts))) <= 200


@given(ROWS)
def test_people_are_alike_when_they_are_equal_in_all_columns(original):
    known = evidence(original, original, [*original, (99, "q", "z")], original)

    assert [True] * len(original) + [False] == known.own.tolist()
    assert len(set(original)) == len(known.people)


def test_a_published_interval_is_a_part_and_the_narrowest_one_counts():
    original = table([(age, "a", "x") for age in range(20, 40)])
    cells = ["[20, 29]", "[25, 27]", "35", "*", "[30, 39]"]
    frame = pd.DataFrame({"age": cells, "town": "a", "job": "x"})
    release = attrs.evolve(Release.as_it_is(original.take(np.arange(5))), frame=frame)
    case = AuditInput(release, original=original)
    columns = align_evidence(case, original)
    column = columns[0]

    parts = draw_evidence(columns, np.random.default_rng(0)).parts[0]

    published = dict(zip(cells, column.sides[RELEASE].tolist(), strict=True))
    expected = [
        published[
            "[25, 27]" if 25 <= age <= 27 else "[20, 29]" if age < 30 else "35" if age == 35 else "[30, 39]"
        ]
        for age in range(20, 40)
    ]  # fmt: skip
    assert 1 == len(parts), "generalized cells are taken as they are"
    assert expected == parts[CELLS].of_cell[column.sides[ORIGINAL]].tolist()
