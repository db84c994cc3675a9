"""YAML is read with YAML 1.2 scalars, with places, and with nothing that could surprise."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonloom._spec.document import Node, path_text, read, read_plain, read_text
from anonloom._spec.scalars import meaning
from anonloom.errors import SpecError, UsageError


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("no", "no"),
        ("NO", "NO"),
        ("yes", "yes"),
        ("off", "off"),
        ("true", True),
        ("False", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("12", 12),
        ("-3", -3),
        ("+3", 3),
        ("0", 0),
        ("01234", "01234"),
        ("-01", "-01"),
        ("007.5", "007.5"),
        ("0o14", 12),
        ("0x1F", 31),
        ("1e-3", 0.001),
        ("1.", 1.0),
        (".5", 0.5),
        ("-2.5E+3", -2500.0),
        ("1_000", "1_000"),
        ("12:30", "12:30"),
        ("1:2:3", "1:2:3"),
        ("2024-01-01", "2024-01-01"),
        ("1.2.3", "1.2.3"),
        (".inf", float("inf")),
        ("-.INF", float("-inf")),
        ("=", "="),
        (".", "."),
        ("e5", "e5"),
    ],
)
def test_words_mean_what_yaml_1_2_says(word, expected):
    result = meaning(word)
    assert (expected, type(expected)) == (result, type(result))


def test_nan_is_a_number():
    assert meaning(".nan") != meaning(".nan")


def test_a_number_that_nobody_can_mean_is_refused():
    with pytest.raises(ValueError, match="this is a number of 500 characters"):
        meaning("9" * 500)


def test_quotes_and_the_str_tag_make_texts():
    text = "a: '12'\nb: \"no\"\nc: !!str 12\nd: &x !!str 7\ne: |\n  5\n"
    expected = {"a": "12", "b": "no", "c": "12", "d": "7", "e": "5\n"}
    assert expected == read_plain(text, "f")


def test_core_tags_convert_and_contradictions_are_errors():
    expected = {"a": 12, "b": 3.0, "c": True, "d": None}
    assert expected == read_plain(
        "a: !!int '12'\nb: !!float 3\nc: !!bool true\nd: !!null ''\n", "f"
    )
    with pytest.raises(SpecError) as caught:
        read_text("a: !!int x\n", "f")
    assert "f:1:4: 'x' is not what !!int says\n    a: !!int x\n       ^" == str(caught.value)


def test_keys_are_texts_as_they_are_written():
    assert {"2020": 1, "no": 2, "true": 3, "01": 4} == read_plain(
        "2020: 1\nno: 2\ntrue: 3\n01: 4\n", "f"
    )


def test_nodes_know_their_places():
    node = read_text("a:\n  - b: 1\n    c: [x, yy]\n", "f").at(("a", 0, "c"))
    assert ("f:3:8", "f:3:5", "    c: [x, yy]") == (
        str(node.place),
        str(node.key_place),
        node.place.source_line,
    )
    assert "f:3:12" == str(node.at((1,)).place)


def test_a_path_that_leads_nowhere_ends_at_the_nearest_node():
    document = read_text("a: {b: 1}\n", "f")
    assert document.at(("a",)) is document.at(("a", "x", "y"))


def test_an_alias_stands_for_its_anchor():
    expected = {"a": [1, 2], "b": [1, 2]}
    assert expected == read_plain("a: &list [1, 2]\nb: *list\n", "f")


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ((), ""),
        (("stages", 0, "with", "k"), "stages[0].with.k"),
        (("data", "columns", "marital status", "role"), "data.columns['marital status'].role"),
        (("vary", "privacy.k-anonymity.k"), "vary['privacy.k-anonymity.k']"),
        (("privacy", 1, "l-diversity"), "privacy[1].l-diversity"),
    ],
)
def test_paths_have_a_text(path, text):
    assert text == path_text(path)


def test_a_byte_order_mark_is_no_content(tmp_path):
    (tmp_path / "f.yaml").write_bytes(b"\xef\xbb\xbfa: 1\n")
    assert {"a": 1} == read(tmp_path / "f.yaml").plain()


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(UsageError) as caught:
        read(tmp_path)
    assert f"{tmp_path}: cannot be read: Is a directory" == str(caught.value)


def test_deep_nesting_is_refused_and_not_a_crash():
    with pytest.raises(SpecError) as caught:
        read_text("[" * 5000, "f")
    assert "f:1:1: nested too deeply" == str(caught.value)


def test_several_mistakes_of_a_file_are_told_together():
    with pytest.raises(SpecError) as caught:
        read_text("a: 1\na: 2\nb: !x 3\n", "f")
    assert [2, 3] == [problem.place.line for problem in caught.value.problems]


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(plain)
def test_what_json_writes_is_read_back(value):
    assert value == read_plain(json.dumps(value), "f")


def outcome(reading, *arguments):
    """Return what was read, or the problems."""
    try:
        return reading(*arguments)
    except SpecError as error:
        return error.problems


@given(st.text())
def test_any_text_is_read_or_refused_with_a_message(text):
    result = outcome(read_text, text, "f")
    assert isinstance(result, Node) or result


@given(st.binary())
def test_any_bytes_are_read_or_refused_with_a_message(tmp_path_factory, content):
    file = tmp_path_factory.getbasetemp() / "any.yaml"
    file.write_bytes(content)
    result = outcome(read, file)
    assert isinstance(result, Node) or result


def test_half_a_character_is_refused():
    with pytest.raises(SpecError) as caught:
        read_text('a: "\\ud800"\n', "f")
    expected = 'f:1:4: this text holds half a character\n    a: "\\ud800"\n       ^'
    assert expected == str(caught.value)
