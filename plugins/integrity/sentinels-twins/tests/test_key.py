"""The private key: read as written, refused when anything is wrong, never shown."""

import json
import stat

import attrs
import numpy as np
import pandas as pd
import pytest

from anonloom.errors import IntegrityError
from anonloom_sentinels_twins import key as keys
from anonloom_sentinels_twins.assignment import assign
from anonloom_sentinels_twins.work_check import Campaign, Sizing

NAMES = ("high", "low", "middle")


def rows(count, start=0):
    return pd.DataFrame({"age": np.arange(start, start + count), "town": "x"})


def known_rows(count):
    return rows(count, 1000).assign(result=[NAMES[index % 3] for index in range(count)])


def made(seed=1, known=None):
    campaign = Campaign(
        jobs=20,
        workers=3,
        lazy=1,
        omission=0.25,
        classes=(0.2, 0.5, 0.3),
        epsilon=0.5,
        groups=({0, 1},),
    )
    sizing = Sizing(
        controls={"sentinels": 6, "twins": 5},
        undetected=0.4,
        reasons=("because",),
        assumptions=("blind",),
    )
    known = known_rows(30) if known is None else known
    return assign(rows(20), known, campaign, sizing, np.random.default_rng(seed), {}).key


def test_a_key_is_read_as_it_was_written(tmp_path):
    key = made()
    keys.write(key, tmp_path / "key.json")
    result = keys.read(tmp_path / "key.json")
    for field in attrs.fields(keys.Key):
        one, other = getattr(key, field.name), getattr(result, field.name)
        assert np.array_equal(one, other) if isinstance(one, np.ndarray) else one == other


def test_only_the_owner_can_read_it_and_none_is_written_over(tmp_path):
    path = tmp_path / "key.json"
    keys.write(made(), path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    before = path.read_bytes()
    with pytest.raises(IntegrityError) as caught:
        keys.write(made(2), path)
    assert str(caught.value) == f"the key {path} cannot be written: File exists"
    assert path.read_bytes() == before


def test_nothing_of_it_is_shown():
    assert repr(made()) == "Key(20 rows, 3 workers)"


def test_it_holds_no_cell_of_a_row(tmp_path):
    known = known_rows(30).assign(town="Secretville")
    keys.write(made(known=known), tmp_path / "key.json")
    assert "Secretville" not in (tmp_path / "key.json").read_text()


def test_every_missing_entry_and_every_wrong_type_is_refused(tmp_path):
    keys.write(made(), tmp_path / "key.json")
    document = json.loads((tmp_path / "key.json").read_text())
    path = tmp_path / "changed.json"
    changes = [("left out", lambda holder, at: holder.pop(at))]
    changes += [
        (f"is {value!r}", lambda holder, at, value=value: holder.__setitem__(at, value))
        for value in ("strange", [None], {"a": 1}, True)
    ]

    def places(node, at=()):
        for name, value in node.items() if isinstance(node, dict) else []:
            yield (*at, name)
            yield from places(value, (*at, name))

    where = [*places(document), *(("workers", 0, name) for name in document["workers"][0])]
    accepted = []
    for place in where:
        for name, change in changes:
            copy = json.loads(json.dumps(document))
            holder = copy
            for step in place[:-1]:
                holder = holder[step]
            if name == "is True" and isinstance(holder[place[-1]], bool):
                continue
            change(holder, place[-1])
            path.write_text(json.dumps(copy))
            try:
                keys.read(path)
            except IntegrityError:
                continue
            accepted.append((place, name))
    assert [] == accepted


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.update(context="other"), "it is another sort of file"),
        (lambda d: d.update(version=1), "it is not of version 2"),
        (lambda d: d.update(extra=1), "'key' has other entries"),
        (lambda d: d["workers"].pop(), "'workers' does not fit the campaign"),
        (lambda d: d["workers"][0]["jobs"].pop(), "a worker's lists differ in length"),
        (lambda d: d["workers"][0]["jobs"].__setitem__(0, "A" * 32), "a job has a wrong name"),
        (
            lambda d: d["workers"][0]["jobs"].__setitem__(0, d["workers"][1]["jobs"][0]),
            "two jobs have one name",
        ),
        (lambda d: d["workers"][0]["rows"].__setitem__(0, 2**70), "a number is too large"),
        (
            lambda d: [w.update(expected=[0] * len(w["jobs"])) for w in d["workers"]],
            "a job is neither row nor sentinel",
        ),
        (
            lambda d: [w.update(copies=[True] * len(w["jobs"])) for w in d["workers"]],
            "a sentinel is a twin",
        ),
        (
            lambda d: [w.update(copies=[False] * len(w["jobs"])) for w in d["workers"]],
            "not every row is one worker's job",
        ),
        (lambda d: d.update(rows=3), "a row does not exist"),
        (lambda d: d.update(results=["low"]), "a result does not exist"),
        (
            lambda d: d["sizing"]["controls"].update(twins=4),
            "the controls are not those of the sizing",
        ),
    ],
)
def test_what_is_wrong_is_said_without_what_is_in_it(change, message, tmp_path):
    path = tmp_path / "key.json"
    keys.write(made(), path)
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))
    with pytest.raises(IntegrityError) as caught:
        keys.read(path)
    assert str(caught.value) == f"the key {path} cannot be used: {message}"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"a": 1,', "is no JSON: line 1"),
        (b"\xff\xfe", "is no text"),
        (b"[]", "cannot be used: it is no mapping"),
        (b'{"a": NaN}', "cannot be used: a number is not finite"),
        (b'{"a": 1, "a": 2}', "cannot be used: a name occurs twice"),
        (b"[" * 200_000, "is nested too deeply"),
    ],
)
def test_what_is_no_key_is_refused(content, message, tmp_path):
    path = tmp_path / "key.json"
    path.write_bytes(content)
    with pytest.raises(IntegrityError) as caught:
        keys.read(path)
    assert str(caught.value) == f"the key {path} {message}"


def test_a_file_that_is_not_there_is_said_to_be(tmp_path):
    with pytest.raises(IntegrityError) as caught:
        keys.read(tmp_path / "none.json")
    assert (
        str(caught.value)
        == f"the key {tmp_path / 'none.json'} cannot be read: No such file or directory"
    )


def test_rows_that_served_as_sentinels_are_known_again(tmp_path):
    """However they are stored: as numbers or as text, in whatever order of the columns."""
    known = known_rows(30)
    key = made(known=known)
    keys.write(key, tmp_path / "key.json")
    key = keys.read(tmp_path / "key.json")
    served = key.was_sentinel(known[["age", "town"]])
    assert served.sum() == 6
    as_text = known[["town", "age"]].astype(str)
    assert served.tolist() == key.was_sentinel(as_text).tolist()
    assert (
        served.tolist()
        == key.was_sentinel(known.assign(age=known["age"] * 1.0)[["age", "town"]]).tolist()
    )
    left = keys.fresh(known, [key, made(2, known)], "result")
    assert 30 - 12 <= len(left) <= 30 - 6
    assert not key.was_sentinel(left[["age", "town"]]).any()
    assert list(left.columns) == list(known.columns)


def test_fingerprints_are_salted():
    one, other = made(1), made(2)
    assert not set(one.used) & set(other.used)


@pytest.mark.parametrize(
    "same",
    [
        [1, 1.0, "1", "1.0", "1.00", np.int32(1), np.float32(1.0)],
        [0.5, "0.5", "0.50"],
        [0, -0.0, "0", "-0", "-0.0"],
        [-2.5, "-2.50"],
        [None, np.nan, "", pd.NA],
        ["007"],
        ["1e5"],
        ["low"],
        [" low"],
        [True, "True"],
        [1e-07, "1e-07"],
    ],
)
def test_one_value_has_one_spelling(same):
    texts = {keys.spell(pd.Series([value], dtype=object))[0] for value in same}
    assert len(texts) == 1


def test_different_values_have_different_spellings():
    values = ["1", "01", "low", "Low", 2, 2.5, "1,5", "-1", None, "nan", "1.", ".5"]
    assert len(set(keys.spell(pd.Series(values, dtype=object)))) == len(values)


@pytest.mark.parametrize(
    ("text", "number"), [("007", 7), ("1e3", 1000.0), ("1.50", 1.5), ("+5", 5), ("-0", 0)]
)
def test_a_row_is_known_again_when_a_column_has_become_one_of_numbers(text, number):
    written, read = (
        keys.fingerprints(pd.DataFrame({"x": [cell], "y": ["a"]}), b"salt")
        for cell in (text, number)
    )
    assert written == read
    other = keys.fingerprints(pd.DataFrame({"x": [number + 1], "y": ["a"]}), b"salt")
    assert written != other
