"""Counting in many overlapping ranges gives what counting row by row in each of them gives."""

import math
from collections import Counter
from unittest import mock

import attrs
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom import Column, Schema, Table
from anonloom.hierarchies import Tree
from anonloom_privacy_models import tallies
from anonloom_privacy_models.k_anonymity import KAnonymity
from anonloom_privacy_models.l_diversity import LDiversity
from anonloom_privacy_models.t_closeness import TCloseness

TREE = {"x": {"p": ["a", "b"], "q": ["c"]}, "d": None, "y": {"r": ["e", "f", "g"]}}
#: Ancestors of every leaf, from itself up to the root; a shallow leaf repeats itself.
ABOVE = {
    **{leaf: [leaf, "p", "x", "*"] for leaf in "ab"},
    "c": ["c", "q", "x", "*"],
    "d": ["d", "d", "d", "*"],
    **{leaf: [leaf, "r", "y", "*"] for leaf in "efg"},
}
AMOUNTS = dict(zip("abcdefg", [5, 1, 9, 30, 2, 7, 100], strict=True))


@st.composite
def questions(draw):
    """A table, a row order and ranges of it."""
    cells = st.tuples(st.sampled_from([None, *"abcdefg"]), st.integers(0, 4))
    rows = draw(st.lists(cells, min_size=1, max_size=30))
    frame = pd.DataFrame(
        {
            "age": 1,
            "illness": [value for value, _ in rows],
            "amount": [AMOUNTS.get(value) for value, _ in rows],
            "person": [f"p{person}" for _, person in rows],
        }
    )
    columns = [
        Column(name="age", role="quasi", type="number"),
        Column(name="illness", role="sensitive", hierarchy=Tree(tree=TREE)),
        Column(name="amount", role="sensitive", type="number"),
    ]
    if draw(st.booleans()):
        columns.append(Column(name="person", role="person"))
    order = draw(st.permutations(range(len(rows))))[: draw(st.integers(1, len(rows)))]
    place = st.integers(0, len(order))
    ranges = draw(st.lists(st.tuples(place, place).map(sorted), max_size=20))
    return Table.build(frame, Schema(columns)), order, ranges


def asked(order, ranges):
    starts = np.array([start for start, _ in ranges], np.int64)
    stops = np.array([stop for _, stop in ranges], np.int64)
    return np.array(order), starts, stops


def counted(table, rows, column):
    """Values of some rows; missing is none; a person counts once per value."""
    frame = table.frame.iloc[list(rows)]
    pairs = zip(
        frame.get("person", pd.Series(frame.index, frame.index)), frame[column], strict=True
    )
    return Counter(value for _, value in set(pairs) if not pd.isna(value))


def shares(counts):
    return {value: count / sum(counts.values()) for value, count in counts.items()}


def differences(table, rows, column):
    inside, overall = (
        shares(counted(table, rows, column)),
        shares(counted(table, range(len(table)), column)),
    )
    return {value: inside.get(value, 0) - share for value, share in overall.items()}


def equal_distance(table, rows):
    return sum(abs(extra) for extra in differences(table, rows, "illness").values()) / 2


def ordered_distance(table, rows):
    extra = differences(table, rows, "amount")
    steps = np.cumsum([extra[value] for value in sorted(extra)])
    return sum(abs(steps)) / max(len(extra) - 1, 1)


def hierarchical_distance(table, rows):
    """Every unit that leaves a node goes half the way that it has to go, up through that node."""
    extra, cost = differences(table, rows, "illness"), 0.0
    for level in range(3):
        flow = Counter()
        for value, amount in extra.items():
            flow[ABOVE[value][level]] += amount
        cost += sum(abs(amount) for amount in flow.values()) / 2 / 3
    return cost


#: A batch of 8 rows makes many batches, and lets cumulated counts be the cheaper way.
BATCHES = pytest.mark.parametrize("batch", [1 << 22, 8, 1])


@BATCHES
@given(question=questions())
@settings(deadline=None, max_examples=100)
def test_tallies_are_the_counts_of_every_range(batch, question):
    table, order, ranges = question
    rows, starts, stops = asked(order, ranges)

    with mock.patch.object(tallies, "BATCH", batch):
        results = [Counter() for _ in ranges]
        occurrences = tallies.Occurrences.of(table, "illness", rows)
        for tally in occurrences.tallies(starts, stops):
            names = table.encode_column("illness").axis.values
            for index, value, count in zip(tally.range, tally.value, tally.count, strict=True):
                results[tally.which[index]][names[value]] += int(count)

    assert [counted(table, order[a:b], "illness") for a, b in ranges] == results


def test_cumulated_counts_are_used_for_many_windows():
    """All windows of a long row order: the way whose cost does not follow their lengths."""
    frame = pd.DataFrame({"age": 1, "illness": list("abc") * 40})
    columns = [Column(name="age", role="quasi"), Column(name="illness", role="sensitive")]
    table = Table.build(frame, Schema(columns))
    starts, stops = np.triu_indices(121, 1)
    occurrences = tallies.Occurrences.of(table, "illness", np.arange(120))

    written_out = mock.patch.object(tallies.Occurrences, "_written_out", side_effect=AssertionError)
    with mock.patch.object(tallies, "BATCH", 4096), written_out:
        results = {
            (int(tally.which[index]), int(value)): int(count)
            for tally in occurrences.tallies(starts, stops)
            for index, value, count in zip(tally.range, tally.value, tally.count, strict=True)
        }

    expected = {
        (index, value): len(range(a + (value - a) % 3, b, 3))
        for index, (a, b) in enumerate(zip(starts.tolist(), stops.tolist(), strict=True))
        for value in range(3)
    }
    assert {key: count for key, count in expected.items() if count} == results


@BATCHES
@given(question=questions())
@settings(deadline=None, max_examples=50)
def test_k_counts_persons(batch, question):
    table, order, ranges = question
    person = table.frame.get("person", pd.Series(range(len(table))))

    with mock.patch.object(tallies, "BATCH", batch):
        verdict = KAnonymity(k=3).admits(table, *asked(order, ranges))

    assert [len(set(person.iloc[order[a:b]])) >= 3 for a, b in ranges] == verdict.tolist()


@pytest.mark.parametrize(
    "model",
    [
        KAnonymity(k=3),
        LDiversity(l=3, of="illness"),
        LDiversity(l=2.5, of="illness", kind="entropy"),
        LDiversity(l=3, of="illness", kind="recursive", c=1.1),
        TCloseness(t=0.2, of="illness"),
    ],
    ids=str,
)
def test_a_row_of_which_nobody_knows_whose_it_is_adds_nobody(model):
    """It may be one of the others': two persons and such a row are no three."""
    frame = pd.DataFrame(
        {
            "age": 1,
            "illness": ["a", "b", "c", "c", "a", "b", "c", "a"],
            "person": ["p0", "p1", None, None, "p0", "p1", "p2", None],
        }
    )
    columns = [
        Column(name="age", role="quasi", type="number"),
        Column(name="illness", role="sensitive"),
        Column(name="person", role="person", missing="suppress"),
    ]
    table = Table.build(frame, Schema(columns))
    ranges = [(0, 2), (0, 4), (4, 7), (4, 8)]

    verdict = model.admits(table, *asked(range(8), ranges)).tolist()

    assert [False, False, True, True] == verdict
    named = model.would_pass(table, *asked(range(8), ranges))
    assert named == model.would_pass(table, *asked(range(8), [(0, 2), (4, 7)]))


@pytest.mark.parametrize(
    ("column", "name", "oracle"),
    [
        ("illness", "equal", equal_distance),
        ("amount", "ordered", ordered_distance),
        ("illness", "hierarchical", hierarchical_distance),
    ],
)
@given(question=questions())
@settings(deadline=None, max_examples=150)
def test_distances(column, name, oracle, question):
    table, order, ranges = question

    result = TCloseness(t=0.5, of=column, distance=name).distances(table, *asked(order, ranges))

    expected = [
        oracle(table, order[a:b]) if counted(table, order[a:b], "illness") else math.inf
        for a, b in ranges
    ]
    np.testing.assert_allclose(result, expected, atol=1e-12)


MODELS = [
    KAnonymity(k=4),
    LDiversity(l=4, of="illness"),
    LDiversity(l=3, of="illness", kind="entropy"),
    LDiversity(l=2, of="illness", kind="recursive", c=0.9),
    LDiversity(l=4, of="illness", kind="recursive", c=2),
    TCloseness(t=0.1, of="illness"),
    TCloseness(t=0.1, of="amount", distance="ordered"),
    TCloseness(t=0.1, of="illness", distance="hierarchical"),
]


@pytest.mark.parametrize("model", MODELS, ids=str)
@given(question=questions())
@settings(deadline=None, max_examples=60)
def test_what_would_pass_passes(model, question):
    """The words are parameters that admit every range, and nothing stricter in that digit does."""
    table, order, ranges = question
    rows, starts, stops = asked(order, ranges)

    words = model.would_pass(table, rows, starts, stops)

    if words.startswith("no "):
        assert not model.admits(table, rows, starts, stops).all()
        return
    named = dict(part.split(": ") for part in words.split(", "))
    parameters = {
        name: int(text) if text.isdigit() else float(text) for name, text in named.items()
    }
    milder = attrs.evolve(model, **parameters)
    assert milder.admits(table, rows, starts, stops).all()
    stricter = {name: _stricter(model, name, value) for name, value in parameters.items()}
    if len(ranges) and len(parameters) == 1 and min(stricter.values()) > 0:
        assert not attrs.evolve(model, **stricter).admits(table, rows, starts, stops).all()


def _stricter(model, name, value):
    if name in ("t", "c"):
        return value - 0.011
    return value + (0.01 if getattr(model, "kind", "") == "entropy" else 1)


@pytest.mark.parametrize(
    "model",
    [
        LDiversity(l=2, of="illness"),
        LDiversity(l=1.7, of="illness", kind="entropy"),
        LDiversity(l=2, of="illness", kind="recursive", c=1.3),
        TCloseness(t=0.4, of="illness"),
        TCloseness(t=0.3, of="amount", distance="ordered"),
        TCloseness(t=0.3, of="illness", distance="hierarchical"),
    ],
    ids=str,
)
@given(
    values=st.lists(st.sampled_from([None, *"abcdefg"]), min_size=2, max_size=20), data=st.data()
)
@settings(deadline=None, max_examples=100)
def test_unions_are_admitted_where_a_row_is_a_person(model, values, data):
    frame = pd.DataFrame(
        {"age": 1, "illness": values, "amount": [AMOUNTS.get(value) for value in values]}
    )
    columns = [
        Column(name="age", role="quasi", type="number"),
        Column(name="illness", role="sensitive", hierarchy=Tree(tree=TREE)),
        Column(name="amount", role="sensitive", type="number"),
    ]
    table = Table.build(frame, Schema(columns))
    cut = data.draw(st.integers(1, len(values) - 1))
    starts, stops = np.array([0, cut, 0]), np.array([cut, len(values), len(values)])

    left, right, union = model.admits(table, np.arange(len(values)), starts, stops).tolist()

    assert union or not (left and right)


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), min_size=2, max_size=20).filter(
        lambda rows: any(complete for _, complete in rows)
    )
)
def test_classes_are_compared_with_rows_that_can_be_published(rows):
    """A row that a missing value suppresses loses its illness before anything is published."""
    frame = pd.DataFrame(
        {"age": [30 if complete else None for _, complete in rows], "illness": [v for v, _ in rows]}
    )
    columns = (
        Column(name="age", role="quasi", type="number", missing="suppress"),
        Column(name="illness", role="sensitive"),
    )
    table = Table.build(frame, Schema(columns))
    kept = [index for index, (_, complete) in enumerate(rows) if complete]
    half = kept[: -(-len(kept) // 2)]
    model = TCloseness(t=0.5, of="illness")
    result = model.distances(table, np.array(half), np.array([0]), np.array([len(half)]))

    shares = [
        {value: Counter(rows[index][0] for index in some)[value] / len(some) for value in "abc"}
        for some in (half, kept)
    ]
    expected = sum(abs(shares[0][value] - shares[1][value]) for value in "abc") / 2
    assert pytest.approx(expected) == float(result[0])
