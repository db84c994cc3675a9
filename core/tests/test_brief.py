"""What objects show of themselves: what they are and how large, never what they hold."""

from pathlib import Path

import attrs
import numpy as np
import pandas as pd
import pytest

from anonloom import param, short_repr
from anonloom._representation import brief


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "None"),
        (7, "7"),
        (0.5, "0.5"),
        ("words", "'words'"),
        ("x" * 200, "'" + "x" * 77 + "…'"),
        (Path("table.csv"), "'table.csv'"),
        (b"key", "<3 bytes>"),
        (np.zeros((3, 4)), "<ndarray of 3 x 4>"),
        (np.array(5), "<ndarray of one>"),
        (pd.DataFrame({"a": [1, 2]}), "<DataFrame of 2 x 1>"),
        (["secret"], "<list of 1>"),
        ({"a": 1, "b": 2}, "<dict of 2>"),
        (object(), "<object>"),
    ],
)
def test_a_value_is_shown_itself_only_where_it_is_one_figure_or_word(value, shown):
    assert shown == brief(value)


@short_repr
@attrs.frozen(eq=False)
class Holds:
    rows: object
    key: bytes = attrs.field(default=b"k", repr=False)

    def __len__(self):
        return 9


def test_an_object_shows_its_size_and_no_field_that_is_kept_back():
    assert "Holds(len=9, rows=<list of 3>)" == repr(Holds([1, 2, 3]))


def test_many_fields_are_cut():
    many = short_repr(attrs.make_class("Many", [f"field{index}" for index in range(200)]))
    assert 600 == len(repr(many(*range(200))))


@attrs.frozen(kw_only=True)
class Method:
    values: tuple[int, ...] = param(help="Many.", default=())
    key: str = param(help="A secret.", default="hush", private=True)


def test_a_long_parameter_is_shown_by_its_size():
    assert "Method(values=(1, 2))" == repr(Method(values=(1, 2)))
    assert "Method(values=<tuple of 500>)" == repr(Method(values=tuple(range(500))))
