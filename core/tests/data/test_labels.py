"""Labels of hierarchies: a group is called something, once, and nothing that it is not."""

import datetime

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonloom import Column, Schema, Table
from anonloom.errors import DataError
from anonloom.hierarchies import Breaks, FromFile, Hierarchy, LeafTable, Prefix, Tree, Widths

OTHERS = (
    "reads like a set or an interval of other leaves than those that it stands for; call the group "
    "something else"
)
TWICE = "stands for two different groups of values; labels must be unique in a hierarchy"
BLANKS = (
    "stands for two different groups of values, told apart by blanks only; labels must be unique "
    "in a hierarchy"
)


def refusal(*levels: list[str]) -> str:
    with pytest.raises(DataError) as refused:
        Hierarchy.of_levels([*levels, ["*"] * len(levels[0])])
    return str(refused.value)


AGES = ["20", "21", "22", "30", "31"]


@pytest.mark.parametrize(
    ("leaves", "groups", "message"),
    [
        (["a", "b"], ["", "x"], "a label of a group is empty; every group needs a name"),
        (["a", "b"], ["\u200b", "x"], "a label of a group is empty; every group needs a name"),
        (["a", "b"], [" \u00a0", "x"], "a label of a group is empty; every group needs a name"),
        (["a", "b", "c"], ["x", "x ", "y"], f"label 'x ' {BLANKS}"),
        (["a", "b", "c"], ["x", "y", "x\u200b"], f"label 'x' {TWICE}"),
        (["a", "b", "c"], ["a ", "a ", "y"], f"label 'a ' {BLANKS}"),
        (["a", "b", "c"], [" *", "y", "y"], f"label '*' {BLANKS}"),
        (["a", "b", "c"], ['{"b", "c"}', "y", "y"], f'label \'{{"b", "c"}}\' {OTHERS}'),
        (["a", "b", "c"], ['{"a"}', '{"a"}', "y"], f"label '{{\"a\"}}' {OTHERS}"),
        (["a", "b", "c"], ['{"p", "q"}', "y", "y"], f'label \'{{"p", "q"}}\' {OTHERS}'),
        (["a", "b", "c"], ["[b, c]", "y", "y"], f"label '[b, c]' {OTHERS}"),
        (AGES, ["[20, 29]"] * 2 + ["x"] * 3, f"label '[20, 29]' {OTHERS}"),
        (AGES, ["[20, 21]"] * 3 + ["x"] * 2, f"label '[20, 21]' {OTHERS}"),
        (AGES, ["[20, 30]"] * 3 + ["x"] * 2, f"label '[20, 30]' {OTHERS}"),
        (AGES, ["[30, 31]"] * 3 + ["x"] * 2, f"label '[30, 31]' {OTHERS}"),
        (
            ["2024-01-31", "2024-02-01"],
            ["[2024-02-01, 2024-02-29]", "later"],
            f"label '[2024-02-01, 2024-02-29]' {OTHERS}",
        ),
    ],
)
def test_a_label_that_says_nothing_or_something_else_is_refused(
    leaves: list[str], groups: list[str], message: str
) -> None:
    assert message == refusal(leaves, groups)


def test_a_leaf_that_reads_like_other_leaves_is_refused() -> None:
    assert f'label \'{{"a", "b"}}\' {OTHERS}' == refusal(["a", "b", '{"a", "b"}'])


@pytest.mark.parametrize(
    ("leaves", "groups"),
    [
        (AGES, ["[20, 29]"] * 3 + ["[30, 39]"] * 2),
        (AGES, ["[20, 30)"] * 3 + ["[30, 40["] * 2),
        (AGES, ["20-30"] * 3 + ["30-40"] * 2),
        (["20", "unknown", "30"], ["[20, 29]", "[20, 29]", "x"]),
        (["a", "b", "c"], ['{"a", "b"}', '{"a", "b"}', "y"]),
        (["a", "b", "c"], ['{"a", "b", "never seen"}', '{"a", "b", "never seen"}', "y"]),
        (["low", "middle", "high"], ["[low, high]"] * 3),
        (["a", "b"], ["[0, 17]", "[18, 99]"]),
        (["a ", "a"], ["x", "x"]),
        (["a ", "b"], ["a", "x"]),
        (["2024-01-31", "2024-02-01"], ["[2024-01-01, 2024-01-31]", "later"]),
    ],
)
def test_a_label_may_say_what_it_stands_for(leaves: list[str], groups: list[str]) -> None:
    hierarchy = Hierarchy.of_levels([leaves, groups, ["*"] * len(leaves)])
    assert {*leaves, *groups, "*"} == set(hierarchy.labels)


def test_labels_are_published_in_their_form() -> None:
    hierarchy = Hierarchy.of_levels([["a", "b"], ["x\u200b", "cafe\u0301\n"], ["*", "*"]])
    assert {"a", "b", "x", "caf\u00e9 ", "*"} == set(hierarchy.labels)


@given(st.integers(-50, 50), st.integers(1, 60), st.booleans(), st.integers(0, 40))
def test_an_interval_is_refused_unless_it_holds_exactly_its_leaves(
    lo: int, width: int, closed: bool, cut: int
) -> None:
    leaves = list(range(-40, 41))
    own = [leaf for leaf in leaves if lo <= leaf < lo + width + closed]
    label = f"[{lo}, {lo + width}{']' if closed else ')'}"
    group = [leaf for leaf in leaves if leaf in own]
    # Moved, the group is another one, unless nothing of it was left.
    moved = [leaf + 1 for leaf in group if leaf + 1 in leaves][cut:]
    for members in (group, moved):
        if not members:
            continue
        levels = [
            [str(leaf) for leaf in leaves],
            [label if leaf in members else f"x{leaf}" for leaf in leaves],
            ["*"] * len(leaves),
        ]
        if members == own:
            Hierarchy.of_levels(levels)
        else:
            assert f"label '{label}' {OTHERS}" == refusal(*levels[:-1])


# --- files, trees and builders ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a;x;*\n;x;*\n", "row 2 has an empty label; every one needs a name"),
        ("a;;*\nb;x;*\n", "row 1 has an empty label; every one needs a name"),
        ("a;\u2060;*\n", "row 1 has an empty label; every one needs a name"),
        ("a;x;*\na\u200b;y;*\n", "row 2 repeats a leaf; every leaf stands once"),
        ("a;x;*\nb;y;*\nc;x\u00ad;*\nd;y;*\n", None),
        ("a;x;p;*\nb;x\u200b;q;*\n", "label 'x' has two parents; a hierarchy is a tree"),
        ("20;[30, 39];*\n30;x;*\n", f"label '[30, 39]' {OTHERS}"),
    ],
)
def test_files(tmp_path, text: str, message: str | None) -> None:
    path = tmp_path / "file.csv"
    path.write_text(text, encoding="utf-8")
    if message is None:
        rows = FromFile(path=path).table().rows
        assert [("a", "x"), ("b", "y"), ("c", "x"), ("d", "y")] == [row[:2] for row in rows]
        return
    with pytest.raises(DataError) as refused:
        FromFile(path=path).table()
    assert f"{path}: {message}" == str(refused.value)


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ({"x": ["a", ""]}, "a leaf is empty, in 'x'"),
        ({"x": ["a", "\u200b"]}, "a leaf is empty, in 'x'"),
        ({"x": {"": ["a"], "y": ["b"]}}, "a label is empty, in 'x'; every one needs a name"),
        ({" ": ["a"]}, "a label is empty; every one needs a name"),
        ({"x": ["a"], "y": {"x\u200b": ["b"], "z": ["c"]}}, f"label 'x' {TWICE}"),
        ({'{"b"}': ["a"], "y": ["b"]}, f"label '{{\"b\"}}' {OTHERS}"),
        ({"[30, 39]": [20, 21], "old": [30]}, f"label '[30, 39]' {OTHERS}"),
    ],
)
def test_trees(tmp_path, tree: dict[str, object], message: str) -> None:
    with pytest.raises(DataError) as refused:
        Tree(tree=tree).table()
    assert f"the tree: {message}" == str(refused.value)


def test_a_root_may_be_written_with_what_nobody_sees(tmp_path) -> None:
    path = tmp_path / "tree.yaml"
    path.write_text('"*\u200b":\n  x\u200b: [a, b]\n  y: [c]\n', encoding="utf-8")
    assert (("a", "x", "*"), ("b", "x", "*"), ("c", "y", "*")) == FromFile(path=path).table().rows


@pytest.mark.parametrize(
    ("rows", "label"),
    [
        ((("1.0", "2", "*"), ("3.0", "2", "*"), ("2.0", "x", "*")), "2"),
        ((("1", "1.0", "*"), ("2", "1.0", "*")), "1.0"),
    ],
)
def test_a_group_of_numbers_is_not_called_like_one_of_them(rows, label: str) -> None:
    column = Column(name="it", role="quasi", type="number", hierarchy=LeafTable(rows=rows))
    with pytest.raises(DataError) as refused:
        Table.build(pd.DataFrame({"it": [1.0]}), Schema([column]))
    assert (
        f"column 'it': label '{label}' stands for a group and for a leaf; labels must be unique in "
        "a hierarchy" == str(refused.value)
    )


@pytest.mark.parametrize("mask", ["\u200b", " ", "\u0301", "\n", "\u00a0"])
def test_a_mask_is_seen_by_itself(mask: str) -> None:
    with pytest.raises(ValueError, match=r"^'mask' must be a character that is seen by itself$"):
        Prefix(keep=(1,), mask=mask)


def test_labels_of_a_builder_are_refused_without_a_cell() -> None:
    codes = pd.DataFrame({"it": ["[1, 23", "1", "2"]})
    column = Column(name="it", role="quasi", hierarchy=Prefix(keep=(5,), mask="]"))
    with pytest.raises(DataError) as refused:
        Table.build(codes, Schema([column]))
    assert f"column 'it': a label {OTHERS}" == str(refused.value)


def test_a_cut_that_parts_a_joiner_from_its_letter_leaves_no_joiner() -> None:
    word = "\u0645\u06cc\u200c\u062e"
    hierarchy, _ = Prefix(keep=(3, 1)).over(np.array([word], object), False)
    assert {word, "\u0645\u06cc*", "\u0645***", "*"} == set(hierarchy.labels)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30, unique=True))
def test_builders_of_bins_call_them_by_what_they_hold(values: list[float]) -> None:
    array = np.unique(np.array(values))
    for source in (Widths(widths=(0.1, 1.0, 10.0)), Breaks(breaks=((0.0, 0.1, 7.5), (0.1,)))):
        source.over(array, False)


def test_a_value_that_the_hierarchy_lacks_does_not_change_what_its_labels_say() -> None:
    rows = (("20", "[20, 29]", "*"), ("21", "[20, 29]", "*"), ("30", "[30, 39]", "*"))
    source = LeafTable.from_rows(rows, "here")
    hierarchy, order = source.over(np.array(["20", "25", "30"], object), True)
    assert {"20", "25", "30", "[20, 29]", "[30, 39]", "*"} == set(hierarchy.labels)
    assert [0, 2, 1] == order.tolist()


def test_days_of_a_hierarchy_are_compared_as_days() -> None:
    rows = (("2024-01-31", "[2024-02-01, 2024-02-29]", "*"), ("2024-02-01", "x", "*"))
    column = Column(name="it", role="quasi", type="date", hierarchy=LeafTable(rows=rows))
    frame = pd.DataFrame({"it": [datetime.date(2024, 1, 31), datetime.date(2024, 2, 1)]})
    with pytest.raises(DataError) as refused:
        Table.build(frame, Schema([column]))
    assert f"column 'it': label '[2024-02-01, 2024-02-29]' {OTHERS}" == str(refused.value)
