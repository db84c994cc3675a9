"""A file that says what columns are, and conditions as a command line has them."""

import pytest

from anonloom import Column, Registry
from anonloom.errors import SpecError, UsageError
from anonloom.spec import Condition, load_schema, parse_condition


def written(folder, text, name="schema.yaml"):
    path = folder / name
    path.write_text(text)
    return path


def test_a_schema_file_has_columns_as_a_pipeline_has_them(tmp_path):
    path = written(
        tmp_path, "columns:\n  age: {role: quasi, type: number}\n  cost: {role: other}\n"
    )
    schema = load_schema(path, Registry.empty())
    expected = (Column(name="age", role="quasi", type="number"), Column(name="cost", role="other"))
    assert expected == tuple(schema)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{}\n", "a schema needs 'columns'"),
        ("columns: {}\n", "no column is declared"),
        ("columns: {age: {role: kuasi}}\n", "did you mean 'quasi'?"),
        ("stages: []\ncolumns: {age: {role: quasi}}\n", "unknown key 'stages' in a schema"),
    ],
)
def test_what_is_wrong_with_a_schema_file_is_said_with_its_place(tmp_path, text, expected):
    path = written(tmp_path, text)
    with pytest.raises(SpecError) as caught:
        load_schema(path, Registry.empty())
    assert expected in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_table_is_no_schema_and_none_of_its_lines_is_shown(tmp_path):
    path = written(tmp_path, "age\n31\n", "people.csv")
    with pytest.raises(UsageError) as caught:
        load_schema(path, Registry.empty())
    expected = (
        f"{path}: this is a table, not a schema\n    name the YAML file that says what its "
        "columns are"
    )
    assert expected == str(caught.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("headline.risk > 0.09", ("headline", Condition("risk", ">", 0.09))),
        ("utility.ncp.age>=1e-3", ("utility", Condition("ncp.age", ">=", 0.001))),
        (" k-2.smallest < 5 ", ("k-2", Condition("smallest", "<", 5.0))),
    ],
)
def test_a_condition_names_an_auditor_a_figure_and_a_limit(text, expected):
    assert expected == parse_condition(text)


@pytest.mark.parametrize("text", ["", "risk > 1", "headline.risk", "a.b > x", "a.b > 1e999"])
def test_what_is_no_condition_is_refused(text):
    with pytest.raises(UsageError) as caught:
        parse_condition(text)
    expected = (
        "a condition must be a figure and what it must not be, 'headline.risk > 0.09'. Got "
        f"{text!r} instead.\n    A figure is 'headline.risk' or 'AUDITOR.FIGURE'; comparisons are "
        ">= <= == != > <."
    )
    assert expected == str(caught.value)
