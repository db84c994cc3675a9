"""Hypothesis strategies: random tables, classes and demands for property tests.

Hypothesis is needed only by those who import this module.
"""

from datetime import datetime
from typing import Any

from hypothesis import strategies as st

from anonloom import Column, Schema
from anonloom_testing.oracle import Ancestors
from anonloom_testing.privacy_cases import Demand
from anonloom_testing.tables import ILLNESSES, Sample, calendar_groups

_NUMBERS = st.one_of(
    st.integers(-5, 5),
    st.integers(-(10**6), 10**6),
    st.floats(-1e6, 1e6, allow_nan=False).map(lambda x: round(x, 3)),
)
_TIMES = st.datetimes(datetime(2019, 12, 30), datetime(2020, 3, 2)).map(
    lambda moment: moment.strftime("%Y-%m-%d %H:%M:%S")
)
_LETTERS = st.sampled_from("abcdef")

_VALUES = {"number": _NUMBERS, "category": _LETTERS, "time": _TIMES}


@st.composite
def samples(draw: Any, max_rows: int = 40, missing: bool = True) -> Sample:
    """Draw a table: one to four quasi-identifiers (number, category, time), ties and gaps.

    Parameters
    ----------
    max_rows
        Greatest number of rows; there is at least one.
    missing
        Whether quasi-identifiers may be missing.
    """
    kinds = draw(st.lists(st.sampled_from(["number", "category", "time"]), min_size=1, max_size=4))
    count = draw(st.integers(1, max_rows))
    columns: list[Column] = []
    cells: dict[str, list[object]] = {}
    above: dict[str, Ancestors] = {}
    for index, kind in enumerate(kinds):
        name = f"q{index}"
        form = draw(st.sampled_from([None, "set", *(["interval"] if kind == "time" else [])]))
        columns.append(Column(name=name, role="quasi", type=kind, publish=form))
        values: Any = _VALUES[kind]
        if missing and draw(st.booleans()):
            values = st.one_of(values, st.none())
        cells[name] = draw(st.lists(values, min_size=count, max_size=count))
        if kind == "category":
            above[name] = lambda _: ["*"]
        elif kind == "time":
            above[name] = calendar_groups
    columns.append(Column(name="illness", role="sensitive"))
    cells["illness"] = draw(st.lists(st.sampled_from(ILLNESSES), min_size=count, max_size=count))
    rows = [{name: cells[name][index] for name in cells} for index in range(count)]
    return Sample(rows, Schema(columns), above)


def demands() -> Any:
    """Draw a demand: k, with distinct illnesses, closeness or a sampler in some cases."""
    return st.builds(
        Demand,
        k=st.integers(1, 6),
        distinct=st.one_of(st.none(), st.integers(1, 3)),
        close=st.one_of(st.none(), st.floats(0.1, 1.0)),
        halved=st.booleans(),
    )


@st.composite
def divisions(draw: Any, count: int) -> tuple[list[list[int]], list[int]]:
    """Draw classes of some of the rows below `count`, and suppressed rows."""
    order = draw(st.permutations(range(count)))
    labels = draw(st.lists(st.integers(-2, 4), min_size=count, max_size=count))
    classes: dict[int, list[int]] = {}
    suppressed = []
    for row, label in zip(order, labels, strict=True):
        if label >= 0:
            classes.setdefault(label, []).append(row)
        elif label == -1:
            suppressed.append(row)
    return list(classes.values()), suppressed
