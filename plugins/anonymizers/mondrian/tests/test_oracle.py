"""The level-by-level partitioner finds what a slow recursion over single rows finds."""

from unittest import mock

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom import Classes, Column, Guard, Schema, StageContext, Table
from anonloom.hierarchies import Breaks, Tree
from anonloom_mondrian import candidates
from anonloom_mondrian.mondrian import Mondrian
from anonloom_testing.privacy_cases import AtLeast, DistinctValues, half_of

TOWNS = {"north": ["a", "b", "c"], "south": ["d", "e"], "f": None}


# --- the oracle: the paper's recursion, one row at a time ----------------------------------------


def recursive_classes(table, members, guard, method):
    """Partition rows, given as lists of row numbers, by plain recursion."""
    results = []
    for rows in members:
        ordered = sorted(rows, key=lambda row: tuple(table.codes[:, row]))
        results += anonymize(table, ordered, guard, method)
    good = [rows for rows in results if admitted(table, rows, guard)]
    lost = [row for rows in results for row in rows if rows not in good]
    return {frozenset(rows) for rows in good}, set(lost)


def anonymize(table, rows, guard, method):
    for halves in proposals(table, rows, guard, method):
        if all(admitted(table, half, guard) for half in halves):
            return [part for half in halves for part in anonymize(table, half, guard, method)]
    return [rows]


def proposals(table, rows, guard, method):
    if method.cut == "best-loss":
        yield from where_loss_drops(table, rows, guard, method.per_bit)
        if method.mode == "strict":
            return
    spreads = [axis.weight * loss(table, index, rows) for index, axis in enumerate(table.axes)]
    for index in sorted(range(len(spreads)), key=lambda at: -spreads[at]):
        yield from near_the_middle(table, index, rows, guard, method)


# --- cut: widest ---------------------------------------------------------------------------------


def near_the_middle(table, at, rows, guard, method):
    code = table.codes[at]
    rows = sorted(rows, key=lambda row: code[row])
    if code[rows[0]] == code[rows[-1]]:
        return
    if code[rows[-1]] == table.axes[at].missing:
        yield divided(rows, lambda row: code[row] < table.axes[at].missing)
    half = (len(rows) + 1) // 2
    median = code[rows[half - 1]]
    if method.mode == "relaxed":
        yield rows[:half], rows[half:]
        return
    behind = divided(rows, lambda row: code[row] <= median)
    if method.ties == "left":
        yield behind
        return
    before = divided(rows, lambda row: code[row] < median)
    if method.ties == "even":
        yield from sorted((before, behind), key=lambda halves: -min(map(len, halves)))
    else:
        yield from sorted((behind, before), key=lambda halves: lost(table, at, halves, guard))


# --- cut: best-loss ------------------------------------------------------------------------------


def where_loss_drops(table, rows, guard, per_bit):
    """Yield the best cut of every axis, the better first, then the most even cut of every axis."""
    results = []
    for index in range(len(table.axes)):
        cuts = [
            (score(table, rows, halves, per_bit), min(map(len, halves)), halves)
            for halves in in_question(table, index, rows)
            if all(half and large(half, guard) for half in halves)
        ]
        if cuts:
            # Of equals the first: Python's max and sorted keep it.
            best = max(cuts, key=lambda cut: cut[:2])
            results.append((best, max(cuts, key=lambda cut: cut[1])))
    results.sort(key=lambda pair: (-pair[0][0], -pair[0][1]))
    yield from (best[2] for best, _ in results)
    yield from (even[2] for _, even in results)


def in_question(table, at, rows):
    """Return the cuts of an axis: children of the lowest node, then the eighths of the rows."""
    axis, code = table.axes[at], table.codes[at]
    values = sorted({int(code[row]) for row in rows})
    known = [value for value in values if value != axis.missing]
    taken, parts = [], 8
    if axis.form == "nodes" and len(known) > 1:
        children = {}
        for value in known:
            children.setdefault(child_above(axis, value, known), []).append(value)
        few = len(children) <= 16
        parts = 2 if few else 8
        taken += [
            inside
            for inside in children.values()
            if few or 16 * sum(code[row] in inside for row in rows) >= len(rows)
        ]
    elif axis.form == "nodes":
        parts = 2
    ordered = sorted(int(code[row]) for row in rows)
    ends = set()
    for part in range(1, parts):
        value = ordered[-(-len(rows) * part // parts) - 1]
        ends |= {values.index(value) - 1, values.index(value)}
    if known != values:
        ends.add(len(known) - 1)
    taken += [values[: end + 1] for end in sorted(ends) if 0 <= end < len(values) - 1]
    return [divided(rows, lambda row, inside=inside: code[row] in inside) for inside in taken]


def child_above(axis, value, known):
    tree = axis.hierarchy
    lowest = tree.node(np.array(known[0]), np.array(known[-1]))
    above = [node for node in tree.ancestors[:, value] if node != lowest]
    below_lowest = [node for node in above if tree.last[node] <= tree.last[lowest]]
    return [node for node in below_lowest if tree.first[node] >= tree.first[lowest]][-1]


def score(table, rows, halves, per_bit):
    share = len(halves[0]) / len(rows)
    left, right = (row_loss(table, half) for half in halves)
    drop = row_loss(table, rows) - share * left - (1 - share) * right
    bits = -share * np.log2(share) - (1 - share) * np.log2(1 - share) if 0 < share < 1 else 1
    return round(drop / bits**per_bit, 12)


def row_loss(table, rows):
    total = sum(axis.weight for axis in table.axes)
    return sum(
        axis.weight / total * own_loss(table, index, rows) for index, axis in enumerate(table.axes)
    )


def own_loss(table, at, rows):
    axis, members = table.axes[at], set(table.codes[at][rows].tolist())
    if axis.form != "set" or axis.missing in members:
        return loss(table, at, rows) if rows else 0.0
    return float(axis.set_loss(len(members)))


# --- both ----------------------------------------------------------------------------------------


def divided(rows, left):
    return [row for row in rows if left(row)], [row for row in rows if not left(row)]


def loss(table, at, rows):
    codes = table.codes[at][rows]
    return float(table.axes[at].loss(codes.min()[None], codes.max()[None])[0])


def lost(table, at, halves, guard):
    if any(len(half) == 0 or not large(half, guard) for half in halves):
        return np.inf
    return sum(len(half) * loss(table, at, half) for half in halves)


def large(rows, guard):
    return guard.least_kept(np.array([len(rows)]))[0] >= guard.demanded


def admitted(table, rows, guard):
    if not rows:
        return False
    return bool(guard.admits(table, np.array(rows), np.array([0]), np.array([len(rows)]))[0])


# --- tables and guards ---------------------------------------------------------------------------


def columns(weight, form, age_form):
    bins = Breaks(breaks=((2, 4, 9), (4,)))
    return (
        Column(
            name="age", role="quasi", type="number", weight=weight, hierarchy=bins, publish=age_form
        ),
        Column(name="town", role="quasi", hierarchy=Tree(tree=TOWNS), publish=form),
        Column(name="job", role="quasi"),
        Column(name="sex", role="quasi"),
        Column(name="illness", role="sensitive"),
    )


@st.composite
def tables(draw):
    # More jobs than children of a node that are all looked at.
    many_jobs = draw(st.booleans())
    cells = st.tuples(
        st.sampled_from([None, 1, 2, 3, 5, 8, 30]),
        st.sampled_from([None, *"abcdef"]),
        st.sampled_from("ABCDEFGHIJKLMNOPQRSTU") if many_jobs else st.sampled_from("AB"),
        st.sampled_from("fm"),
        st.sampled_from("xyz"),
        st.integers(0, 8),
    )
    rows = draw(st.lists(cells, min_size=1, max_size=40))
    frame = pd.DataFrame(rows, columns=["age", "town", "job", "sex", "illness", "person"])
    schema = columns(
        draw(st.sampled_from([1.0, 3.0])),
        draw(st.sampled_from(["nodes", "set"])),
        draw(st.sampled_from(["interval", "nodes"])),
    )
    if draw(st.booleans()):
        schema = (*schema, Column(name="person", role="person"))
    return Table.build(frame, Schema(schema))


@st.composite
def guards(draw):
    models = [AtLeast(k=draw(st.integers(1, 5)))]
    if draw(st.booleans()):
        models.append(DistinctValues(l=2, of="illness"))
    return Guard(models, half_of) if draw(st.booleans()) else Guard(models)


def start(data, table):
    """Draw given classes: some rows in up to three classes, some suppressed, some absent."""
    label = data.draw(
        st.lists(st.integers(-2, 2), min_size=len(table), max_size=len(table)), "labels"
    )
    members = [[row for row in range(len(table)) if label[row] == index] for index in range(3)]
    members = [rows for rows in members if rows]
    suppressed = [row for row in range(len(table)) if label[row] == -1]
    rows = np.array([row for rows in members for row in rows], np.int64)
    bounds = np.append(0, np.cumsum([len(rows) for rows in members])).astype(np.int64)
    return members, Classes(rows, bounds, np.array(suppressed, np.int64))


def as_sets(classes):
    return {frozenset(classes.members(index).tolist()) for index in range(len(classes))}


WAYS = [
    Mondrian(),
    Mondrian(per_bit=0.0),
    Mondrian(per_bit=1.0),
    Mondrian(mode="relaxed"),
    Mondrian(cut="widest"),
    Mondrian(cut="widest", ties="best"),
    Mondrian(cut="widest", ties="left"),
    Mondrian(cut="widest", mode="relaxed"),
]


@given(table=tables(), guard=guards(), data=st.data())
@settings(deadline=None, max_examples=150)
def test_finds_the_classes_of_the_recursion(table, guard, data):
    """In every way: drawing a table takes longer than dividing it."""
    members, classes = start(data, table)

    for method in WAYS:
        result = method.partition(table, classes, guard, StageContext())
        expected, given_up = recursive_classes(table, members, guard, method)

        assert expected == as_sets(result), method
        suppressed = given_up | set(classes.suppressed.tolist())
        assert suppressed == set(result.suppressed.tolist()), method


@pytest.mark.parametrize("method", WAYS, ids=str)
def test_finds_the_classes_of_the_recursion_in_a_larger_table(method):
    """Enough rows for nodes with more children than are all looked at."""
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(
        {
            "age": rng.choice([np.nan, 1, 2, 3, 5, 8, 30], 250),
            "town": rng.choice([*"abcdef"], 250),
            "job": rng.choice([*"ABCDEFGHIJKLMNOPQRSTUVWXYZ"], 250),
            "sex": rng.choice([*"fm"], 250),
            "illness": rng.choice([*"xyz"], 250),
        }
    )
    table = Table.build(frame, Schema(columns(1.0, "nodes", "interval")))
    guard = Guard([AtLeast(k=3), DistinctValues(l=2, of="illness")])

    result = method.partition(table, table.whole(), guard, StageContext())
    expected, given_up = recursive_classes(table, [list(range(250))], guard, method)

    assert expected == as_sets(result)
    assert set() == given_up


@given(table=tables(), guard=guards())
@settings(deadline=None, max_examples=100)
def test_axes_with_many_codes_are_cut_alike(table, guard):
    """Beyond a number of codes fragments are sorted instead of counted per code."""
    counted = Mondrian().partition(table, table.whole(), guard, StageContext())
    with mock.patch.object(candidates, "MOST_WALKED", 0):
        sorted_first = Mondrian().partition(table, table.whole(), guard, StageContext())

    assert counted.rows.tolist() == sorted_first.rows.tolist()
    assert counted.bounds.tolist() == sorted_first.bounds.tolist()


@given(table=tables(), guard=guards())
@settings(deadline=None, max_examples=100)
def test_regions_of_the_widest_cuts_are_disjoint_and_hold_their_rows(table, guard):
    result = Mondrian(cut="widest").partition(table, table.whole(), guard, StageContext())

    lo, hi = result.regions.lo, result.regions.hi
    least, most = result.extents(table.codes)
    assert (lo <= least).all()
    assert (most <= hi).all()
    overlap = (lo[:, None] <= hi[None]) & (lo[None] <= hi[:, None])
    assert np.eye(len(result), dtype=bool).tolist() == overlap.all(axis=2).tolist()


@pytest.mark.parametrize("cut", ["best-loss", "widest"])
@given(table=tables(), guard=guards())
@settings(deadline=None, max_examples=100)
def test_the_first_strict_region_that_holds_a_row_is_that_of_its_class(cut, table, guard):
    """Also where a class has lost a child from its middle, and its region covers the child."""
    result = Mondrian(cut=cut).partition(table, table.whole(), guard, StageContext())

    for index in range(len(result)):
        for row in result.members(index):
            holds = (result.regions.lo <= table.codes[:, row]) & (
                table.codes[:, row] <= result.regions.hi
            )
            assert index == np.flatnonzero(holds.all(axis=1))[0]


@pytest.mark.parametrize("cut", ["best-loss", "widest"])
@given(table=tables(), k=st.integers(1, 5), data=st.data())
@settings(deadline=None, max_examples=50)
def test_strict_regions_cover_the_whole_space(cut, table, k, data):
    """Any point of the space, whether it occurs or not, lies in some region."""
    result = Mondrian(cut=cut).partition(
        table, table.whole(), Guard([AtLeast(k=k)]), StageContext()
    )
    point = np.array([data.draw(st.integers(0, axis.size - 1)) for axis in table.axes])

    if len(result):
        holds = (result.regions.lo <= point) & (point <= result.regions.hi)
        assert holds.all(axis=1).any()


def test_given_regions_are_refined_not_forgotten():
    frame = pd.DataFrame({"age": [1, 2, 3, 4, 5, 6, 7, 8]})
    table = Table.build(frame, Schema([Column(name="age", role="quasi", type="number")]))
    method, run = Mondrian(), StageContext()

    halves = method.partition(table, table.whole(), Guard([AtLeast(k=4)]), run)
    quarters = method.partition(table, halves, Guard([AtLeast(k=2)]), run)

    assert [[0, 3], [4, 7]] == np.hstack([halves.regions.lo, halves.regions.hi]).tolist()
    assert [[0, 1], [2, 3], [4, 5], [6, 7]] == sorted(
        np.hstack([quarters.regions.lo, quarters.regions.hi]).tolist()
    )


def test_missing_values_are_cut_off_first():
    """Ages 1 to 4 and two missing: the median alone would leave a class that mixes both."""
    frame = pd.DataFrame({"age": [1, 2, 3, 4, None, None]})
    table = Table.build(frame, Schema([Column(name="age", role="quasi", type="number")]))

    result = Mondrian().partition(table, table.whole(), Guard([AtLeast(k=2)]), StageContext())

    assert {frozenset({0, 1}), frozenset({2, 3}), frozenset({4, 5})} == as_sets(result)


def test_progress_ends_with_all_rows():
    frame = pd.DataFrame({"age": range(100)})
    table = Table.build(frame, Schema([Column(name="age", role="quasi", type="number")]))
    reports = []

    Mondrian().partition(
        table,
        table.whole(),
        Guard([AtLeast(k=7)]),
        StageContext(report=lambda done, total: reports.append((done, total))),
    )

    assert (100, 100) == reports[-1]
    assert sorted(reports) == reports


def test_parts_of_classes_that_nobody_gave_regions_have_none():
    """All of space for each of them would send every later row to the first."""
    table = Table.build(
        pd.DataFrame({"age": [*range(8)]}),
        Schema([Column(name="age", role="quasi", type="number")]),
    )
    interleaved = Classes(np.array([0, 2, 4, 6, 1, 3, 5, 7]), np.array([0, 4, 8]))

    result = Mondrian().partition(table, interleaved, Guard([AtLeast(k=2)]), StageContext())

    assert [2, 2, 2, 2] == result.sizes.tolist()
    assert result.regions is None
