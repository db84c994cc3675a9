"""A part shows rows at their places; whatever does not belong together is refused."""

import attrs
import pytest
from proofs_toys import Flat, bound, head_of

from anonloom.errors import IntegrityError
from anonloom_seals.parts import Part

COLUMNS = {"age": ("number", ["3", "1", "2", "1"]), "city": ("category", ["a", "b", "c", "d"])}


@pytest.fixture
def rows():
    return bound(COLUMNS, ("age",), Flat)


@pytest.fixture
def part(rows):
    return rows.show(("age", "low"), [0, 2])


def test_a_part_comes_back(part):
    assert part == Part.read(part.plain_values())


def malformed(content):
    with pytest.raises(ValueError) as caught:  # noqa: PT011  the text is compared whole
        Part.read(content)
    return str(caught.value)


FIELDS = "one of its parts does not have exactly the fields of a part"
COUNTS = "one of its parts does not have as many salts as rows"
NUMBER = "one of its parts has a position that is no number"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"more": 1}, FIELDS),
        ({"attribute": 1}, "one of its parts names no order"),
        ({"end": "middle"}, "one of its parts names no order"),
        ({"end": ["low"]}, "one of its parts names no order"),
        ({"positions": [0]}, COUNTS),
        ({"numbers": 1}, COUNTS),
        ({"positions": [0, True]}, NUMBER),
        ({"positions": [0, 2.0]}, NUMBER),
        ({"positions": [-1, 2]}, NUMBER),
        ({"numbers": [0, 2**63]}, NUMBER),
        ({"numbers": [0, "2"]}, NUMBER),
        ({"positions": [2, 0]}, "the positions of one of its parts do not ascend"),
        ({"positions": [2, 2]}, "the positions of one of its parts do not ascend"),
        ({"salts": ["0" * 32, "0"]}, "what should be 16 bytes in hexadecimal digits is not"),
        ({"salts": ["0" * 32, "g" * 32]}, "what should be 16 bytes in hexadecimal digits is not"),
        ({"salts": ["0" * 32, 7]}, "what should be 16 bytes in hexadecimal digits is not"),
        ({"rows": ["", 1]}, "what should be base64 is no text"),
        ({"rows": ["", "é"]}, "what should be base64 is none"),
        ({"path": "a"}, "what should be base64 is none"),
        ({"path": None}, "what should be base64 is no text"),
    ],
)
def test_malformed_parts(part, changes, message):
    assert message == malformed(part.plain_values() | changes)


def test_what_is_no_part(part):
    assert FIELDS == malformed([])
    for field in part.plain_values():
        left = {name: value for name, value in part.plain_values().items() if name != field}
        assert FIELDS == malformed(left)


# --- what a part shows -------------------------------------------------------------------------


def refusal(part, head):
    with pytest.raises(IntegrityError) as caught:
        part.cells(head, Flat)
    return str(caught.value)


ROOT = "the rows of the proof are not those of its head: the root differs"
NONE = "the proof shows no row, or one beyond the 4 of its head"


def test_rows_are_shown(rows, part):
    assert [(1, "b"), (2, "c")] == part.cells(head_of(rows), Flat)


def test_nothing_of_a_part_can_be_changed(rows, part):
    head = head_of(rows)
    swapped = {name: getattr(part, name)[::-1] for name in ("numbers", "salts", "rows")}
    changes = [
        *({name: value} for name, value in swapped.items()),
        swapped,
        {"positions": (0, 1)},
        {"positions": (1, 2)},
        {"numbers": (1, 3)},
        {"salts": (part.salts[0], bytes(16))},
        {"rows": (part.rows[0],) * 2},
        {"path": bytes(len(part.path))},
        {"attribute": None},
    ]
    for change in changes:
        assert ROOT == refusal(attrs.evolve(part, **change), head)
    # Equal cells are different rows all the same.
    twins = rows.show(("age", "low"), [0, 1])
    back = attrs.evolve(twins, **{name: getattr(twins, name)[::-1] for name in swapped})
    assert [(1, "d"), (1, "b")] == list(reversed(twins.cells(head, Flat)))
    assert ROOT == refusal(back, head)


def test_a_part_belongs_to_an_order_of_its_head(rows, part):
    head = head_of(rows)
    unknown = "the proof uses an order of the rows that its head does not have"
    for changes in ({"end": "high"}, {"attribute": "city"}, {"attribute": None, "end": "high"}):
        assert unknown == refusal(attrs.evolve(part, **changes), head)


def test_a_part_shows_rows_that_there_are(rows, part):
    head = head_of(rows)
    none = {"positions": (), "numbers": (), "salts": (), "rows": ()}
    assert NONE == refusal(attrs.evolve(part, **none), head)
    assert NONE == refusal(attrs.evolve(part, positions=(0, 4)), head)
    assert NONE == refusal(attrs.evolve(part, positions=(0, 2**63 - 1)), head)


def test_in_the_order_of_the_file_a_row_stands_at_its_number(rows):
    """Only a publisher can bind it elsewhere; then its number is not believed."""
    by_age = rows.orders["age", "low"]
    orders = {**rows.orders, (None, "low"): by_age}
    wrong = attrs.evolve(rows, orders=orders)
    assert "the proof says of a row that it stands in another place" == refusal(
        wrong.show((None, "low"), [0]), head_of(wrong)
    )


def test_rows_have_the_columns_of_the_head(rows, part):
    other = bound({"age": COLUMNS["age"]}, ("age",), Flat)
    head = attrs.evolve(head_of(rows), layout=other.published.layout)
    assert "a row is malformed: bytes follow after its last cell" == refusal(part, head)
