"""Range proofs against a slow oracle, and against a prover who holds the release and lies."""

import itertools
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from proofs_toys import Flat, bound, head_of

from anonloom.errors import IntegrityError, UsageError
from anonloom_seals.condition import Condition
from anonloom_seals.ordering import BELOW
from anonloom_seals.ranges import Range, check_range, prove_range

INCOMPLETE = "the proof leaves rows of the range out, or does not show that it leaves none out"
INFINITE = Fraction(10**30)

# --- the oracle: cells are made together with what they stand for ----------------------------

numbers = st.integers(-4, 4).map(lambda half: Fraction(half, 2))


def text_of(number):
    return str(float(number)) if number.denominator > 1 else str(number.numerator)


def interval(pair):
    low, high = sorted(pair)
    return f"[{text_of(low)}, {text_of(high)}]", low, high


def several(values):
    return (
        "{" + ", ".join(f'"{text_of(value)}"' for value in values) + "}",
        min(values),
        max(values),
    )


point = numbers.map(lambda number: (text_of(number), number, number))
spelled = st.sampled_from([("1.0", 1), ("1e0", 1), ("-0.0", 0), ("+0.2e1", 2), ("inf", INFINITE)])
cell = st.one_of(
    point,
    spelled.map(lambda pair: (pair[0], pair[1], pair[1])),
    st.tuples(numbers, numbers).map(interval),
    st.lists(numbers, min_size=1, max_size=3).map(several),
    st.just((None, None, None)),
    st.just(("*", -INFINITE, INFINITE)),
)
single = st.one_of(point, st.just((None, None, None)))


def expected(cells, low, high):
    """Which rows a reader of the release would pick, by looking at every one."""
    low, high = -INFINITE if low is None else low, INFINITE if high is None else high
    return [
        index
        for index, (text, least, most) in enumerate(cells)
        if text is not None and not (most < low or least > high)
    ]


def condition_of(low, high):
    return Condition("age", *(None if end is None else text_of(end) for end in (low, high)))


bounds = st.tuples(numbers, numbers).flatmap(
    lambda pair: st.sampled_from([tuple(sorted(pair)), (pair[0], None), (None, pair[1])])
)


def table(cells, kind="number"):
    """Rows whose second cell is their number, so that equal ages are different rows."""
    texts = [text for text, _, _ in cells]
    return {"age": (kind, texts), "id": ("category", [str(index) for index in range(len(texts))])}


def range_of(rows, condition):
    return Range.of(condition, rows.published.layout)


def ids(cells):
    return sorted(int(row[1]) for row in cells)


def prove_and_check(rows, condition):
    sought = range_of(rows, condition)
    head = head_of(rows)
    return ids(check_range(head, Flat, sought, prove_range(rows, sought)))


@given(st.one_of(st.lists(cell, max_size=8), st.lists(single, max_size=8)), bounds)
def test_the_proved_rows_are_exactly_those_that_a_scan_finds(cells, ends):
    rows = bound(table(cells), ("age",), Flat)
    assert expected(cells, *ends) == prove_and_check(rows, condition_of(*ends))


days = st.integers(0, 3).map(lambda day: date(2024, 2, 28) + timedelta(day))


@given(st.lists(st.tuples(days, days), max_size=6), days, days)
def test_dates_and_times_too(pairs, one, other):
    low, high = sorted((one, other))
    inside = [
        index for index, pair in enumerate(pairs) if not (max(pair) < low or min(pair) > high)
    ]
    for kind, end in (("date", ""), ("time", " 12:00:00")):
        cells = [(f"[{min(pair)}{end}, {max(pair)}{end}]", 0, 0) for pair in pairs]
        rows = bound(table(cells, kind), ("age",), Flat)
        assert inside == prove_and_check(rows, Condition("age", f"{low}{end}", f"{high}{end}"))


words = st.sampled_from(
    ["", "*", "A", "B", "[1, 2]", "\u00e9", "e\u0301", "\U0001f600", "\uff5e", "B\n", "30", "4"]
)


@given(st.lists(st.one_of(words, st.none()), max_size=7), words, words)
def test_categories_are_compared_as_they_are_written(texts, one, other):
    def points(text):
        return [ord(letter) for letter in ("\u00e9" if text == "e\u0301" else text)]

    low, high = sorted((one, other), key=points)
    rows = bound(table([(text, 0, 0) for text in texts], "category"), ("age",), Flat)
    inside = [
        index
        for index, text in enumerate(texts)
        if text is not None and points(low) <= points(text) <= points(high)
    ]
    assert inside == prove_and_check(rows, Condition("age", low, high))


# --- a prover who lies -------------------------------------------------------------------------


def subsets(size):
    return [
        positions
        for count in range(1, size + 1)
        for positions in itertools.combinations(range(size), count)
    ]


def accepted(head, sought, parts):
    try:
        return ids(check_range(head, Flat, sought, parts))
    except IntegrityError as error:
        refused = str(error)
    assert refused in (
        INCOMPLETE,
        "the proof does not have the parts that its condition asks for",
        "the rows of the proof are not those of its head: the root differs",
    )
    return None


POINTS = [
    [(text, text and Fraction(text), text and Fraction(text)) for text in texts]
    for texts in (
        ["1"],
        [None],
        ["1", "1"],
        ["2", "1", "2", None, "2", "3"],
        ["1", "1", "1", "2", "2", "3"],
        [None, "1", None, "2"],
    )
]
STAR, NONE = ("*", -INFINITE, INFINITE), (None, None, None)
INTERVALS = [
    [interval((1, 3))],
    [STAR],
    [STAR, NONE],
    [interval((1, 1)), interval((1, 2)), interval((2, 2))],
    [interval((0, 4)), interval((1, 1)), interval((3, 4)), interval((0, 1)), interval((0, 4))],
    [STAR, interval((1, 2)), interval((2, 3)), NONE, interval((2, 3))],
    [interval((0, 1)), interval((1, 5)), STAR, interval((2, 2)), interval((1, 5)), NONE],
]
RANGES = [(1, 1), (2, 2), (1, 2), (0, 0), (5, 6), (None, 1), (2, None), (0, 9)]
RANGES = [tuple(end if end is None else Fraction(end) for end in pair) for pair in RANGES]


@pytest.mark.parametrize("cells", POINTS)
def test_no_set_of_rows_but_the_right_one_passes_for_a_range_of_single_values(cells):
    """Whoever holds the release may show any rows, honestly bound: exhaustive."""
    rows = bound(table(cells), ("age",), Flat)
    assert [(None, "low"), ("age", "low")] == list(rows.orders)
    head = head_of(rows)
    shown = [rows.show(("age", "low"), positions) for positions in subsets(len(cells))]
    for ends in RANGES:
        sought = range_of(rows, condition_of(*ends))
        answers = [accepted(head, sought, (part,)) for part in shown]
        accepted_rows = [answer for answer in answers if answer is not None]
        assert [expected(cells, *ends)] == accepted_rows


@pytest.mark.parametrize("cells", INTERVALS)
def test_no_two_sets_of_rows_but_right_ones_pass_for_a_range_of_intervals(cells):
    """Every subset in either order: exhaustive; rows outside may be shown in vain."""
    rows = bound(table(cells), ("age",), Flat)
    assert [(None, "low"), ("age", "low"), ("age", "high")] == list(rows.orders)
    head = head_of(rows)
    lows = [rows.show(("age", "low"), positions) for positions in subsets(len(cells))]
    highs = [rows.show(("age", "high"), positions) for positions in subsets(len(cells))]
    for ends in RANGES if len(cells) < 6 else RANGES[:3]:
        sought = range_of(rows, condition_of(*ends))
        truth = expected(cells, *ends)
        accepted_rows = {
            tuple(result) for result in _answers(head, sought, lows, highs) if result is not None
        }
        assert {tuple(truth)} == accepted_rows


def _answers(head, sought, lows, highs):
    for parts in itertools.product(lows, highs):
        yield accepted(head, sought, parts)


def test_no_other_orders_pass():
    """Every sequence of at most two orders, every subset of each, under every name: exhaustive."""
    cells = [interval((1, 3)), interval((0, 1)), interval((2, 2))]
    columns = table(cells) | {"day": ("number", ["2", "1", "3"])}
    rows = bound(columns, ("age", "day"), Flat)
    head = head_of(rows)
    places = list(rows.orders)
    assert [(None, "low"), ("age", "low"), ("age", "high"), ("day", "low")] == places
    parts = [
        attrs.evolve(rows.show(order, positions), attribute=name, end=end)
        for order in places
        for positions in subsets(3)
        for name, end in places
    ]
    honest = range_of(rows, Condition("age", "2", "2"))
    accepted_rows = set()
    for count in (0, 1):
        accepted_rows |= {
            tuple(accepted(head, honest, pair) or ("none",))
            for pair in itertools.combinations(parts, count)
        }
    for part in parts:
        if (part.attribute, part.end) != ("age", "low"):
            # Whatever follows: a part under another name is refused before it is looked at.
            assert None is accepted(head, honest, (part, parts[0]))
            continue
        accepted_rows |= {
            tuple(accepted(head, honest, (part, other)) or ("none",)) for other in parts
        }
    assert {("none",), (0, 2)} == accepted_rows


@settings(max_examples=40)
@given(st.lists(cell, min_size=1, max_size=6), bounds, st.data())
def test_a_row_that_is_left_out_of_an_honest_proof_is_missed(cells, ends, data):
    rows = bound(table(cells), ("age",), Flat)
    head, sought = head_of(rows), range_of(rows, condition_of(*ends))
    parts = list(prove_range(rows, sought))
    which = data.draw(st.integers(0, len(parts) - 1))
    dropped = data.draw(st.sampled_from(parts[which].positions))
    rest = [index for index in parts[which].positions if index != dropped]
    if rest:
        parts[which] = rows.show((parts[which].attribute, parts[which].end), rest)
        assert accepted(head, sought, parts) in (None, expected(cells, *ends))


def test_rows_that_only_bound_the_range_may_be_needed_to_show_that_it_is_empty():
    rows = bound(table([("1", 1, 1), ("3", 3, 3)]), ("age",), Flat)
    sought = range_of(rows, Condition("age", "2", "2"))
    (part,) = prove_range(rows, sought)
    assert (0, 1) == part.positions
    assert [] == check_range(head_of(rows), Flat, sought, (part,))


def test_an_empty_release_has_no_rows_in_any_range():
    rows = bound(table([]), ("age",), Flat)
    sought = range_of(rows, Condition("age", "2", "2"))
    assert () == prove_range(rows, sought)
    assert [] == check_range(head_of(rows), Flat, sought, ())


# --- refusals ----------------------------------------------------------------------------------


def refusal(call, *given_):
    with pytest.raises((IntegrityError, UsageError)) as caught:
        call(*given_)
    return str(caught.value)


@pytest.fixture
def three():
    return bound(table([("1", 1, 1), ("2", 2, 2), ("3", 3, 3)]), ("age",), Flat)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("weight = 1", "there is no column 'weight'\n    There are: age, id."),
        ("age = old", "the bound 'old' is no number\n    Write it as 30 or 1.5."),
        ("age between 2 and 1", "the condition 'age between 2 and 1' ends before it begins"),
        ("id between b and a", "the condition 'id between b and a' ends before it begins"),
    ],
)
def test_conditions_that_make_no_sense(three, text, message):
    assert message == refusal(range_of, three, Condition.read(text))


def test_a_column_is_found_however_its_name_is_composed():
    rows = bound({"caf\u00e9": ("number", ["1"])}, ("cafe\u0301",), Flat)
    sought = range_of(rows, Condition("cafe\u0301", "1", None))
    assert Range("caf\u00e9", (1, Decimal(1)), (2, 0)) == sought
    assert 1 == len(check_range(head_of(rows), Flat, sought, prove_range(rows, sought)))


def test_only_indexed_columns_have_ranges(three):
    what = "the release is not indexed by 'id', so nothing can be said of all its rows"
    sought = range_of(three, Condition.read("id = 1"))
    assert f"{what}\n    It is indexed by: age." == refusal(prove_range, three, sought)
    bare = bound(table([("1", 1, 1)]), (), Flat)
    assert f"{what}\n    Seal it with 'index: [id]'." == refusal(prove_range, bare, sought)
    assert "the proof uses an order of the rows that its head does not have" == refusal(
        check_range, head_of(three), Flat, sought, ()
    )


def test_parts_that_do_not_fit(three):
    sought = range_of(three, Condition.read("age = 2"))
    head = head_of(three)
    ask = "the proof does not have the parts that its condition asks for"
    (part,) = prove_range(three, sought)
    assert ask == refusal(check_range, head, Flat, sought, ())
    assert ask == refusal(check_range, head, Flat, sought, (part, part))
    by_file = three.show((None, "low"), [0, 1, 2])
    assert ask == refusal(check_range, head, Flat, sought, (by_file,))
    empty = bound(table([]), ("age",), Flat)
    assert ask == refusal(check_range, head_of(empty), Flat, sought, (part,))
    less = three.show(("age", "low"), [0, 1])
    assert INCOMPLETE == refusal(check_range, head, Flat, sought, (less,))


def forged(columns, orders):
    """Bind rows in an order of the forger's, as a publisher could."""
    rows = bound(columns, ("age",), Flat)
    leaves = rows.orders[None, "low"].structure.leaves
    made = dict(rows.orders)
    for place, numbers_ in orders.items():
        structure = Flat(b"".join(leaves[number] for number in numbers_))
        made[place] = attrs.evolve(rows.orders[None, "low"], structure=structure, rows=numbers_)
    return attrs.evolve(rows, orders=made)


def test_a_publisher_who_sorts_wrongly_is_noticed_where_it_shows():
    what = "the rows of the proof are not sorted as its head says"
    columns = table([("1", 1, 1), ("2", 2, 2), ("3", 3, 3)])
    rows = forged(columns, {("age", "low"): [1, 0, 2]})
    sought = Range("age", BELOW, (1, Decimal(9)))
    part = rows.show(("age", "low"), [0, 1, 2])
    assert what == refusal(check_range, head_of(rows), Flat, sought, (part,))
    # One order is enough for single values only.
    rows = bound(table([interval((1, 3)), interval((2, 2))]), ("age",), Flat)
    del rows.orders["age", "high"]
    part = rows.show(("age", "low"), [0, 1])
    assert what == refusal(check_range, head_of(rows), Flat, sought, (part,))


def test_a_group_has_no_place_in_a_range():
    rows = bound(table([("young", 0, 0)]), (), Flat)
    leaves = {("age", "low"): rows.orders[None, "low"]}
    rows = attrs.evolve(rows, orders={**rows.orders, **leaves})
    part = rows.show(("age", "low"), [0])
    sought = Range("age", BELOW, (1, Decimal(9)))
    assert "a row of the proof has a cell whose ends nobody can know" == refusal(
        check_range, head_of(rows), Flat, sought, (part,)
    )
