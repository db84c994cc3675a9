"""What the columns and cells of a release that was made elsewhere are taken for."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonloom import Column, Schema, Table
from anonloom.errors import DataError, UsageError
from anonloom_audit.columns import assign_roles, identifiers_published
from anonloom_audit.tables import control_table
from anonloom_runner.external import release_from
from anonloom_runner.unread import unread_cells

PEOPLE = Schema(
    [
        Column(name="who", role="truth"),
        Column(name="age", role="quasi", type="number"),
        Column(name="sex", role="quasi"),
    ]
)


@pytest.mark.parametrize(
    ("original", "release", "type_"),
    [
        (["1", "2.5"], ["[1, 2.5]"] * 2, "number"),
        (["a", "b"], ["*"] * 2, "category"),
        (["2024-03-01", "2024-03-02"], ["2024-03"] * 2, "date"),
        (["2024-03-01 10:00", "2024-03-01T11:00:00"], ["2024-03-01"] * 2, "time"),
        (["2024-03-01", "2024-03-02"], ["2024-03-01", "2024-03-02"], "date"),
        (["2024-02-30", "2024-03-02"], ["2024"] * 2, "category"),
        (["2024-03-01", "2024-03-01 10:00"], ["2024"] * 2, "category"),
        ([None, None], ["*"] * 2, "category"),
    ],
)
def test_types_are_guessed_from_the_cells_of_the_original(original, release, type_):
    roles = assign_roles(pd.DataFrame({"it": original}), [pd.DataFrame({"it": release})], {})
    assert ("quasi", type_, ("it",)) == (
        roles.schema["it"].role, roles.schema["it"].type, roles.guessed,
    )  # fmt: skip


@given(st.lists(st.sampled_from("abc"), min_size=1), st.lists(st.sampled_from("abcd*"), min_size=1))
def test_what_nobody_declares_is_a_quasi_identifier_whatever_was_done_to_it(before, after):
    cells = pd.DataFrame({"it": before, "other": before})
    roles = assign_roles(cells, [pd.DataFrame({"it": after, "other": "x"})], {})
    assert ("it", "other") == roles.schema.quasi == roles.guessed


def test_roles_are_declared():
    cells = pd.DataFrame({"name": ["x", "y"], "age": ["1", "2"], "illness": ["a", "a"]})
    roles = assign_roles(cells, [cells], {"name": "identifier", "illness": "sensitive"})
    assert {"name": "identifier", "age": "quasi", "illness": "sensitive"} == {
        column.name: column.role for column in roles.schema
    }
    assert (("age",), {}) == (roles.guessed, roles.naming)


def test_what_a_file_does_not_declare_is_a_quasi_identifier_too():
    cells = pd.DataFrame({"age": ["1", "2"], "town": ["a", "b"], "left": ["p", "q"]})
    schema = Schema((Column(name="age", role="other", type="number"),))
    roles = assign_roles(cells, [cells[["age", "town"]]], {}, schema)
    assert {"age": "other", "town": "quasi"} == {c.name: c.role for c in roles.schema}
    assert ("town",) == roles.guessed


def test_a_column_that_is_declared_must_be_there():
    cells = pd.DataFrame({"age": ["1"], "town": ["a"]})
    with pytest.raises(UsageError) as caught:
        assign_roles(cells, [cells], {"agee": "quasi"})
    assert "the original has no column 'agee'\n    did you mean 'age'?" == str(caught.value)
    with pytest.raises(UsageError) as caught:
        assign_roles(cells, [cells], {"shoe": "quasi"})
    assert "the original has no column 'shoe'\n    it has: 'age', 'town'" == str(caught.value)


def test_tables_without_a_common_column_have_nothing_to_compare():
    with pytest.raises(DataError) as caught:
        assign_roles(pd.DataFrame({"a": ["1"]}), [pd.DataFrame({"b": ["1"]})], {})
    assert "the original and the release have no column in common" == str(caught.value)


def test_columns_that_seem_to_name_people_are_noticed():
    cells = pd.DataFrame(
        {
            "id": ["p1", "p2", "p3", "p4"],
            "sex": list("fffm"),
            "height": ["1", "2", "3", "4"],
            "mail": ["a@example.org", "b@example.org", "c@example.org", "c@example.org"],
        }
    )
    assert {
        "id": "every row has a value of its own",
        "mail": "100% of its cells look like e-mail addresses",
    } == assign_roles(cells, [cells], {}).naming
    assert {} == assign_roles(cells, [cells], {"id": "quasi", "mail": "quasi"}).naming


def test_identifiers_in_a_release_are_counted():
    cells = pd.DataFrame({"id": ["p1", "p2", None], "sex": list("fff")})
    assert {"id": 2} == identifiers_published(cells, cells, ["id", "none"])
    hashed = pd.DataFrame({"id": ["9f", "3a", "p1"]})
    assert {"id": 1} == identifiers_published(cells, hashed, ["id"])
    assert {} == identifiers_published(cells, hashed.iloc[:2], ["id"])


def test_cells_of_guessed_times_are_read():
    original = pd.DataFrame({"it": ["2024-03-01 10:00", "2024-03-01 11:00", "2024-03-05 00:00"]})
    cells = ["2024-03-01 06-12h", "[2024-03-01 10:00:00, 2024-03-02 00:00:00]", "March"]
    release = pd.DataFrame({"it": cells})
    schema = assign_roles(original, [release], {}).schema
    assert {"it": 1} == unread_cells(release_from(release, schema), Table.build(original, schema))


def test_a_control_table_needs_what_is_published_and_no_more(tmp_path):
    path = tmp_path / "control.csv"
    path.write_text("age,sex\n50,f\n")
    assert 1 == len(control_table(path, PEOPLE))
    path.write_text("age\n50\n")
    with pytest.raises(DataError) as caught:
        control_table(path, PEOPLE)
    assert f"the control table '{path}': the data have no column 'sex'; they have: 'age'" == str(
        caught.value
    )


def test_the_column_of_truth_is_not_compared():
    cells = pd.DataFrame({"who": ["1", "2"], "age": ["20", "30"]})
    schema = assign_roles(cells, [cells], {"who": "truth"}).schema
    assert [("truth", "category"), ("quasi", "number")] == [(c.role, c.type) for c in schema]
    with pytest.raises(DataError) as caught:
        assign_roles(cells, [cells[["age"]]], {"who": "truth"})
    assert "the original and the release do not both have a column 'who'" == str(caught.value)
