"""Text at the door: nothing that nobody sees gets in, and what a script needs stays."""

import datetime
import sys
import unicodedata
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonloom import Column, Schema, Table
from anonloom.data import normalize_text
from anonloom.data._text import normalize_column, visible_form
from anonloom.errors import DataError

ZWNJ, ZWJ = "\u200c", "\u200d"
BREAKS = "\t\n\x0b\x0c\r\x85\u2028\u2029"

#: Other_Default_Ignorable_Code_Point, which Python does not know, as the standard lists it.
OTHER_IGNORABLE = {0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2065, 0x3164, 0xFFA0} | {
    *range(0xFFF0, 0xFFF9),
    *range(0xE0000, 0xE1000),
}


def is_hidden(character: str) -> bool:
    """Say by the definition of the property, which the code does not use, what is invisible."""
    name = unicodedata.name(character, "")
    return (
        unicodedata.category(character) in ("Cf", "Cc")
        or ord(character) in OTHER_IGNORABLE
        or "VARIATION SELECTOR" in name
    )


EVERY = [chr(index) for index in range(sys.maxunicode + 1)]
HIDDEN = [item for item in EVERY if is_hidden(item)]
SEEN = st.characters(exclude_categories=["C", "M", "Zl", "Zp"]).filter(
    lambda one: not is_hidden(one)
)
hidden = st.sampled_from([item for item in HIDDEN if item not in BREAKS])
spellings = st.text(st.one_of(hidden, st.characters(), st.sampled_from(BREAKS + ZWNJ + ZWJ)))

#: Letters, marks and viramas of scripts with joiners, and what may stand between them.
CURSIVE = "\u0645\u06cc\u062f\u064b\u0915\u094d\u093c\u09b0\u09cd\u0cb0\u0ccd\u0301\u0327e\u200b"


def test_every_code_point_that_nobody_sees_is_taken_out() -> None:
    assert 4_000 < len(HIDDEN)
    kept = [item for item in HIDDEN if item not in BREAKS and normalize_text(f"a{item}b") != "ab"]
    assert [] == kept


def test_every_other_code_point_stays_in_its_composed_form() -> None:
    changed = [
        item
        for item in EVERY
        if not is_hidden(item)
        and item not in BREAKS
        # This Python may be older than the table.
        and unicodedata.category(item) != "Cn"
        and normalize_text(f"a{item}b") != unicodedata.normalize("NFC", f"a{item}b")
    ]
    assert [] == changed


@pytest.mark.parametrize("end", ["\r\n", *BREAKS])
def test_a_line_break_becomes_one_blank(end: str) -> None:
    assert "a b" == normalize_text(f"a{end}b")


@given(spellings)
def test_a_text_in_its_form_stays_as_it_is(text: str) -> None:
    once = normalize_text(text)
    assert once == normalize_text(once)


@given(st.text(CURSIVE + ZWNJ + ZWJ, max_size=12))
def test_joiners_among_marks_are_settled_at_once(text: str) -> None:
    once = normalize_text(text)
    assert once == normalize_text(once)
    assert once == unicodedata.normalize("NFC", once)


@given(spellings)
def test_the_result_is_nfc_and_holds_nothing_invisible_but_joiners(text: str) -> None:
    result = normalize_text(text)
    assert result == unicodedata.normalize("NFC", result)
    assert {item for item in result if is_hidden(item)} <= {ZWNJ, ZWJ}


@given(st.text(SEEN, max_size=8), st.data())
def test_what_is_inserted_between_letters_changes_nothing(text: str, data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(text)))
    inserted = data.draw(st.text(hidden.filter(lambda one: one not in ZWNJ + ZWJ), min_size=1))
    assert normalize_text(text) == normalize_text(text[:index] + inserted + text[index:])


@pytest.mark.parametrize(
    ("word", "sense"),
    [
        ("\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", "Persian: the prefix is not joined"),
        ("\u0645\u064b\u200c\u064b\u062e", "marks do not part letters"),
        ("\u0915\u094d\u200d\u0937", "Devanagari: a half form"),
        ("\u0915\u094d\u200c\u0937", "Devanagari: a virama that is shown"),
        ("\u0d05\u0d35\u0d28\u0d4d\u200d", "Malayalam: a final consonant, as it was once written"),
        ("\u0dc1\u0dca\u200d\u0dbb\u0dd3", "Sinhala: rakaransaya"),
        ("\u09b0\u200d\u09cd\u09af", "Bengali: ya-phalaa after ra"),
        ("\u0cb0\u200d\u0ccd\u0c95", "Kannada: ra that keeps its shape"),
    ],
)
def test_a_joiner_that_a_script_needs_stays(word: str, sense: str) -> None:
    assert word == normalize_text(word), sense


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("a\u200cb", "ab"),
        ("a\u200db", "ab"),
        ("\u0431\u200c\u0431", "\u0431\u0431"),
        # Alef joins nothing after it: the joiner would not be seen.
        ("\u0627\u200c\u062e", "\u0627\u062e"),
        ("\u0645\u200c", "\u0645"),
        ("\u200c\u0645", "\u0645"),
        ("\u0645\u200d\u062e", "\u0645\u062e"),
        ("\u0915\u200d\u0937", "\u0915\u0937"),
        ("\u0915\u094d\u200c", "\u0915\u094d"),
        # Many are one.
        ("\u0645\u06cc\u200c\u200c\u200b\u200c\u062e", "\u0645\u06cc\u200c\u062e"),
        ("\u0915\u094d\u200d\u200d\u0937", "\u0915\u094d\u200d\u0937"),
        # Emoji fall into their parts.
        ("\U0001f468\u200d\U0001f469\u200d\U0001f467", "\U0001f468\U0001f469\U0001f467"),
        ("\u2764\ufe0f", "\u2764"),
        ("\U0001f3f4\U000e0067\U000e0062\U000e007f", "\U0001f3f4"),
    ],
)
def test_a_joiner_that_nobody_sees_does_not(written: str, expected: str) -> None:
    assert expected == normalize_text(written)


def test_many_joiners_among_reordered_marks_do_not_take_long() -> None:
    """Settled one after the other they would take a pass over the text each."""
    text = "\u0915\u0327\u200d" + "\u094d\u200d" * 50_000
    assert "\u0915" + "\u094d" * 50_000 + "\u0327" == normalize_text(text)


@given(st.text(), st.text(hidden))
def test_readers_take_texts_for_one_that_differ_in_what_they_do_not_see(
    text: str, inserted: str
) -> None:
    assert visible_form(text) == visible_form(inserted + text)
    assert visible_form(text) == visible_form(visible_form(text))


@pytest.mark.parametrize(
    "spelling", ["flu", "Flu", " flu\u2800", "\uff46lu", "f\u200dlu", "FLU\n", "fl\u00adu"]
)
def test_one_illness_has_one_visible_form(spelling: str) -> None:
    assert "flu" == visible_form(spelling)


# --- columns ------------------------------------------------------------------------------------

SPELT = ["a", "a\u200b", None, "\u00e9", "e\u0301", "b", "a\u00ad", "\u200b"]
NORMAL = ["a", "a", None, "\u00e9", "\u00e9", "b", "a", ""]


@pytest.mark.parametrize(
    "dtype",
    [
        object,
        "str",
        pd.StringDtype("python"),
        pd.StringDtype("pyarrow"),
        pd.ArrowDtype(pa.string()),
        pd.ArrowDtype(pa.large_string()),
        "category",
    ],
)
def test_texts_of_every_storage_are_brought_to_one_form(dtype: object) -> None:
    series = pd.Series(SPELT, dtype=dtype, name="it", index=range(3, 11))
    result, changed = normalize_column(series)
    assert NORMAL == [None if pd.isna(cell) else cell for cell in result]
    assert (4, "it", list(range(3, 11))) == (changed, result.name, list(result.index))
    assert SPELT == [None if pd.isna(cell) else cell for cell in series]


def test_spellings_of_one_text_are_one_category() -> None:
    given_ = pd.Series(pd.Categorical(["b\u200b", "a", "b"], ["b", "b\u200b", "a"], ordered=True))
    result = normalize_column(given_)[0]
    assert (["b", "a"], True) == (list(result.cat.categories), result.cat.ordered)


def test_a_dictionary_of_arrow_is_text_too() -> None:
    cells = pa.array(["a", "a\u200b", None]).dictionary_encode()
    result, changed = normalize_column(pd.Series(cells, dtype=pd.ArrowDtype(cells.type)))
    assert (["a", "a"], 1) == (result.dropna().tolist(), changed)


@pytest.mark.parametrize(
    "cells",
    [
        pd.Series([1, 2]),
        pd.Series(["plain", "~ !", None]),
        pd.Series(["M\u00fcller", "\u0159e\u010d"]),
        pd.Series([1, "a", Decimal("1.5"), datetime.date(2024, 1, 1), True, None], dtype=object),
        pd.Series(["a", None], dtype="category"),
        pd.Series([1.5, 2.5], dtype="category"),
        pd.Series([], dtype="str"),
        pd.Series(["a", "b\u00ad"])[:1],
    ],
)
def test_a_column_without_such_text_is_not_touched(cells: pd.Series) -> None:
    result, changed = normalize_column(cells)
    assert result is cells
    assert 0 == changed


@given(st.lists(st.text(st.characters(max_codepoint=0x310), max_size=4), max_size=6))
def test_bytes_tell_whether_a_text_changes(texts: list[str]) -> None:
    """What the whole column's bytes say is what one text after the other says."""
    result, changed = normalize_column(pd.Series(texts, dtype="str"))
    assert [normalize_text(text) for text in texts] == result.tolist()
    assert sum(text != normalize_text(text) for text in texts) == changed


def test_equal_objects_of_different_types_stay_what_they_are() -> None:
    cells = pd.Series([1, True, 1.0, "1\u200b"], dtype=object)
    assert ["1", "True", "1.0", "1"] == [str(cell) for cell in normalize_column(cells)[0]]


def test_objects_that_write_themselves_invisibly_become_text() -> None:
    class Sly:
        def __str__(self) -> str:
            return "a\u200b"

    result, changed = normalize_column(pd.Series([Sly(), 1], dtype=object))
    assert (["a", 1], 1) == (result.tolist(), changed)


def test_a_cell_with_nothing_left_is_what_the_source_says_of_it() -> None:
    cells = pd.Series(["NA\u200b", "\u200b", "x"])
    result = normalize_column(cells, null=("", "NA"))[0]
    assert [True, True, False] == result.isna().tolist()
    categories = normalize_column(cells.astype("category"), null=("", "NA"))[0]
    assert [True, True, False] == categories.isna().tolist()


def test_cells_with_texts_inside_are_refused() -> None:
    with pytest.raises(DataError) as refused:
        normalize_column(pd.Series([["secret\u200b"], ["b"]], name="it"))
    assert (
        "column 'it': its cells are no single values; a cell must be one text, number, date or "
        "truth value" == str(refused.value)
    )


# --- tables -------------------------------------------------------------------------------------


def table_of(column: Column, cells: list[object]) -> Table:
    return Table.build(pd.DataFrame({"it": pd.Series(cells, dtype=object)}), Schema([column]))


@pytest.mark.parametrize("role", ["quasi", "sensitive", "label", "other", "person", "group"])
def test_spellings_are_one_value_in_every_role(role: str) -> None:
    table = table_of(Column(name="it", role=role), ["a", "a\u200b", "\u2066a", "b"])
    assert [0, 0, 0, 1] == table.encode_column("it").codes.tolist()
    assert ["a", "a", "a", "b"] == table.frame["it"].tolist()
    assert {"it": 2} == table.normalized


def test_numbers_and_days_are_read_without_what_nobody_sees() -> None:
    number = table_of(Column(name="it", role="quasi", type="number"), ["1\u200b", "\ufeff2", 1])
    assert ([1.0, 2.0, 1.0], {"it": 2}) == (number.frame["it"].tolist(), number.normalized)
    day = table_of(Column(name="it", role="quasi", type="date"), ["2024-01-01\u200e", "2024-01-01"])
    assert [0, 0] == day.codes[0].tolist()


def test_spellings_of_an_identifier_are_one_pseudonym(tmp_path) -> None:
    key = tmp_path / "key"
    key.write_text("11" * 32)
    column = Column(name="it", role="identifier", pseudonymize=True, key=key)
    plain = table_of(column, ["anna", "bert"]).frame["it"].tolist()
    spelt = table_of(column, ["an\u200bna", "ber\u00adt"]).frame["it"].tolist()
    assert plain == spelt
    hidden_name = pd.DataFrame({"it\u200b": ["anna", "bert"]})
    assert plain == Table.build(hidden_name, Schema([column])).frame["it"].tolist()


def test_identifiers_that_are_dropped_are_not_counted() -> None:
    table = table_of(Column(name="it", role="identifier"), ["a\u200b"])
    assert {} == table.normalized


def test_names_of_columns_are_read_alike() -> None:
    frame = pd.DataFrame({"a\u200bge\n": ["1"], "cafe\u0301": ["2"]})
    schema = Schema([Column(name="age ", role="quasi"), Column(name="caf\u00e9", role="other")])
    table = Table.build(frame, schema)
    assert (["age ", "caf\u00e9"], ["1", "2"]) == (
        list(table.frame.columns),
        table.frame.iloc[0].tolist(),
    )


def test_names_that_only_a_machine_tells_apart_are_one_name() -> None:
    frame = pd.DataFrame({"age": ["1"], "age\u200b": ["2"]})
    with pytest.raises(DataError) as refused:
        Table.build(frame, Schema([Column(name="age", role="quasi")]))
    assert "the data have more than one column named 'age'" == str(refused.value)


@pytest.mark.parametrize("name", ["age\u200b", "cafe\u0301", "a\nb"])
def test_a_name_is_declared_in_its_form(name: str) -> None:
    with pytest.raises(ValueError) as refused:  # noqa: PT011  # the whole message is compared
        Column(name=name, role="quasi")
    assert (
        "a column's name must be in Unicode's form NFC, without characters that nobody sees and "
        f"without line breaks. Got {name!a} instead." == str(refused.value)
    )


def test_taken_rows_keep_what_was_counted() -> None:
    table = table_of(Column(name="it", role="other"), ["a\u200b", "b"])
    assert {"it": 1} == table.take(np.array([1])).normalized
