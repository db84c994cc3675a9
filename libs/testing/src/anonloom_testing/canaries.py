"""Tables whose cells occur nowhere by chance: where one turns up, it came from the table.

Texts are long random words, numbers have nine digits, moments are to the minute and lie before
1930, so that neither counts nor sizes nor clocks nor digests are taken for one. Most cells are of
one row, as those of people are; some are shared. The columns have the names and the roles of
`anonloom_testing.tables`, and there are a few more: ``admitted`` (a date), ``seen`` (a time),
``cost`` (other, a number). Rows have a ``name``, too, which no schema here declares.
"""

import random
from collections.abc import Callable

import attrs

from anonloom import Column, Schema
from anonloom.hierarchies import Prefix, Widths
from anonloom_testing.tables import Sample

#: What scenarios with these tables are marked with.
CANARIES = "canaries"
#: The seed of these scenarios: it must not be said either, and is like no other number.
SEED = 748_213_956

ROWS = 120
#: Where numbers lie close together.
_CROWDED = 523_477_923
#: Letters that are escaped in HTML, JSON, CSV and URLs; each word gets one of them.
_ESCAPED = ("ü", "&", "<", '"', "'", ",", "é", " ", "%", "ß")


def _word(rng: random.Random, first: str = "") -> str:
    letters = first + "".join(rng.choice("bcdfghjklmnpqrstvwxz") for _ in range(16 - len(first)))
    return letters[:5] + rng.choice(_ESCAPED) + letters[5:]


def _number(rng: random.Random) -> int:
    # The last digit is such that one more or one less has nine digits that count, too.
    return rng.randrange(10_000_000, 99_999_999) * 10 + rng.randrange(3, 8)


def _decimal(rng: random.Random) -> float:
    return float(f"{rng.randrange(10_000, 99_999)}.{rng.randrange(100, 999)}{rng.randrange(3, 8)}")


def _day(rng: random.Random) -> str:
    # Far from the ends of months: the day beside one is no bound of the calendar.
    return f"{rng.randrange(1880, 1930)}-{rng.randrange(1, 13):02}-{rng.randrange(4, 27):02}"


def _moment(rng: random.Random) -> str:
    return f"{_day(rng)} {rng.randrange(1, 23):02}:{rng.randrange(1, 59):02}:00"


def _rows(seed: int) -> list[dict[str, object]]:
    rng = random.Random(seed)
    few = [_word(rng) for _ in range(7)]
    shared = {
        "age": _number(rng),
        "region": _word(rng, "no"),
        "admitted": _day(rng),
        "seen": _moment(rng),
        "cost": _decimal(rng),
    }
    rows: list[dict[str, object]] = []
    for index in range(ROWS):
        row: dict[str, object] = {
            "age": _number(rng),
            "region": _word(rng, rng.choice(["no", "so", "is"])),
            "sex": rng.choice(few[:2]),
            "admitted": _day(rng),
            "seen": _moment(rng),
            "illness": rng.choice(few[2:5]),
            "outcome": rng.choice(few[5:]),
            "cost": _decimal(rng),
            "note": _word(rng),
            "name": _word(rng),
        }
        if index % 4 == 0:
            name = rng.choice(sorted(shared))
            row[name] = shared[name]
        rows.append(row)
    # What a few of the last rows have, which auditors find withheld, nobody else has.
    for row in rows[-3:]:
        row |= {"sex": _word(rng), "illness": _word(rng)}
    return rows


_SCHEMA = Schema(
    (
        Column(
            name="age",
            role="quasi",
            type="number",
            publish="nodes",
            hierarchy=Widths(widths=(50_000_000, 250_000_000)),
        ),
        Column(name="region", role="quasi", hierarchy=Prefix(keep=(2,))),
        Column(name="sex", role="quasi"),
        Column(name="admitted", role="quasi", type="date"),
        Column(name="seen", role="quasi", type="time"),
        Column(name="illness", role="sensitive"),
        Column(name="outcome", role="label"),
        Column(name="cost", role="other", type="number"),
        Column(name="note", role="other"),
    )
)


def canaries(seed: int = 41) -> Sample:
    """Return a table that is published in coarse groups: none of its bounds is a cell."""
    return Sample(_rows(seed), _SCHEMA)


def loose_canaries() -> Sample:
    """Return a table that is published in intervals and sets, whose bounds are cells of it.

    What lies between them is not published. The column ``person`` names the person of each row.
    """
    rng = random.Random(42)
    people = [_word(rng) for _ in range(ROWS - 20)]
    rows = [row | {"person": people[index % len(people)]} for index, row in enumerate(_rows(43))]
    loose = [
        attrs.evolve(column, hierarchy=None, publish=None)
        if column.name in ("age", "region")
        else column
        for column in _SCHEMA
        if column.name != "seen"
    ]
    person = Column(name="person", role="person")
    return Sample(
        [{name: cell for name, cell in row.items() if name != "seen"} for row in rows],
        Schema((*loose, person)),
    )


def crowded_canaries() -> Sample:
    """Return a table in which whatever lies between two values is one of them, rounded.

    So a threshold between them is a cell. A mean may be one here, too, by chance: it is for methods
    that divide rows and compute no such figures of them.
    """
    rows = [
        row | {"age": _CROWDED + 3 * index, "admitted": f"1893-08-{4 + index % 12 * 2:02}"}
        for index, row in enumerate(_rows(44))
    ]
    return Sample(rows, _SCHEMA)


def with_names(sample: Sample) -> Sample:
    """Return the table with its column ``name``, an identifier: it is read and never published."""
    return Sample(sample.rows, Schema((*sample.schema, Column(name="name", role="identifier"))))


#: The tables on which every method is checked for leaks.
CANARY_TABLES: tuple[Callable[[], Sample], ...] = (canaries, loose_canaries)
