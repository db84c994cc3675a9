"""Who is alike, and what the best attacker reaches on a copy, counted one by one."""

from collections import Counter

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonloom import AuditInput, Column, Release, Schema, Table
from anonloom_risk import Alike, align_evidence, attainable, number_alike
from anonloom_risk.nearest_rows import ORIGINAL, TARGETS

SCHEMA = Schema(tuple(Column(name=name, role="quasi") for name in ("town", "job", "illness")))
ROWS = st.lists(
    st.tuples(st.sampled_from("ab"), st.sampled_from("xy"), st.sampled_from("fgh")),
    min_size=1,
    max_size=12,
)


def columns(original, targets):
    people, asked = (
        Table.build(pd.DataFrame(rows, columns=SCHEMA.names), SCHEMA)
        for rows in (original, targets)
    )
    return align_evidence(AuditInput(Release.as_it_is(people), original=people), asked)


@given(ROWS, ROWS)
def test_rows_of_two_tables_have_one_number_where_they_are_equal(original, targets):
    first, second = number_alike(columns(original, targets), ORIGINAL, TARGETS)

    rows, numbers = [*original, *targets], [*first.tolist(), *second.tolist()]
    for row, number in zip(rows, numbers, strict=True):
        assert [row == other for other in rows] == [number == other for other in numbers]


@given(ROWS)
def test_the_value_that_most_have_is_that_of_a_count(original):
    *known, secret = columns(original, original)

    alike = Alike.of(number_alike(known, ORIGINAL)[0], secret.sides[ORIGINAL], len(secret))

    cells = secret.sides[ORIGINAL].tolist()
    for index, row in enumerate(original):
        counts = Counter(
            cell for cell, other in zip(cells, original, strict=True) if other[:2] == row[:2]
        )
        group = alike.group[index]
        assert max(counts.values()) == counts[int(alike.cell[group])]
        assert max(counts.values()) / sum(counts.values()) == pytest.approx(alike.share[group])
        assert original[int(alike.first[group])][:2] == row[:2]


@given(ROWS, ROWS)
def test_the_best_attacker_names_what_most_of_those_alike_have(original, targets):
    *known, secret = columns(original, targets)

    result = attainable(known, secret.sides[ORIGINAL], len(secret))

    for target, share in zip(targets, result, strict=True):
        alike = Counter(row[2] for row in original if row[:2] == target[:2])
        expected = max(alike.values()) / sum(alike.values()) if alike else 1.0
        assert expected == pytest.approx(share)
