"""Pseudonyms: equal persons stay equal under one key, and nobody can tell who they are."""

import hashlib
import hmac

import numpy as np
import pandas as pd
import pytest

from anonloom import Column, Release, Schema, Table
from anonloom.data._pseudonyms import key_for, pseudonyms
from anonloom.errors import DataError

KEY, OTHER = bytes(range(32)), bytes(32)


def of(values: object, key: bytes = KEY, name: str = "id") -> list[object]:
    result = pseudonyms(pd.Series(values, name=name), key)
    return [None if pd.isna(cell) else cell for cell in result]


def test_a_pseudonym_is_a_keyed_hash_of_column_and_cell() -> None:
    expected = hmac.new(KEY, b"id\0Ada", hashlib.sha256).hexdigest()[:32]
    assert [expected, None, expected] == of(["Ada", None, "Ada"])


def test_equal_keys_give_equal_pseudonyms_and_other_keys_others() -> None:
    assert of(["Ada", "Bob"]) == of(["Ada", "Bob"])
    assert set(of(["Ada", "Bob"])).isdisjoint(of(["Ada", "Bob"], OTHER))
    assert of(["Ada"]) != of(["Ada"], name="other")


def test_a_number_keeps_its_pseudonym_when_a_cell_beside_it_is_missing() -> None:
    assert of([1, 2]) == of([1, 2, None])[:2] == of(["1", "2"])
    assert of([1, 2]) == of(pd.Series([1, 2], dtype="category"))


def test_cells_that_read_alike_are_one_person() -> None:
    one, other = of(pd.Series([1, "1"], dtype=object))
    assert one == other


def test_any_text_has_a_pseudonym() -> None:
    assert 2 == len(set(of(pd.Series(["\ud800", ""], dtype=object))))


def test_pseudonyms_of_nothing() -> None:
    assert [None, None] == of(pd.Series([None, None], dtype=object))


def table(column: Column) -> Table:
    schema = Schema([column, Column(name="age", role="quasi", type="number")])
    return Table.build(pd.DataFrame({"id": ["Ada", "Bob", "Ada"], "age": [1, 2, 3]}), schema)


def test_identifiers_are_published_as_pseudonyms_only_when_the_column_says_so() -> None:
    column = Column(name="id", role="identifier", pseudonymize=True)
    built = table(column)
    cells = Release.as_it_is(built).frame["id"].tolist()
    assert cells[0] == cells[2] != cells[1]
    assert of(["Ada", "Bob", "Ada"], built.pseudonym_keys["id"]) == cells
    assert "Ada" not in repr(built)
    assert repr(built.pseudonym_keys["id"]) not in repr(built)
    plain = table(Column(name="id", role="identifier"))
    assert ["age"] == list(Release.as_it_is(plain).frame.columns)
    assert {} == plain.pseudonym_keys


def test_without_a_key_file_every_run_has_a_key_of_its_own() -> None:
    column = Column(name="id", role="identifier", pseudonymize=True)
    one, other = table(column), table(column)
    assert 32 == len(one.pseudonym_keys["id"])
    assert one.pseudonym_keys != other.pseudonym_keys


def test_a_key_file_makes_releases_joinable(tmp_path) -> None:
    path = tmp_path / "key"
    path.write_text(KEY.hex() + "\n", encoding="ascii")
    column = Column(name="id", role="identifier", pseudonymize=True, key=path)
    assert KEY == key_for(column)
    assert of(["Ada", "Bob", "Ada"]) == table(column).column("id").tolist()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "the key file cannot be read; it must hold a hexadecimal key"),
        (b"not a key", "the key file cannot be read; it must hold a hexadecimal key"),
        (b"\xff\xfe", "the key file cannot be read; it must hold a hexadecimal key"),
        (b"00" * 31, "the key has 31 bytes, it needs at least 32"),
        (b"", "the key has 0 bytes, it needs at least 32"),
    ],
)
def test_a_wrong_key_file_is_refused(tmp_path, content: bytes | None, message: str) -> None:
    path = tmp_path / "key"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(DataError) as error:
        key_for(Column(name="id", role="identifier", pseudonymize=True, key=path))
    assert f"column 'id': {message}" == str(error.value)


def test_taken_rows_keep_their_pseudonyms() -> None:
    built = table(Column(name="id", role="identifier", pseudonymize=True))
    assert built.column("id").tolist()[1:] == built.take(np.array([1, 2])).column("id").tolist()
