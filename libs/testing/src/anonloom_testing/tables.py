"""Synthetic tables, each named for the property that it has.

Every function returns a `Sample`, built anew at each call from Python's own seeded generator, so
that a table is the same under every version of numpy. The columns that privacy models and auditors
may be told about are everywhere called ``illness`` (sensitive), ``outcome`` (label) and ``note``
(other, different in every row, so that a row can be traced); quasi-identifiers are ``age``,
``region``, ``sex`` and others that each table's docstring names.
"""

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anonloom import Column, Schema, Table
from anonloom.hierarchies import Tree, Widths
from anonloom_testing.oracle import Ancestors, Row

REGIONS = {
    "north": ["n1", "n2", "n3"],
    "south": ["s1", "s2"],
    "islands": ["i1"],
}
ILLNESSES = ("asthma", "flu", "gout", "angina")


def _row_tuple(rows: Iterable[Row]) -> tuple[Row, ...]:
    return tuple(rows)


@attrs.frozen(eq=False)
class Sample:
    """A table in the two forms that the kit needs: the product's, and plain rows for the oracle.

    Attributes
    ----------
    rows
        One dictionary per row; None is missing; a date is written ``YYYY-MM-DD``, a time
        ``YYYY-MM-DD HH:MM:SS``.
    schema
        What the columns are.
    above
        For a column with a hierarchy the labels of the groups above a value, in plain Python.
    """

    rows: tuple[Row, ...] = attrs.field(converter=_row_tuple)
    schema: Schema
    above: Mapping[str, Ancestors] = attrs.field(factory=dict)
    _built: list[Table] = attrs.field(init=False, factory=list, repr=False)

    @property
    def frame(self) -> pd.DataFrame:
        """The rows as a frame, made anew."""
        return pd.DataFrame({name: [row[name] for row in self.rows] for name in self.schema.names})

    def table(self) -> Table:
        """Return the rows as a table of their own: whoever changes it changes no other."""
        if not self._built:
            self._built.append(Table.build(self.frame, self.schema))
        built = self._built[0]
        return attrs.evolve(
            built,
            codes=built.codes.copy(),
            origin=None if built.origin is None else built.origin.copy(),
            incomplete=built.incomplete.copy(),
            frame=built.frame.copy(),
            coded={},
        )

    def take(self, order: Sequence[int]) -> "Sample":
        """Return these rows in this order."""
        return Sample([self.rows[index] for index in order], self.schema, self.above)

    @property
    def person(self) -> str | None:
        """The column that names the person, if there is one."""
        return next(iter(self.schema.names_with_role("person")), None)

    def __len__(self) -> int:
        return len(self.rows)


def _region_groups(value: object) -> list[str]:
    return [group for group, members in REGIONS.items() if value in members] + ["*"]


def _decade(value: object) -> list[str]:
    start = int(float(str(value)) // 10) * 10
    wide = start // 50 * 50
    return [f"[{start}, {start + 10})", f"[{wide}, {wide + 50})", "*"]


def calendar_groups(value: object) -> list[str]:
    """Return the units of the calendar that a date or a time lies in, from fine to coarse."""
    day, _, time = str(value).partition(" ")
    year, month, _ = day.split("-")
    hour = int(time[:2] or 0)
    within = [f"{day} {hour:02}h", f"{day} {hour // 6 * 6:02}-{hour // 6 * 6 + 6:02}h", day]
    return [
        *(within if time else ()),
        f"{year}-{month}",
        f"{year}-Q{(int(month) + 2) // 3}",
        year,
        f"{year[:3]}0s",
        "*",
    ]


_AGE = Column(name="age", role="quasi", type="number")
_REGION = Column(name="region", role="quasi", hierarchy=Tree(tree=dict(REGIONS)))
_SEX = Column(name="sex", role="quasi")
_ILLNESS = Column(name="illness", role="sensitive")
_OUTCOME = Column(name="outcome", role="label")
_NOTE = Column(name="note", role="other")
_ORDINARY = Schema((_AGE, _REGION, _SEX, _ILLNESS, _OUTCOME, _NOTE))
_ABOVE: dict[str, Ancestors] = {"region": _region_groups, "sex": lambda _: ["*"]}


def _patient(rng: random.Random, number: int) -> dict[str, object]:
    return {
        "age": rng.randint(18, 90),
        "region": rng.choice([leaf for members in REGIONS.values() for leaf in members]),
        "sex": rng.choice(["f", "m"]),
        "illness": rng.choices(ILLNESSES, weights=[4, 3, 2, 1])[0],
        "outcome": rng.choice(["well", "ill"]),
        "note": f"note {number}",
    }


def _patients(count: int, seed: int = 1) -> list[dict[str, object]]:
    rng = random.Random(seed)
    return [_patient(rng, number) for number in range(count)]


def clinic(count: int = 90, seed: int = 1) -> Sample:
    """Return an ordinary table: a number, a category with a hierarchy, a flat category."""
    return Sample(_patients(count, seed), _ORDINARY, _ABOVE)


def one_row() -> Sample:
    """Return a single row: every class is the whole table."""
    return clinic(1)


def exactly_three() -> Sample:
    """Return three rows, so that k = 3 leaves no choice at all."""
    return clinic(3, seed=5)


def one_column() -> Sample:
    """Return a table whose only quasi-identifier is ``age``."""
    return Sample(_patients(40, 2), Schema((_AGE, _ILLNESS, _OUTCOME, _NOTE)))


def all_equal() -> Sample:
    """Return twelve rows that agree in every quasi-identifier: there is nothing to cut."""
    same = {"age": 40, "region": "n1", "sex": "f"}
    return Sample([row | same for row in _patients(12, 3)], _ORDINARY, _ABOVE)


def ties() -> Sample:
    """Return rows that share very few values, most of them exactly the median."""
    rng = random.Random(4)
    ages = [30] * 30 + [29] * 5 + [31] * 5
    rng.shuffle(ages)
    rows = _patients(40, 4)
    return Sample(
        [row | {"age": age} for row, age in zip(rows, ages, strict=True)], _ORDINARY, _ABOVE
    )


def missing_values() -> Sample:
    """Return a table in which quasi-identifiers, and the illness, are missing here and there."""
    rng = random.Random(6)
    rows = _patients(60, 6)
    for row in rows:
        for name in ("age", "region", "sex", "illness"):
            if rng.random() < 0.2:
                row[name] = None
    return Sample(rows, _ORDINARY, _ABOVE)


def incomplete_rows() -> Sample:
    """Return a table whose column ``age`` says ``missing: suppress``, with a few such rows."""
    rows = _patients(40, 7)
    for row in rows[::9]:
        row["age"] = None
    columns = (attrs.evolve(_AGE, missing="suppress"), *_ORDINARY.columns[1:])
    return Sample(rows, Schema(columns), _ABOVE)


def many_columns() -> Sample:
    """Return a table with 24 quasi-identifiers, ``q0`` to ``q23``: nearly every row is unique."""
    rng = random.Random(8)
    names = [f"q{index}" for index in range(24)]
    rows = [
        row
        | {
            name: rng.randint(0, 5) if index % 2 else rng.choice("abc")
            for index, name in enumerate(names)
        }
        for row in _patients(40, 8)
    ]
    quasi = [
        Column(name=name, role="quasi", type="number" if index % 2 else "category")
        for index, name in enumerate(names)
    ]
    above: dict[str, Ancestors] = {name: lambda _: ["*"] for name in names[::2]}
    return Sample(rows, Schema((*quasi, _ILLNESS, _OUTCOME, _NOTE)), above)


def dates_and_bins() -> Sample:
    """Return a table with a date, ``admitted``, a time, ``seen``, and ages published as bins."""
    rng = random.Random(9)
    rows = [row | {"admitted": _day(rng)} for row in _patients(50, 9)]
    for row in rows:
        # A few of them on one day, in one hour: every unit of the calendar has something to hold.
        day, hour = rng.choice([_day(rng), "2023-12-31"]), rng.choice([0, 5, 6, 23])
        row["seen"] = f"{day} {hour:02}:{rng.randint(0, 59):02}:{rng.randint(0, 59):02}"
    age = attrs.evolve(_AGE, hierarchy=Widths(widths=(10, 50)), publish="nodes")
    admitted = Column(name="admitted", role="quasi", type="date")
    seen = Column(name="seen", role="quasi", type="time")
    return Sample(
        rows,
        Schema((age, admitted, seen, _ILLNESS, _OUTCOME, _NOTE)),
        {"age": _decade, "admitted": calendar_groups, "seen": calendar_groups},
    )


def _day(rng: random.Random) -> str:
    return f"20{rng.randint(18, 23)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}"


def published_as_sets() -> Sample:
    """Return a table whose quasi-identifiers are all published as sets."""
    columns = [
        attrs.evolve(column, publish="set") if column.role == "quasi" else column
        for column in _ORDINARY
    ]
    return Sample(_patients(40, 10), Schema(columns), _ABOVE)


def persons_with_many_rows() -> Sample:
    """Return a table in which 15 persons (column ``person``) have one to five rows each."""
    rng = random.Random(11)
    rows: list[dict[str, object]] = []
    for person in range(15):
        first = _patient(rng, 0)
        for _ in range(rng.randint(1, 5)):
            rows.append(first | {"person": f"p{person}", "note": f"note {len(rows)}"})
    rng.shuffle(rows)
    schema = Schema((*_ORDINARY.columns, Column(name="person", role="person")))
    return Sample(rows, schema, _ABOVE)


def unique_people(count: int = 120) -> Sample:
    """Return rows of which each is the only one with its age and region code.

    Published as it is, everybody who knows both finds everybody: the planted risk for auditors.
    """
    rows = [
        row | {"age": 20 + index % 60, "region": f"r{index // 60}"}
        for index, row in enumerate(_patients(count, 12))
    ]
    flat = Column(name="region", role="quasi")
    return Sample(rows, Schema((_AGE, flat, _SEX, _ILLNESS, _OUTCOME, _NOTE)))


def crowd(count: int = 240, seed: int = 13) -> Sample:
    """Return rows that share twelve combinations of quasi-identifiers, about equally often.

    Two crowds with different seeds are two independent samples of one population: neither says
    anything about a person of the other.
    """
    rng = random.Random(seed)
    rows = [
        row
        | {
            "age": (30, 50, 70)[index % 3],
            "region": ("r0", "r1")[index // 3 % 2],
            "sex": ("f", "m")[index // 6 % 2],
        }
        for index, row in enumerate(_patients(count, seed))
    ]
    rng.shuffle(rows)
    for index, row in enumerate(rows):
        row["note"] = f"note {seed}-{index}"
    flat = Column(name="region", role="quasi")
    return Sample(rows, Schema((_AGE, flat, _SEX, _ILLNESS, _OUTCOME, _NOTE)))


def townspeople(count: int = 400, seed: int = 1) -> Sample:
    """Return people of a large town, mostly unique: age, region, sex and a figure like a rent.

    Different seeds are independent samples of one population, so that one can be the control of
    another. The illness depends on age and region, and not on them alone.
    """
    rng = random.Random(seed)
    rows = []
    for number, row in enumerate(_patients(count, seed + 1000)):
        rent = round(rng.gauss(700, 180))
        likely = ILLNESSES[(int(str(row["age"])) // 30 + len(str(row["region"]))) % 4]
        illness = likely if rng.random() < 0.4 else row["illness"]
        rows.append(row | {"rent": rent, "illness": illness, "note": f"note {seed}-{number}"})
    rent_column = Column(name="rent", role="quasi", type="number")
    columns = (_AGE, _REGION, _SEX, rent_column, _ILLNESS, _OUTCOME)
    return Sample(rows, Schema(columns), _ABOVE)


#: The tables that every method that takes one must cope with.
ORDINARY_TABLES: tuple[Callable[[], Sample], ...] = (
    clinic,
    one_row,
    exactly_three,
    one_column,
    all_equal,
    ties,
    missing_values,
    incomplete_rows,
    many_columns,
    dates_and_bins,
    published_as_sets,
    persons_with_many_rows,
)


def shuffled_order(count: int, seed: int) -> list[int]:
    """Return the numbers below `count` in a random order of Python's own generator."""
    order = list(range(count))
    random.Random(seed).shuffle(order)
    return order


def as_rows(numbers: Sequence[int]) -> NDArray[np.int64]:
    """Return row numbers as `Classes` holds them."""
    return np.array(numbers, np.int64)


def plain(frame: Any, schema: Schema | None = None) -> list[dict[str, object]]:
    """Return the rows of a frame as dictionaries, in the form that `Sample.rows` has.

    Parameters
    ----------
    schema
        Says which columns are times; without it, whatever has a moment is a date.
    """
    times = () if schema is None else schema.of_type("time")
    columns = {
        str(name): [_plain_cell(cell, name in times) for cell in frame[name].tolist()]
        for name in frame
    }
    return [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]


def _plain_cell(cell: object, time: bool) -> object:
    if (
        cell is None
        or cell is pd.NaT
        or cell is pd.NA
        or (isinstance(cell, float) and cell != cell)
    ):
        return None
    if not isinstance(cell, pd.Timestamp):
        return cell
    return cell.strftime("%Y-%m-%d %H:%M:%S") if time else cell.date().isoformat()
