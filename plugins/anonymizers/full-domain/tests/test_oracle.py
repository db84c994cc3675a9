"""Both partitioners find what plain Python finds that works on raw cells and tries everything."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom import Classes, Column, Guard, Schema, StageContext, Table
from anonloom.hierarchies import Tree
from anonloom_full_domain.full_domain import FullDomain
from anonloom_full_domain.local_recoding import LocalRecoding
from anonloom_testing.privacy_cases import AtLeast, DistinctValues, WithinDistance, half_of

TOWNS = {"north": ["a", "b", "c"], "south": ["d", "e"], "f": None}
ABOVE = {"a": "north", "b": "north", "c": "north", "d": "south", "e": "south", "f": "f"}


# --- tables and guards ---------------------------------------------------------------------------


@st.composite
def tables(draw, most=30):
    cells = st.tuples(
        st.sampled_from([None, 1, 2, 3, 5, 8, 30]),
        st.sampled_from([None, *"abcdef"]),
        st.sampled_from("fm"),
        st.sampled_from("xyz"),
        st.integers(0, 8),
    )
    rows = draw(st.lists(cells, min_size=1, max_size=most))
    frame = pd.DataFrame(rows, columns=["age", "town", "sex", "illness", "person"])
    weights = draw(st.sampled_from([(1.0, 1.0, 1.0), (3.0, 0.5, 1.3)]))
    columns = [
        Column(
            name="age",
            role="quasi",
            type="number",
            weight=weights[0],
            publish=draw(st.sampled_from(["interval", "set"])),
        ),
        Column(
            name="town",
            role="quasi",
            hierarchy=Tree(tree=TOWNS),
            weight=weights[1],
            publish=draw(st.sampled_from(["nodes", "set"])),
        ),
        Column(name="sex", role="quasi", weight=weights[2]),
        Column(name="illness", role="sensitive"),
    ]
    if draw(st.booleans()):
        columns.append(Column(name="person", role="person"))
    return Table.build(frame, Schema(columns))


@st.composite
def guards(draw):
    models = [AtLeast(k=draw(st.integers(1, 5)))]
    if draw(st.booleans()):
        models.append(DistinctValues(l=2, of="illness"))
    return Guard(models, half_of) if draw(st.booleans()) else Guard(models)


@st.composite
def starts(draw, count):
    """Draw given classes: some rows in up to two classes, some suppressed, some absent."""
    label = draw(st.lists(st.sampled_from([0, 0, 0, 1, -1, -2]), min_size=count, max_size=count))
    members = [[row for row in range(count) if label[row] == index] for index in range(2)]
    members = [rows for rows in members if rows]
    suppressed = np.array([row for row in range(count) if label[row] == -1], np.int64)
    rows = np.array([row for rows in members for row in rows], np.int64)
    bounds = np.append(0, np.cumsum([len(rows) for rows in members])).astype(np.int64)
    return Classes(rows, bounds, suppressed)


# --- levels --------------------------------------------------------------------------------------


def raw(table, name):
    return [None if pd.isna(cell) else cell for cell in table.column(name)]


def levels(table, name):
    """Return for every level what each occurring cell becomes: the set of cells it lies with."""
    occurring = set(raw(table, name))
    values = {cell for cell in occurring if cell is not None}
    if name == "age":
        names = [lambda cell: cell, *(binned(values, bins) for bins in (16, 8, 4, 2, 1))]
    elif name == "town":
        names = [lambda cell: cell, ABOVE.get, lambda cell: "*"]
    else:
        names = [lambda cell: cell, lambda cell: "*"]
    results = []
    for name_of in names:
        with_it = {c: frozenset(d for d in values if name_of(d) == name_of(c)) for c in values}
        if None in occurring:
            with_it[None] = frozenset([None])
        results.append(with_it)
    if None in occurring:
        results.append(dict.fromkeys(occurring, frozenset(occurring)))
    return results


def binned(values, bins):
    least, width = min(values, default=0), max(values, default=0) - min(values, default=0)
    return lambda cell: min(int((cell - least) / (width or 1) * bins), bins - 1)


def loss(table, name, cells):
    """Return what is lost when a cell of the table is published as one of these."""
    values = {cell for cell in raw(table, name) if cell is not None}
    if len(cells) == 1:
        return 0.0
    if None in cells:
        return 1.0 if values else 0.0
    if table.schema[name].form == "interval":
        return (max(cells) - min(cells)) / (max(values) - min(values))
    return len(cells) / len(values)


def boxes(table, classes, chosen):
    """Return the rows of every box of a node: {box: rows}; a box does not leave a given class."""
    columns = {name: raw(table, name) for name in chosen}
    results = {}
    for index in range(len(classes)):
        for row in classes.members(index).tolist():
            box = (index, *(chosen[name][columns[name][row]] for name in chosen))
            results.setdefault(box, []).append(row)
    return results


def box_loss(table, box):
    """Return what a row of a box loses, by the columns' weights."""
    weight = {name: table.schema[name].weight for name in table.schema.quasi}
    lost = [
        weight[name] * loss(table, name, cells)
        for name, cells in zip(table.schema.quasi, box[1:], strict=True)
    ]
    return sum(lost) / sum(weight.values())


def nodes(table):
    names = table.schema.quasi
    for chosen in product(*(levels(table, name) for name in names)):
        yield dict(zip(names, chosen, strict=True))


def admitted(table, rows, guard):
    return bool(guard.admits(table, np.array(rows), np.array([0]), np.array([len(rows)]))[0])


# --- full-domain ---------------------------------------------------------------------------------


def least_loss(table, classes, guard, share):
    """Return the least sum of losses over all nodes that suppress few enough rows."""
    whole = [classes.members(index).tolist() for index in range(len(classes))]
    unavoidable = sum(len(rows) for rows in whole if not admitted(table, rows, guard))
    allowed = int(share * classes.total + 1e-9) - len(classes.suppressed)
    results = []
    for chosen in nodes(table):
        lost, refused = 0.0, 0
        for box, rows in boxes(table, classes, chosen).items():
            good = admitted(table, rows, guard)
            refused += 0 if good else len(rows)
            lost += len(rows) * box_loss(table, box) if good else len(rows)
        if refused <= max(allowed, unavoidable):
            results.append(lost)
    return min(results)


def region_loss(table, classes, given):
    """Return the sum of losses of what is published, and of rows that were suppressed."""
    weights = np.array([axis.weight for axis in table.axes])
    lost = np.zeros(len(classes))
    for index, axis in enumerate(table.axes):
        region = axis.loss(classes.regions.lo[:, index], classes.regions.hi[:, index])
        lost += region * weights[index] / weights.sum()
    return lost @ classes.sizes + len(classes.suppressed) - len(given.suppressed)


SHARES = st.sampled_from([0.0, 0.1, 0.3, 1.0])


@given(table=tables(), guard=guards(), share=SHARES, data=st.data())
@settings(deadline=None, max_examples=80)
def test_no_other_combination_of_levels_loses_less(table, guard, share, data):
    classes = data.draw(starts(len(table)))
    if not len(classes):
        return

    result = FullDomain(suppress_at_most=share).partition(table, classes, guard, StageContext())

    least = least_loss(table, classes, guard, share)
    assert region_loss(table, result, classes) == pytest.approx(least, abs=1e-9)


@given(table=tables(), k=st.integers(1, 4), t=st.sampled_from([0.2, 0.5]), share=SHARES)
@settings(deadline=None, max_examples=50)
def test_closeness_is_not_taken_for_a_size(table, k, t, share):
    """A part of a refused class may be admitted: tags that sizes allow would be wrong here."""
    guard = Guard([AtLeast(k=k), WithinDistance(t=t, of="illness")])
    classes = table.whole()

    result = FullDomain(suppress_at_most=share).partition(table, classes, guard, StageContext())

    least = least_loss(table, classes, guard, share)
    assert region_loss(table, result, classes) == pytest.approx(least, abs=1e-9)


def falls_in_between(sizes):
    """A sampler that keeps much of small classes, nothing of classes of 5 to 8, all of others."""
    sizes = np.asarray(sizes, np.int64)
    return np.where((sizes > 4) & (sizes < 9), 0, sizes)


@given(table=tables(), share=SHARES)
@settings(deadline=None, max_examples=50)
def test_larger_classes_may_be_worse_for_a_sampler(table, share):
    guard, classes = Guard([AtLeast(k=3)], falls_in_between), table.whole()

    result = FullDomain(suppress_at_most=share).partition(table, classes, guard, StageContext())

    least = least_loss(table, classes, guard, share)
    assert region_loss(table, result, classes) == pytest.approx(least, abs=1e-9)


@given(table=tables(), guard=guards(), share=SHARES)
@settings(deadline=None, max_examples=40)
def test_equal_values_are_published_equally(table, guard, share):
    result = FullDomain(suppress_at_most=share).partition(
        table, table.whole(), guard, StageContext()
    )

    assert result.global_recoding
    for index in range(len(table.axes)):
        published = {}
        for indice in range(len(result)):
            for code in set(table.codes[index][result.members(indice)].tolist()):
                region = (result.regions.lo[indice, index], result.regions.hi[indice, index])
                assert region == published.setdefault(code, region)
                assert region[0] <= code <= region[1]


@given(table=tables(), guard=guards(), share=SHARES)
@settings(deadline=None, max_examples=40)
def test_a_greedy_search_never_beats_the_exact_one(table, guard, share):
    classes = table.whole()
    exact = FullDomain(suppress_at_most=share)
    greedy = FullDomain(suppress_at_most=share, most_nodes=1)

    best = exact.partition(table, classes, guard, StageContext())
    result = greedy.partition(table, classes, guard, StageContext())

    lost = [region_loss(table, item, classes) for item in (best, result)]
    assert lost[0] <= lost[1] + 1e-9


# --- local recoding ------------------------------------------------------------------------------


def all_boxes(table, classes):
    """Return every box of every node with its rows; each stands once."""
    results = {}
    for chosen in nodes(table):
        results |= boxes(table, classes, chosen)
    return results


@given(table=tables(), guard=guards(), data=st.data())
@settings(deadline=None, max_examples=50)
def test_every_class_was_the_best_box_when_it_was_published(table, guard, data):
    """Classes stand in the order in which they were published; what is left fits no box."""
    classes = data.draw(starts(len(table)))
    result = LocalRecoding(rest="suppress").partition(table, classes, guard, StageContext())

    every = {box: set(rows) for box, rows in all_boxes(table, classes).items()}
    losses = {box: box_loss(table, box) for box in every}
    left = set(classes.rows.tolist())
    for index in range(len(result) + 1):
        least = min(
            (
                losses[box]
                for box, rows in every.items()
                if rows & left and admitted(table, sorted(rows & left), guard)
            ),
            default=1.0,
        )
        if index == len(result):
            assert least >= 1 - 1e-9
            break
        members = set(result.members(index).tolist())
        own = min(losses[box] for box, rows in every.items() if rows & left == members)
        assert own == pytest.approx(least, abs=1e-9)
        left -= members
    assert left | set(classes.suppressed.tolist()) == set(result.suppressed.tolist())


def rounds(table, classes, guard, step):
    """Publish node after node, as rounds of levels do; None where two nodes are equally good."""
    order = []
    for chosen in nodes(table):
        held = boxes(table, classes, chosen)
        lost = sum(len(rows) * box_loss(table, box) for box, rows in held.items())
        order.append((lost / len(classes.rows), list(held.values())))
    order.sort(key=lambda one: one[0])
    left, published = set(classes.rows.tolist()), []
    while left:
        for lost, held in order:
            parts = [sorted(set(rows) & left) for rows in held]
            good = [rows for rows in parts if rows and admitted(table, rows, guard)]
            if lost < 1 - 1e-9 and good and sum(map(len, good)) >= step * len(left):
                if len({str(rows) for mean, rows in order if abs(mean - lost) < 1e-9}) > 1:
                    return None
                break
        else:
            break
        published += good
        left -= {row for rows in good for row in rows}
    return {frozenset(rows) for rows in published}


@given(table=tables(), guard=guards(), step=st.sampled_from([0.0, 0.2, 0.6, 1.0]), data=st.data())
@settings(deadline=None, max_examples=50)
def test_rounds_of_levels_take_the_first_node_with_enough_rows(table, guard, step, data):
    classes = data.draw(starts(len(table)))
    if not len(classes):
        return
    expected = rounds(table, classes, guard, step)
    if expected is None:
        return
    method = LocalRecoding(rounds="levels", step=step, rest="suppress")

    result = method.partition(table, classes, guard, StageContext())

    assert expected == {frozenset(result.members(index).tolist()) for index in range(len(result))}


@given(table=tables(), guard=guards(), most=st.sampled_from([1, 1000]))
@settings(deadline=None, max_examples=50)
def test_regions_hold_their_rows_and_cost_no_less_than_their_levels(table, guard, most):
    result = LocalRecoding(most_nodes=most).partition(table, table.whole(), guard, StageContext())

    least, high = result.extents(table.codes)
    assert (result.regions.lo <= least).all()
    assert (high <= result.regions.hi).all()
    for index, axis in enumerate(table.axes):
        if axis.form == "nodes" and len(result):
            level = result.regions.level[:, index]
            tight = axis.publish(least[:, index], high[:, index])
            assert tight.tolist() == axis.publish(least[:, index], high[:, index], level).tolist()


@given(table=tables(), k=st.integers(1, 6))
@settings(deadline=None, max_examples=50)
def test_nothing_is_suppressed_that_sizes_admit(table, k):
    result = LocalRecoding().partition(table, table.whole(), Guard([AtLeast(k=k)]), StageContext())

    people = len(table) if table.persons is None else len(set(table.persons.tolist()))
    assert (0 if people >= k else len(table)) == len(result.suppressed)
