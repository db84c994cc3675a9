"""Values that people take for one another are said, by column and count, never by value."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonloom import Column, Schema, Table
from anonloom.hierarchies import Tree
from anonloom_runner.lookalikes import lookalike_warnings, skeleton


def said(cells: list[object], dtype: object = object, **column: object) -> list[str]:
    frame = pd.DataFrame({"it": pd.Series(cells, dtype=dtype)})
    return lookalike_warnings(Table.build(frame, Schema([Column(name="it", **column)])))


def spelt(values: int, of: int, counted: str = "") -> str:
    return (
        f"Column 'it': {values} of {of} values differ from another one only by capitals, blanks or "
        f"the form of Unicode.{counted}"
    )


def alike(values: int, of: int) -> str:
    return (
        f"Column 'it': {values} of {of} values look like another one, with letters of different "
        "alphabets, 0 and O, or 1, l and I."
    )


ONE = " Models count them as one."


@pytest.mark.parametrize(("role", "counted"), [("quasi", ""), ("sensitive", ONE), ("person", ONE)])
def test_capitals_and_blanks(role: str, counted: str) -> None:
    cells = ["flu", "Flu ", "FLU", "cold", "c old", None, "flu"]
    assert [spelt(3, 5, counted)] == said(cells, role=role, missing="suppress")
    assert [spelt(3, 5, counted)] == said(cells, "category", role=role, missing="suppress")
    assert [spelt(3, 5, counted)] == said(cells, "str", role=role, missing="suppress")


def test_values_that_a_hierarchy_lists_are_counted_as_they_are() -> None:
    tree = Tree(tree={"x": ["flu", "Flu"]})
    assert [spelt(2, 2)] == said(["flu", "Flu"], role="sensitive", hierarchy=tree)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Anna", "\u0410nna"),  # Cyrillic
        ("anna", "\u0410nna"),
        ("OPA", "\u039f\u03a1\u0391"),  # Greek
        ("B0", "BO"),
        ("I10", "l10"),
        ("I10", "110"),
        ("a-b", "a\u2013b"),
        ("o'neil", "o\u2019neil"),
        ("\u00eb", "\u0435\u0308"),  # a Cyrillic letter with an accent of its own
        ("\u06cc", "\u064a"),  # yeh of Persian and of Arabic
        ("\u06f4", "\u0664"),  # four
    ],
)
def test_letters_of_other_alphabets(one: str, other: str) -> None:
    assert [alike(2, 3)] == said([one, other, "something else"], role="quasi")


@pytest.mark.parametrize(
    "cells",
    [
        ["IL", "LI", "AL", "AI", "LA"],
        ["L", "I"],
        ["Z", "2", "S", "5", "B", "8"],
        ["b", "6", "g", "9"],
        ["m", "rn"],
        ["\u0430", "\u0431"],
        ["a", "\u00e4", "\u00e1"],
    ],
)
def test_what_looks_different_is_different(cells: list[str]) -> None:
    assert [] == said(cells, role="quasi")


def test_both_are_said() -> None:
    cells = ["flu", "Flu", "f\u0406u", "fIu"]
    assert [spelt(2, 4), alike(4, 4)] == said(cells, role="quasi")


@pytest.mark.parametrize("role", ["label", "other", "group", "truth", "identifier"])
def test_columns_where_it_does_not_matter_are_left_alone(role: str) -> None:
    assert [] == said(["a", "A", "\u0410"], role=role)


def test_numbers_have_no_capitals() -> None:
    assert [] == said([1, 1.0, 2], role="quasi", type="number")
    assert [] == said([1, 1.0, "1", True, 2], role="sensitive")


def test_categories_that_do_not_occur_are_nobodys() -> None:
    frame = pd.DataFrame({"it": pd.Categorical(["a", "b"], ["a", "A", "b"])})
    for role in ("quasi", "sensitive"):
        assert [] == lookalike_warnings(Table.build(frame, Schema([Column(name="it", role=role)])))


@given(st.lists(st.text(max_size=4), min_size=1, max_size=8))
def test_no_value_is_ever_said(cells: list[str]) -> None:
    for text in said([f"canary{cell}" for cell in cells], role="person"):
        assert "canary" not in text


@given(st.text())
def test_a_text_looks_like_itself(text: str) -> None:
    assert skeleton(text) == skeleton(f" {text}\u200b ")
