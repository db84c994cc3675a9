"""A hierarchy agrees with the tree of labels that it was built from, and names every mistake."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonloom.data._hierarchy import depth_first
from anonloom.data._hierarchy_builders import tree_rows
from anonloom.errors import DataError, SpecError
from anonloom.hierarchies import FromFile, Hierarchy, LeafTable, Tree

Rows = list[tuple[str, ...]]


@st.composite
def leaf_tables(draw: st.DrawFn) -> Rows:
    """Rows of a tree of one depth, in any order."""
    leaves = draw(st.integers(1, 14))
    depth = draw(st.integers(0, 3))
    paths: list[list[str]] = [[f"leaf{index}"] for index in range(leaves)]
    below = leaves
    for level in range(depth):
        above = draw(st.integers(1, below))
        parent = draw(st.lists(st.integers(0, above - 1), min_size=below, max_size=below))
        # A node of the level below is known by the last label of its leaves.
        nodes = {label: index for index, label in enumerate(sorted({path[-1] for path in paths}))}
        for path in paths:
            path.append(f"L{level}:{parent[nodes[path[-1]]]}")
        below = above
    rows = [(*path, "*") for path in paths]
    return draw(st.permutations(rows))


@st.composite
def trees(draw: st.DrawFn) -> dict[str, object]:
    """Ragged trees with unique labels."""
    shape = st.recursive(
        st.none(), lambda child: st.lists(child, min_size=1, max_size=4), max_leaves=12
    )
    counter = iter(range(1000))

    def named(node: object) -> object:
        if node is None:
            return None
        assert isinstance(node, list)
        if all(child is None for child in node):
            return [f"leaf{next(counter)}" for _ in node]
        return {f"n{next(counter)}": named(child) for child in node}

    node = draw(st.lists(shape, min_size=1, max_size=4))
    return {f"top{next(counter)}": named(child) for child in node}


def common(paths: Rows) -> str:
    """Find the lowest label that lies on all paths."""
    return next(label for label in paths[0] if all(label in path for path in paths))


def first_appearance(rows: Rows, level: int) -> list[str]:
    """List the leaves depth first, siblings in the order in which the rows name them."""
    if level == 0:
        return [row[0] for row in rows]
    groups: dict[str, Rows] = {}
    for row in rows:
        groups.setdefault(row[level], []).append(row)
    return [leaf for group in groups.values() for leaf in first_appearance(group, level - 1)]


def nodes_of(hierarchy: Hierarchy) -> dict[str, frozenset[str]]:
    """Return the leaves under every label."""
    leaves = hierarchy.leaves
    spans = zip(hierarchy.labels, hierarchy.first, hierarchy.last, strict=True)
    return {label: frozenset(leaves[first : last + 1]) for label, first, last in spans}


@given(leaf_tables(), st.data())
def test_the_lowest_common_ancestor_of_a_set_is_that_of_its_first_and_last_leaf(
    rows: Rows, data: st.DataObject
) -> None:
    hierarchy = LeafTable.from_rows(rows, "here").whole()
    path = {row[0]: row for row in rows}
    chosen = sorted(data.draw(st.sets(st.integers(0, len(rows) - 1), min_size=1)))
    lo, hi = np.array(chosen[:1]), np.array(chosen[-1:])
    expected = common([path[hierarchy.leaves[index]] for index in chosen])
    assert expected == hierarchy.labels[hierarchy.node(lo, hi)[0]]
    level = int(hierarchy.level(lo, hi)[0])
    assert expected == path[hierarchy.leaves[chosen[0]]][level]


@given(trees(), st.data())
def test_a_ragged_tree_has_the_same_ancestors_as_its_padded_rows(
    tree: dict[str, object], data: st.DataObject
) -> None:
    rows = [tuple(row) for row in tree_rows(tree)]
    hierarchy = LeafTable.from_rows(rows, "here").whole()
    path = {row[0]: row for row in rows}
    chosen = sorted(data.draw(st.sets(st.integers(0, len(rows) - 1), min_size=1)))
    expected = common([path[hierarchy.leaves[index]] for index in chosen])
    result = hierarchy.node(np.array(chosen[:1]), np.array(chosen[-1:]))[0]
    assert expected == hierarchy.labels[result]
    # Leaves come in the order in which a reader of the tree meets them.
    assert [row[0] for row in rows] == list(hierarchy.leaves)


@given(leaf_tables())
def test_every_node_is_an_interval_of_leaves(rows: Rows) -> None:
    expected: dict[str, set[str]] = {}
    for row in rows:
        for label in row:
            expected.setdefault(label, set()).add(row[0])
    result = nodes_of(LeafTable.from_rows(rows, "here").whole())
    assert expected == {label: set(leaves) for label, leaves in result.items()}


@given(leaf_tables())
def test_siblings_stand_in_the_order_of_their_first_appearance(rows: Rows) -> None:
    hierarchy = LeafTable.from_rows(rows, "here").whole()
    assert first_appearance(rows, len(rows[0]) - 1) == list(hierarchy.leaves)


@given(leaf_tables(), st.randoms(use_true_random=False))
def test_the_order_of_the_rows_decides_the_order_of_siblings_only(
    rows: Rows, random: object
) -> None:
    shuffled = list(rows)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    one, other = (LeafTable.from_rows(some, "here").whole() for some in (rows, shuffled))
    assert nodes_of(one) == nodes_of(other)
    assert one.depth == other.depth


def test_ten_thousand_leaves_on_six_levels_cost_levels_times_leaves() -> None:
    rows = [
        (
            str(index),
            f"a{index // 3}",
            f"b{index // 30}",
            f"c{index // 300}",
            f"d{index // 3000}",
            "*",
        )
        for index in range(10_000)
    ]
    hierarchy = LeafTable.from_rows(rows, "here").whole()
    nodes = 10_000 + 3334 + 334 + 34 + 4 + 1
    assert (6, 10_000) == hierarchy.ancestors.shape
    assert np.int32 == hierarchy.ancestors.dtype
    assert (nodes,) == hierarchy.first.shape == hierarchy.last.shape
    assert nodes == len(hierarchy.labels)


def test_a_flat_hierarchy_is_a_root_and_its_leaves() -> None:
    flat, levels = Hierarchy.flat(["a", "b"]), Hierarchy.of_levels([["a", "b"], ["*", "*"]])
    assert levels.labels == flat.labels
    assert levels.ancestors.tolist() == flat.ancestors.tolist()
    assert levels.first.tolist() == flat.first.tolist()
    assert levels.last.tolist() == flat.last.tolist()
    assert 2 == flat.depth


def test_a_flat_hierarchy_of_nothing_has_no_leaves() -> None:
    assert () == Hierarchy.flat([]).leaves


def test_a_flat_hierarchy_may_have_a_leaf_that_is_a_star() -> None:
    flat = Hierarchy.flat(["*", "a"])
    assert ("*", "a") == flat.leaves
    assert 2 == flat.find("*")


def test_a_flat_hierarchy_has_every_leaf_once() -> None:
    with pytest.raises(DataError) as error:
        Hierarchy.flat(["a", "a"])
    assert "a leaf stands twice; every leaf stands once" == str(error.value)


def test_labels_that_differ_in_a_final_zero_character_differ() -> None:
    levels = [["x", "y", "z"], ["a", "a\0", "a"], ["*"] * 3]
    assert [0, 2, 1] == depth_first(levels, np.arange(3)).tolist()


def test_a_label_is_found_by_its_name() -> None:
    hierarchy = LeafTable.from_rows([("a", "x", "*"), ("b", "x", "*")], "here").whole()
    node = hierarchy.find("x")
    assert node is not None
    assert (0, 1) == (hierarchy.first[node], hierarchy.last[node])
    assert None is hierarchy.find("nowhere")


def of_levels(*levels: str) -> Hierarchy:
    return Hierarchy.of_levels([level.split() for level in levels])


@pytest.mark.parametrize(
    ("levels", "message"),
    [
        (["a b", "* x"], "the last level must be '*' for every leaf: it has no single root"),
        (
            ["a b c", "x y x", "* * *"],
            "label 'x' stands for two different groups of values; labels must be unique in a hierarchy",
        ),
        (
            ["a b", "a a", "* *"],
            "label 'a' stands for two different groups of values; labels must be unique in a hierarchy",
        ),
        (["a b", "x x", "p q", "* *"], "label 'x' has two parents; a hierarchy is a tree"),
        (
            ["* b", "* *"],
            "label '*' stands for two different groups of values; labels must be unique in a hierarchy",
        ),
    ],
)
def test_levels_that_are_no_tree_are_refused(levels: list[str], message: str) -> None:
    with pytest.raises(DataError) as error:
        of_levels(*levels)
    assert message == str(error.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "{path}: the hierarchy is empty"),
        ("\n\n", "{path}: the hierarchy is empty"),
        ("a;x;*\nb;*\n", "{path}: row 2 has 2 fields, the first row has 3"),
        ("a;x;*\nb;x;top\n", "{path}: row 2 must end with the root, '*'"),
        ("*\n", "{path}: row 1 must end with the root, '*'"),
        (
            "a,x,*\n",
            "{path}: row 1 must end with the root, '*'\n"
            "    write ';' between the leaf, its groups and the root",
        ),
        (
            "a; x; *\n",
            "{path}: row 1 must end with the root, '*'\n    take out the spaces around it",
        ),
        ("a;x;*\nb;y;*\na;y;*\n", "{path}: row 3 repeats a leaf; every leaf stands once"),
        (
            "a;x;p;*\nb;x;q;*\n",
            "{path}: label 'x' has two parents; a hierarchy is a tree",
        ),
        (
            "a;x;p;*\nc;y;p;*\nb;x;q;*\n",
            "{path}: label 'x' stands for two different groups of values; labels must be unique in a hierarchy",
        ),
        (
            "a;b;*\nb;b;*\n",
            "{path}: label 'b' stands for two different groups of values; labels must be unique in a hierarchy",
        ),
    ],
)
def test_a_wrong_file_is_refused(tmp_path, text: str, message: str) -> None:
    path = tmp_path / "zip.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError) as error:
        FromFile(path=path).table()
    assert message.format(path=path) == str(error.value)


def test_a_file_that_is_missing_or_no_text_is_refused(tmp_path) -> None:
    with pytest.raises(DataError) as error:
        FromFile(path=tmp_path / "none.csv").table()
    assert f"{tmp_path / 'none.csv'}: there is no such hierarchy file" == str(error.value)
    (tmp_path / "latin.csv").write_bytes("Köln;*\n".encode("latin-1"))
    with pytest.raises(DataError) as error:
        FromFile(path=tmp_path / "latin.csv").table()
    assert f"{tmp_path / 'latin.csv'}: the hierarchy file is not UTF-8 text" == str(error.value)
    with pytest.raises(DataError) as error:
        FromFile(path=tmp_path).table()
    message = f"{tmp_path}: the hierarchy file cannot be read (Is a directory)"
    assert message == str(error.value)


def test_a_field_without_end_is_refused(tmp_path) -> None:
    path = tmp_path / "long.csv"
    path.write_text("a" * 200_000 + ";*\n", encoding="utf-8")
    with pytest.raises(DataError) as error:
        FromFile(path=path).table()
    message = f"{path}: the file is no CSV (field larger than field limit (131072))"
    assert message == str(error.value)


def test_a_file_may_have_a_mark_quotes_and_line_breaks(tmp_path) -> None:
    path = tmp_path / "odd.csv"
    path.write_text('\ufeff"a;1";"x\ny";*\n\nb\u2028c;"x\ny";*\n', encoding="utf-8")
    assert (("a;1", "x y", "*"), ("b c", "x y", "*")) == FromFile(path=path).table().rows


def test_a_yaml_tree_is_read_as_rows_of_one_width(tmp_path) -> None:
    path = tmp_path / "jobs.YAML"
    path.write_text(
        "'*':\n  care: [nurse, 01234]\n  office:\n    law: [judge, 1.0]\n  none:\n",
        encoding="utf-8",
    )
    expected = (
        ("nurse", "nurse", "care", "*"),
        ("01234", "01234", "care", "*"),
        ("judge", "law", "office", "*"),
        ("1", "law", "office", "*"),
        ("none", "none", "none", "*"),
    )
    assert expected == FromFile(path=path).table().rows


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x: []\n", "{path}: a group is empty, in 'x'"),
        ("x: {{y: {{}}}}\n", "{path}: a group is empty, in 'y'"),
        ("x: [a, ~]\n", "{path}: a leaf is empty, in 'x'"),
        ("'*': ~\n", "{path}: a leaf is empty"),
        ("{{}}\n", "{path}: a group is empty"),
        ("nurse\n", None),
        ("x: [a, a]\n", "{path}: row 2 repeats a leaf; every leaf stands once"),
    ],
)
def test_a_wrong_tree_is_refused(tmp_path, text: str, message: str | None) -> None:
    path = tmp_path / "jobs.yaml"
    path.write_text(text.format(), encoding="utf-8")
    if message is None:
        assert (("nurse", "*"),) == FromFile(path=path).table().rows
        return
    with pytest.raises(DataError) as error:
        FromFile(path=path).table()
    assert message.format(path=path) == str(error.value)


def test_a_yaml_file_with_a_syntax_error_is_shown_with_its_place(tmp_path) -> None:
    path = tmp_path / "jobs.yaml"
    path.write_text("care: [nurse\n", encoding="utf-8")
    with pytest.raises(SpecError) as error:
        FromFile(path=path).table()
    assert str(error.value).startswith(f"{path}:2:1: ")


def test_numbers_and_dates_keep_their_order_whatever_the_order_of_the_rows() -> None:
    rows = [("30", "old", "*"), ("4", "young", "*"), ("5.0", "young", "*"), ("31", "old", "*")]
    values = np.array([4.0, 5.0, 30.0, 31.0])
    hierarchy, order = LeafTable.from_rows(rows, "here").over(values, False)
    assert [0, 1, 2, 3] == order.tolist()
    # The leaf is written as the table writes it.
    assert ("4", "5", "30", "31") == hierarchy.leaves
    days = np.array(["2020-01-01", "2020-01-02"], "datetime64[D]")
    late = [("2020-01-02", "x", "*"), ("2020-01-01", "x", "*")]
    hierarchy, order = LeafTable.from_rows(late, "here").over(days, False)
    assert ("2020-01-01", "2020-01-02") == hierarchy.leaves


def refusal(rows: Rows, values: list[object], own_leaf: bool = True) -> str:
    distinct = np.array(values, float if isinstance(values[0], float) else object)
    with pytest.raises(DataError) as error:
        LeafTable.from_rows(rows, "here").over(distinct, own_leaf)
    return str(error.value)


def test_groups_of_numbers_must_be_ranges() -> None:
    rows = [("1", "odd", "*"), ("2", "even", "*"), ("3", "odd", "*")]
    expected = "a group of the hierarchy is not a range of consecutive values"
    assert expected == refusal(rows, [1.0, 2.0, 3.0])
    del rows[1]
    expected += "; values that the hierarchy lacks may lie inside"
    assert expected == refusal(rows, [1.0, 2.0, 3.0])


def test_one_number_is_one_leaf() -> None:
    rows = [("1", "x", "*"), ("1.0", "x", "*")]
    expected = "two leaves of the hierarchy are the same value; every leaf stands once"
    assert expected == refusal(rows, [1.0])


def test_an_unknown_value_becomes_a_leaf_below_the_root() -> None:
    rows = [("b", "x", "*"), ("a", "x", "*")]
    values = np.array(["a", "b", "c"], object)
    hierarchy, order = LeafTable.from_rows(rows, "here").over(values, True)
    assert ("b", "a", "c") == hierarchy.leaves
    assert [1, 0, 2] == order.tolist()
    node = hierarchy.node(np.array([0, 1, 2]), np.array([1, 2, 2]))
    assert ["x", "*", "c"] == [hierarchy.labels[index] for index in node]


def test_an_unknown_value_that_is_called_like_a_group_is_refused_and_not_shown() -> None:
    rows = [("a", "x", "y", "*"), ("b", "x", "y", "*")]
    expected = "1 of the values that the hierarchy lacks is written like a group of it; rename them, or add them to the hierarchy"
    # Also when no value of that group occurs.
    assert expected == refusal(rows, ["x"])
    expected = "2 of the values that the hierarchy lacks are written like groups of it; rename them, or add them to the hierarchy"
    assert expected == refusal(rows, ["a", "x", "y"])


def test_a_tree_in_the_spec_serves_like_a_file() -> None:
    tree = Tree(tree={"x": ["a", "b"], "c": None})
    hierarchy, _ = tree.over(np.array(["a", "b", "c"], object), False)
    assert {"a", "b", "c", "x", "*"} == set(hierarchy.labels)
    with pytest.raises(DataError) as error:
        Tree(tree={"x": []}).over(np.array(["a"], object), False)
    assert "the tree: a group is empty, in 'x'" == str(error.value)
