"""A schema says what every column is, and refuses what contradicts itself."""

import re
from pathlib import Path

import pytest

from anonloom import Column, Schema
from anonloom.data._hierarchy_builders import Calendar
from anonloom.hierarchies import Prefix, Widths


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"role": "sensitive", "publish": "set"},
            "'publish' is for quasi-identifiers; a column with role 'sensitive' is published as it is",
        ),
        (
            {"role": "person", "publish": "set"},
            "'publish' is for quasi-identifiers; a column with role 'person' is not published",
        ),
        (
            {"role": "quasi", "publish": "interval"},
            "a category has no order: publish 'nodes' or 'set', not 'interval'",
        ),
        (
            {"role": "quasi", "type": "number", "publish": "nodes"},
            "a number needs a 'hierarchy' to be published as 'nodes'",
        ),
        (
            {"role": "quasi", "type": "date", "hierarchy": Widths(widths=(1,))},
            "this hierarchy is for a number; the column's type is 'date'",
        ),
        ({"role": "quasi", "pseudonymize": True}, "'pseudonymize' is for identifiers"),
        ({"role": "identifier", "key": Path("k")}, "'key' goes with 'pseudonymize: true'"),
        (
            {"role": "quasi", "type": "date", "format": "%Q"},
            "'format' must be a format of strptime such as '%d.%m.%Y'. Got '%Q' instead.",
        ),
        (
            {"role": "quasi", "type": "date", "format": "%Y %Y"},
            "'format' must be a format of strptime such as '%d.%m.%Y'. Got '%Y %Y' instead.",
        ),
        (
            {"role": "quasi", "type": "date", "format": "100%"},
            "'format' must be a format of strptime such as '%d.%m.%Y'. Got '100%' instead.",
        ),
    ],
)
def test_a_column_refuses_what_contradicts_itself(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        Column(name="it", **options)


@pytest.mark.parametrize("form", ["%d.%m.%y", "%Y%m%d", "%Y-%m-%dT%H:%M:%S%z", "%j/%Y", "ISO8601"])
def test_a_date_may_have_any_format_of_strptime(form: str) -> None:
    assert form == Column(name="it", role="quasi", type="date", format=form).format


@pytest.mark.parametrize("form", ["", "dd.mm.yyyy", "%d.%m.", "%H:%M", "mixed"])
def test_a_date_format_without_a_year_is_refused(form: str) -> None:
    message = f"'format' must be a format of strptime such as '%d.%m.%Y'. Got {form!r} instead."
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        Column(name="it", role="quasi", type="date", format=form)


@pytest.mark.parametrize(
    "form", ["%d.%m.%y %H:%M", "%Y%m%d%H", "%d/%m/%Y %I %p", "%Y-%m-%dT%H:%M:%S.%f%z", "ISO8601"]
)
def test_a_time_may_have_any_format_that_tells_the_hour(form: str) -> None:
    assert form == Column(name="it", role="quasi", type="time", format=form).layout


@pytest.mark.parametrize("form", ["", "%Y-%m-%d", "%H:%M", "%d.%m.%Y %I:%M", "%Y %H", "mixed"])
def test_a_format_that_tells_no_moment_is_refused_for_a_time(form: str) -> None:
    message = (
        "'format' must be a format of strptime with the day and the time of day, such as "
        f"'%d.%m.%Y %H:%M'. Got {form!r} instead."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        Column(name="it", role="quasi", type="time", format=form)


def test_the_format_follows_from_the_type() -> None:
    layouts = {kind: Column(name="it", role="other", type=kind).layout for kind in ("date", "time")}
    assert {"date": "%Y-%m-%d", "time": "ISO8601"} == layouts


@pytest.mark.parametrize(
    ("options", "form"),
    [
        ({"type": "number"}, "interval"),
        ({"type": "number", "hierarchy": Widths(widths=(1,))}, "nodes"),
        ({"type": "number", "hierarchy": Widths(widths=(1,)), "publish": "interval"}, "interval"),
        ({"type": "date"}, "nodes"),
        ({"type": "date", "publish": "interval"}, "interval"),
        ({"type": "time"}, "nodes"),
        ({"type": "time", "publish": "interval"}, "interval"),
        ({}, "nodes"),
        ({"publish": "set"}, "set"),
    ],
)
def test_the_form_follows_from_type_and_hierarchy(options: dict[str, object], form: str) -> None:
    assert form == Column(name="it", role="quasi", **options).form


def test_a_date_and_a_time_have_the_calendar_for_a_hierarchy() -> None:
    assert Calendar() == Column(name="it", role="quasi", type="date").generalization
    assert Calendar() == Column(name="it", role="quasi", type="time").generalization
    assert None is Column(name="it", role="quasi").generalization


def test_roles_decide_what_leaves_the_house() -> None:
    published = {"quasi", "sensitive", "label", "other"}
    for role in ("identifier", "quasi", "sensitive", "label", "other", "person", "group", "truth"):
        assert (role in published) == Column(name="it", role=role).is_published
    assert Column(name="it", role="identifier", pseudonymize=True).is_published


def schema() -> Schema:
    return Schema(
        [
            Column(name="id", role="identifier"),
            Column(name="age", role="quasi", type="number"),
            Column(name="illness", role="sensitive"),
            Column(name="zip", role="quasi", publish="set", hierarchy=Prefix(keep=(1,))),
            Column(name="who", role="person"),
        ]
    )


def test_columns_keep_their_order() -> None:
    declared = schema()
    assert ("id", "age", "illness", "zip", "who") == declared.names
    assert ("age", "zip") == declared.quasi == declared.names_with_role("quasi")
    assert ("illness", "who") == declared.names_with_role("person", "sensitive")
    assert ("age", "illness", "zip") == declared.published_names
    assert declared.names == tuple(column.name for column in declared)
    assert "zip" == declared["zip"].name
    assert "zip" in declared
    assert "town" not in declared
    with pytest.raises(KeyError, match=r"^'town'$"):
        declared["town"]


def test_a_quasi_identifier_that_is_not_guarded_is_published_as_it_is() -> None:
    guarded = schema().restrict_quasi(("age",))
    assert ("age",) == guarded.quasi
    assert ("other", None) == (guarded["zip"].role, guarded["zip"].publish)
    assert schema().published_names == guarded.published_names
    assert schema() == schema().restrict_quasi(("age", "zip"))


def test_a_name_is_declared_once() -> None:
    twice = [Column(name=name, role="quasi") for name in "abcba"]
    with pytest.raises(ValueError, match=r"^more than one column is declared as 'a', 'b'$"):
        Schema(twice)


def test_a_table_has_at_most_one_person_per_row() -> None:
    people = [Column(name=name, role="person") for name in "ab"]
    with pytest.raises(
        ValueError, match=r"^a table has at most one column with the role 'person'$"
    ):
        Schema(people)


def test_the_path_of_a_key_is_not_shown() -> None:
    column = Column(name="id", role="identifier", pseudonymize=True, key=Path("vault/key"))
    assert "vault" not in repr(column)
