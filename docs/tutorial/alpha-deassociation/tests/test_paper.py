"""The worked example of the tutorial: what the definition says of two wards, done by hand."""

import numpy as np
import pandas as pd

from anonloom import Classes, Column, Schema, StageContext, Table
from anonloom_alpha_deassociation.generalizer import Rounded
from anonloom_alpha_deassociation.privacy import AlphaDeassociation

#: Two wards of four people. In the second one somebody was treated twice.
ROWS = [
    ("ann", 23, "flu"),
    ("ben", 25, "flu"),
    ("cai", 31, "gout"),
    ("dee", 38, "asthma"),
    ("eva", 60, "gout"),
    ("fay", 61, "flu"),
    ("gus", 68, "flu"),
    ("gus", 68, "gout"),
    ("hal", 74, "asthma"),
]
WARDS = Classes(np.arange(9), np.array([0, 4, 9]))


def people() -> Table:
    """Return both wards as a table that knows who has several rows."""
    frame = pd.DataFrame(ROWS, columns=["name", "age", "illness"])
    columns = [
        Column(name="name", role="person"),
        Column(name="age", role="quasi", type="number"),
        Column(name="illness", role="sensitive"),
    ]
    return Table.build(frame, Schema(columns))


def test_a_share_is_one_of_persons() -> None:
    """Two of four have flu, in both wards; by rows it would be two of five in the second."""
    ranges = people(), WARDS.rows, WARDS.starts, WARDS.stops

    assert [True, True] == AlphaDeassociation(alpha=0.5, of="illness").admits(*ranges).tolist()
    assert [False, False] == AlphaDeassociation(alpha=0.4, of="illness").admits(*ranges).tolist()
    assert "alpha: 0.5" == AlphaDeassociation(alpha=0.4, of="illness").would_pass(*ranges)


def test_intervals_end_on_the_grid() -> None:
    """Ages from 23 to 74 lie on a grid of 10, the least round step that 51 has at most 10 of."""
    release = Rounded().generalize(people(), WARDS, StageContext())

    assert ["[20, 40]"] * 4 + ["[60, 80]"] * 5 == release.frame["age"].tolist()
