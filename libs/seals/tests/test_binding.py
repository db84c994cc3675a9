"""Rows are bound in every order that was asked for, and shown with what binds them."""

import pytest
from proofs_toys import SEED, Flat, bound, head_of

from anonloom.errors import UsageError
from anonloom_seals.salts import leaf_hash, salt

COLUMNS = {
    "age": ("number", ["[3, 4]", "1", "[3, 3]", None]),
    "city": ("category", ["Rome", "*", "", "Oslo"]),
}


def test_every_order_holds_the_same_leaves():
    rows = bound(COLUMNS, ("age", "city"), Flat)
    by_file = rows.orders[None, "low"]
    assert [leaf_hash(salt(SEED, index), index, row) for index, row in enumerate(rows.encoded)] == (
        by_file.structure.leaves
    )
    orders = {
        place: [order.number(position) for position in range(4)]
        for place, order in rows.orders.items()
    }
    assert {
        (None, "low"): [0, 1, 2, 3],
        ("age", "low"): [1, 0, 2, 3],
        ("age", "high"): [1, 2, 0, 3],
        ("city", "low"): [2, 1, 3, 0],
    } == orders
    for place, numbers in orders.items():
        leaves = [by_file.structure.leaves[number] for number in numbers]
        assert leaves == rows.orders[place].structure.leaves


def test_the_same_column_is_indexed_once():
    rows = bound({"caf\u00e9": ("number", ["1"])}, ("caf\u00e9", "cafe\u0301"), Flat)
    assert [(None, "low"), ("caf\u00e9", "low")] == list(rows.orders)


def test_rows_are_shown_at_their_positions():
    rows = bound(COLUMNS, ("age",), Flat)
    part = rows.show(("age", "high"), [0, 2])
    assert ((0, 2), (1, 0)) == (part.positions, part.numbers)
    assert tuple(salt(SEED, number) for number in (1, 0)) == part.salts
    assert (rows.encoded[1], rows.encoded[0]) == part.rows
    assert 2 == len(part.cells(head_of(rows), Flat))


def test_no_rows_are_bound_too():
    rows = bound({"age": ("number", [])}, ("age",), Flat)
    assert [0, 0] == [order.structure.size for order in rows.orders.values()]


def refusal(columns, index):
    with pytest.raises(UsageError) as caught:
        bound(columns, index, Flat)
    return str(caught.value)


def test_columns_that_cannot_be_indexed():
    assert (
        "column 'weight' is to be indexed, but it is not published\n"
        "    Published are: age, city." == refusal(COLUMNS, ("weight",))
    )
    assert (
        "column 'age' cannot be indexed: some of its cells are names of groups, and a reader "
        "cannot know where these begin and end\n"
        "    Publish it as intervals ('publish: interval'), or index another column."
        == refusal({"age": ("number", ["1", "young"])}, ("age",))
    )


def test_no_cell_is_in_a_representation():
    rows = bound({"age": ("category", ["secret"])}, (), Flat)
    assert "secret" not in repr(rows)
    assert "secret" not in repr(rows.show((None, "low"), [0]))
