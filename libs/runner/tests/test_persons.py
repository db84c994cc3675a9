"""Rows are not taken for persons where the table says otherwise."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonloom import Classes, Column, Schema, Table
from anonloom.data._persons import numbering_persons, sharing_rows
from anonloom.errors import DataError, PrivacyError
from anonloom_runner import stages
from anonloom_runner.execute import _hold_out
from anonloom_runner.reporting import record_text
from anonloom_testing.visits import NUMBER, STOPPED, visits, write_visits


@pytest.fixture
def clinic(clinic):
    """A clinic whose patients come again."""
    visits().to_parquet(clinic.folder / "visits.parquet")
    return write_visits(clinic)


def run_with(clinic, source):
    """Run the pipeline with the same rows from another source."""
    if source == "frame":
        return clinic.pipeline().run(visits())
    if source == "parquet":
        clinic.change("source: csv", "source: parquet")
        clinic.change("visits.csv", "visits.parquet")
    return clinic.pipeline().run()


SOURCES = pytest.mark.parametrize("source", ["csv", "parquet", "frame"])


# --- identifiers ----------------------------------------------------------------------------------


@SOURCES
def test_an_identifier_that_comes_back_stops_the_run(clinic, source):
    with pytest.raises(PrivacyError) as caught:
        run_with(clinic, source)
    assert (STOPPED, 3) == (str(caught.value), caught.value.exit_code)


def test_a_pseudonym_that_comes_back_stops_the_run_and_nothing_is_written(clinic):
    clinic.change("role: identifier", "role: identifier, pseudonymize: true")
    with pytest.raises(PrivacyError) as caught:
        clinic.pipeline().publish()
    expected = STOPPED.replace("identifier, names", "identifier, pseudonymize: true, names")
    assert expected == str(caught.value)
    assert not clinic.out.exists()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("patient: {role: identifier}", "patient: {role: person}"),
        ("patient: {role: identifier}", "patient: {role: identifier, namesakes: true}"),
        ("data:\n", "data:\n  unit: record\n"),
    ],
)
def test_each_line_of_the_message_is_a_way_out(clinic, old, new):
    clinic.change(old, new)
    assert "green" == clinic.pipeline().run().report["verdict"]["tone"]


def test_with_the_role_person_a_class_has_as_many_persons_as_were_promised(clinic):
    clinic.change("role: identifier", "role: person")
    release = clinic.pipeline().run().release
    owners = visits()["patient"].to_numpy()[release.origin]
    classes = release.frame.groupby(["age", "sex", "zip"], observed=True).indices
    assert min(len(set(owners[rows])) for rows in classes.values()) >= 5


@pytest.mark.parametrize(("rows", "stops"), [(200, True), (201, False)])
def test_one_row_in_a_hundred_may_be_a_slip_of_whoever_typed_it(clinic, rows, stops):
    frame = visits().iloc[:rows].copy()
    frame["patient"] = [f"Q{index}" for index in range(rows)]
    frame.loc[0, "patient"] = "Q1"
    if not stops:
        assert rows == len(clinic.pipeline().run(frame).release)
        return
    with pytest.raises(PrivacyError, match="2 of 200 rows have a value of it"):
        clinic.pipeline().run(frame)


@given(
    st.lists(
        st.one_of(st.none(), st.sampled_from(["a", "A ", " a", "b", "ﬁ", "FI", "ç", "ç"])),
        min_size=1,
        max_size=12,
    )
)
def test_rows_share_a_value_that_reads_alike(cells):
    # Counted by hand: what a reader sees, without case and outer blanks.
    seen = {"A ": "a", " a": "a", "ﬁ": "fi", "FI": "fi", "ç": "ç"}
    texts = [seen.get(cell, cell) for cell in cells]
    expected = sum(text is not None and texts.count(text) > 1 for text in texts)
    assert [expected] * 3 == [
        sharing_rows(pd.Series(cells, dtype=dtype)) for dtype in (object, "str", "category")
    ]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (pd.Series([1, 2, 1]), 2),
        (pd.Series([1.0, np.nan, 1.0, np.nan]), 2),
        (pd.Series([1, "1", 1.0, "x"], dtype=object), 3),
        (pd.Series(["a", "b", "a"], dtype="category"), 2),
        (pd.Series([pd.Timestamp("2024-01-01")] * 2), 2),
        (pd.Series([None, None], dtype=object), 0),
    ],
)
def test_cells_of_every_type_can_be_shared(cells, expected):
    assert expected == sharing_rows(cells)


# --- columns that are no identifiers by their role ------------------------------------------------


def warned(outcome):
    return [
        item["text"] for item in outcome.report["warnings"] if "person's number" in item["text"]
    ]


@SOURCES
def test_an_undeclared_number_of_persons_turns_the_verdict_amber(clinic, source):
    clinic.change("    patient: {role: identifier}\n", "")
    outcome = run_with(clinic, source)
    assert [NUMBER] == warned(outcome)
    assert "amber" == outcome.report["verdict"]["tone"]
    assert NUMBER in record_text(outcome.report)


@SOURCES
def test_names_with_characters_that_nobody_sees_are_found_too(clinic, source):
    frame = visits().rename(columns={"patient": "pat\u200bient", "age": "age\u00ad"})
    frame.to_csv(clinic.folder / "visits.csv", index=False)
    frame.to_parquet(clinic.folder / "visits.parquet")
    clinic.change("    patient: {role: identifier}\n", "")
    if source == "frame":
        assert [NUMBER] == warned(clinic.pipeline().run(frame))
    else:
        assert [NUMBER] == warned(run_with(clinic, source))


def test_identifiers_are_compared_as_they_are_seen(clinic):
    frame = visits()
    marks = ["", "\u200b", "\u00ad", "\ufeff", "\u200e"]
    frame["patient"] += [marks[index % 5] for index in frame.groupby("patient").cumcount()]
    assert frame["patient"].is_unique
    with pytest.raises(PrivacyError) as caught:
        clinic.pipeline().run(frame)
    assert STOPPED == str(caught.value)


def test_a_number_of_persons_that_is_published_is_named_too(clinic):
    clinic.change("role: identifier", "role: other")
    expected = NUMBER.replace(", which is not declared,", "")
    assert [expected] == warned(clinic.pipeline().run())


def test_records_are_counted_without_a_warning(clinic):
    clinic.change("    patient: {role: identifier}\n", "")
    clinic.change("data:\n", "data:\n  unit: record\n")
    assert [] == warned(clinic.pipeline().run())


@pytest.mark.parametrize("name", ["sex", "when", "unique", "lists", "some"])
def test_other_columns_are_no_numbers_of_persons(clinic, name):
    frame = visits()
    rng = np.random.default_rng(3)
    frame["patient"] = {
        "sex": frame["sex"],
        "when": rng.integers(0, 100, len(frame)),  # comes back, and agrees in nothing
        "unique": np.arange(len(frame)),
        "lists": [[1]] * len(frame),
        "some": [*["x"] * 9, *range(len(frame) - 9)],  # too few to tell
    }[name]
    clinic.change("    patient: {role: identifier}\n", "")
    assert [] == warned(clinic.pipeline().run(frame))


def agreeing(frame, quasi, name, total=None):
    results = list(numbering_persons(frame, quasi, [name], total or len(frame)))
    return [item.name for item in results]


def test_one_quasi_identifier_may_have_changed_between_visits():
    frame = visits()
    frame["age"] += np.arange(len(frame)) % 3
    assert ["patient"] == agreeing(frame, ["age", "sex", "zip"], "patient")
    frame["zip"] += np.arange(len(frame)) % 7
    assert [] == agreeing(frame, ["age", "sex", "zip"], "patient")


def test_a_date_of_birth_and_an_address_are_no_persons_numbers():
    """Each has one of two quasi-identifiers, and the other by chance."""
    rng = np.random.default_rng(5)
    born = rng.integers(0, 1000, 3000)
    frame = pd.DataFrame(
        {"age": born // 12, "zip": born % 40, "sex": rng.choice(["f", "m"], 3000), "born": born}
    )
    assert [] == agreeing(frame, ["age", "sex"], "born")
    assert [] == agreeing(frame, ["zip", "sex"], "born")


def test_columns_in_which_any_two_rows_agree_prove_nothing():
    frame = visits()
    frame["sex"], frame["zip"] = "f", 10
    assert [] == agreeing(frame, ["sex", "zip"], "patient")


def test_in_a_part_of_a_table_fewer_repetitions_are_enough():
    frame = visits().drop_duplicates("patient")
    again = frame.iloc[:12].copy()
    alone = pd.concat([visits(seed).assign(patient=f"s{seed}") for seed in range(3, 9)])
    alone["patient"] = [f"R{index}" for index in range(len(alone))]
    part = pd.concat([frame, again, alone], ignore_index=True)
    assert [] == agreeing(part, ["age", "sex", "zip"], "patient")
    assert ["patient"] == agreeing(part, ["age", "sex", "zip"], "patient", total=100 * len(part))


# --- persons who are not known --------------------------------------------------------------------


def with_gaps(*cells):
    """Visits of which the first have these cells instead of a patient."""
    frame = visits()
    frame.loc[: len(cells) - 1, "patient"] = cells
    return frame


@pytest.mark.parametrize("missing", ["", ", missing: own", ", missing: refuse"])
@pytest.mark.parametrize("cells", [(None, None), (" ", None), ("\t", "  ")])
def test_rows_without_a_person_are_refused(clinic, missing, cells):
    clinic.change("role: identifier", f"role: person{missing}")
    with pytest.raises(DataError) as caught:
        clinic.pipeline().run(with_gaps(*cells))
    assert (
        "column 'patient': 2 cells are missing (rows 1, 2); persons cannot be counted when some of "
        "them are not known\n"
        "    Leave these rows out, give each the id of its person, or write 'patient: {role: "
        "person, missing: suppress}'."
    ) == str(caught.value)
    assert 4 == caught.value.exit_code


@pytest.mark.parametrize("cells", [(None, None), (" ", None)])
def test_rows_without_a_person_are_suppressed_where_the_column_says_so(clinic, cells):
    clinic.change("role: identifier", "role: person, missing: suppress")
    clinic.change("privacy:", "suppression: {at_most: 0.1}\nprivacy:")
    release = clinic.pipeline().run(with_gaps(*cells)).release
    assert [0, 1] == sorted(release.origin[release.suppressed_rows].tolist())


def test_a_row_without_a_person_that_somebody_puts_into_a_class_is_refused(clinic, monkeypatch):
    clinic.change("role: identifier", "role: person, missing: suppress")
    # A partitioner that forgets who is incomplete, and a runner that does not look.
    monkeypatch.setattr(stages, "_check_rows", lambda *_: None)
    monkeypatch.setattr(Table, "whole", lambda table: Classes.whole(np.arange(len(table))))
    with pytest.raises(PrivacyError) as caught:
        clinic.pipeline().run(with_gaps(None, None))
    assert (
        "the release is not published: 2 of 300 rows have no person and are not suppressed, so "
        "that the persons of their classes cannot be counted\n"
        "    Nothing was written. Leave rows without a person out of the table."
    ) == str(caught.value)


@pytest.mark.parametrize(
    "cells", [[1, 1.0, "1.0", "1", None], ["Ada", "ada", " ADA ", "a\u0301da".upper(), "\t"]]
)
def test_a_person_is_one_however_the_id_is_written(cells):
    schema = Schema(
        [
            Column(name="who", role="person", missing="suppress"),
            Column(name="age", role="quasi", type="number"),
        ]
    )
    table = Table.build(
        pd.DataFrame({"who": pd.Series(cells, dtype=object), "age": range(5)}), schema
    )
    persons = table.persons.tolist()
    assert persons[0] == persons[1] == persons[2]
    assert [False, False, False, False, True] == table.unknown_persons.tolist()


# --- held out rows --------------------------------------------------------------------------------


@given(
    st.lists(st.sampled_from(["a", "b", "c", "d", "e", None]), min_size=1, max_size=30),
    st.sampled_from([0.1, 0.25, 0.5, 0.9]),
    st.integers(0, 50),
)
def test_a_person_is_held_out_with_all_rows_or_not_at_all(owners, share, seed):
    schema = Schema(
        [
            Column(name="who", role="person", missing="suppress"),
            Column(name="age", role="quasi", type="number"),
        ]
    )
    frame = pd.DataFrame({"who": pd.Series(owners, dtype=object), "age": range(len(owners))})
    kept, control = _hold_out(Table.build(frame, schema), share, seed)
    inside, outside = ({owners[row] for row in part.origin} for part in (kept, control))
    assert set() == inside & outside
    assert None not in outside
    assert list(range(len(owners))) == sorted([*kept.origin, *control.origin])
    assert len(control) <= round(share * len(owners))


def test_about_as_many_rows_are_held_out_as_were_asked_for(clinic):
    clinic.change("role: identifier", "role: person")
    clinic.change("data:\n", "data:\n  holdout: 0.25\n")
    assert 300 - 75 == len(clinic.pipeline().run().release)
