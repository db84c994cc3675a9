"""The source: which table it loads, that it says so, its parameters and its mistakes."""

import hashlib

import pandas as pd
import pytest

from anonloom import Column, Schema, StageContext
from anonloom.errors import DataError, ParameterError
from anonloom.params import build
from anonloom_diabetes import file
from anonloom_diabetes.source import COLUMNS, REAL, SIMULATED, Diabetes

HINT = (
    "    put diabetes_prediction_dataset.csv (Kaggle: iammustafatz/diabetes-prediction-dataset) "
    "into a folder, or into its subfolder 'diabetes', and set ANONLOOM_DATA to that folder;\n"
    "    or write 'which: simulated'"
)
HEADER = ",".join(COLUMNS)
#: Persons whom nobody ever was.
ROWS = [
    "Female,80.0,0,1,never,25.19,6.6,140,0",
    "Male,0.08,0,0,No Info,27.32,3.5,80,0",
    "Other,33.0,1,0,not current,41.5,9.0,300,1",
]


@pytest.fixture(autouse=True)
def no_folder(monkeypatch):
    monkeypatch.delenv("ANONLOOM_DATA", raising=False)


@pytest.fixture
def put(monkeypatch, tmp_path):
    """Write a file of the real table's name, and name its folder."""

    def write(*rows, header=HEADER, below=""):
        path = tmp_path / below / file.NAME
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n".join([header, *rows]) + "\n")
        monkeypatch.setenv("ANONLOOM_DATA", str(tmp_path))
        return path

    return write


def schema(*names):
    return Schema(
        [
            Column(name=name, role="other", type="number" if name in file.NUMBERS else "category")
            for name in names or COLUMNS
        ]
    )


def run_of(seed=1):
    return StageContext(stage="source", seed=seed)


def load(seed=1, names=(), **options):
    return Diabetes(**options).load(schema(*names), run_of(seed)).frame


def found(**options):
    run = run_of()
    Diabetes(**options).load(schema(), run)
    return {item.name: (item.value, item.meaning, item.assumptions) for item in run.found}


# --- which table ----------------------------------------------------------------------------------


def test_without_the_real_table_rows_are_simulated_and_the_finding_says_why(monkeypatch, tmp_path):
    unset = (1, SIMULATED, ("ANONLOOM_DATA is not set",))
    assert {"simulated": unset} == found(rows=5)
    monkeypatch.setenv("ANONLOOM_DATA", str(tmp_path))
    lacking = "the folder that ANONLOOM_DATA names has no diabetes_prediction_dataset.csv"
    assert {"simulated": (1, SIMULATED, (lacking,))} == found(rows=5)


@pytest.mark.parametrize("below", ["", "diabetes"])
@pytest.mark.parametrize("which", ["auto", "real"])
def test_the_real_table_is_used_where_it_is_at_hand_and_the_finding_says_so(put, below, which):
    put(*ROWS, below=below)
    assert (0, REAL, ()) == found(which=which)["simulated"]
    frame = load(which=which)
    assert ["Female", "Male", "Other"] == frame["gender"].tolist()
    assert [80.0, 0.08, 33.0] == frame["age"].tolist()
    assert ["0", "0", "1"] == frame["diabetes"].tolist()
    assert [140.0, 80.0, 300.0] == frame["blood_glucose_level"].tolist()


def test_simulated_rows_can_be_asked_for_where_the_real_table_is_at_hand(put):
    put(*ROWS)
    asked = {"simulated": (1, SIMULATED, ("'which: simulated' was written",))}
    assert asked == found(which="simulated", rows=5)


def test_a_file_that_is_not_the_known_copy_is_used_and_the_finding_says_so(put, monkeypatch):
    path = put(*ROWS)
    assert (
        0,
        "The file has the columns of the table, but is not the copy on which this package's "
        "figures were measured.",
        (),
    ) == found()["known_copy"]
    monkeypatch.setattr(file, "SHA256", hashlib.sha256(path.read_bytes()).hexdigest())
    assert 1 == found()["known_copy"][0]


def test_both_tables_have_columns_of_the_same_types(put):
    put(*ROWS)
    numbers = Schema([Column(name=name, role="other", type="number") for name in COLUMNS[5:]])
    for declared in (schema(), numbers, Schema([Column(name=n, role="quasi") for n in COLUMNS])):
        real, simulated = (
            Diabetes(which=which, rows=3).load(declared, run_of()).frame
            for which in ("real", "simulated")
        )
        assert [
            "number" if pd.api.types.is_numeric_dtype(kind) else "text" for kind in real.dtypes
        ] == [
            "number" if pd.api.types.is_numeric_dtype(kind) else "text" for kind in simulated.dtypes
        ]


def test_fewer_real_rows_are_drawn_without_repetition_in_their_order(put):
    put(*(row.replace("Female,80.0", f"Female,{age}") for age in range(1, 41) for row in ROWS[:1]))
    ages = load(rows=10)["age"].tolist()
    assert 10 == len(set(ages))
    assert sorted(ages) == ages
    assert ages == load(rows=10)["age"].tolist()
    assert ages != load(rows=10, seed=2)["age"].tolist()


# --- mistakes -------------------------------------------------------------------------------------


def refused(**options):
    with pytest.raises(DataError) as caught:
        load(**options)
    return str(caught.value)


def test_a_real_table_that_is_not_there_is_refused_and_the_message_says_where_to_put_it(
    monkeypatch, tmp_path
):
    assert "the real diabetes table is not at hand: ANONLOOM_DATA is not set\n" + HINT == refused(
        which="real"
    )
    monkeypatch.setenv("ANONLOOM_DATA", str(tmp_path))
    assert (
        "the real diabetes table is not at hand: the folder that ANONLOOM_DATA names has no "
        "diabetes_prediction_dataset.csv\n" + HINT == refused(which="real")
    )


@pytest.mark.parametrize(
    "header",
    [ROWS[0], "gender,age", f"{HEADER},name", HEADER.replace("bmi", "BMI")],
    ids=["none", "too few", "too many", "another"],
)
def test_other_columns_are_refused_without_showing_what_the_file_has(put, header):
    path = put(*ROWS, header=header)
    assert (
        f"{path}: the columns are not the 9 of the diabetes prediction table\n"
        f"    they should be: {', '.join(COLUMNS)}" == refused()
    )


@pytest.mark.parametrize(
    ("cell", "other", "expected"),
    [
        ("Female", "female", "column 'gender': 1 cell is missing or none of Female, Male, Other"),
        ("Female", "", "column 'gender': 1 cell is missing or none of Female, Male, Other"),
        ("80.0", "", "column 'age': 1 cell is missing or not between 0 and 120"),
        ("80.0", "800", "column 'age': 1 cell is missing or not between 0 and 120"),
        (",0,1,", ",2,1,", "column 'hypertension': 1 cell is missing or none of 0, 1"),
        ("140", "-1", "column 'blood_glucose_level': 1 cell is missing or not between 10 and 1000"),
    ],
)
def test_cells_that_the_table_cannot_have_are_counted_and_not_shown(put, cell, other, expected):
    path = put(ROWS[1], ROWS[0].replace(cell, other), ROWS[2])
    assert (
        f"{path}: {expected} (row 2)\n"
        "    correct the file, or read it with 'source: csv', which makes no demands" == refused()
    )


def test_many_bad_cells_are_counted_and_the_first_rows_named(put):
    path = put(*([ROWS[0].replace("never", "sometimes")] * 7))
    assert (
        f"{path}: column 'smoking_history': 7 cells are missing or none of No Info, current, ever, "
        "former, never, not current (rows 1, 2, 3, 4, 5, ...)\n"
        "    correct the file, or read it with 'source: csv', which makes no demands" == refused()
    )


def test_words_in_a_column_of_numbers_are_refused(put):
    put(ROWS[0].replace("80.0", "old"))
    assert (
        "column 'age': 1 cell is not a number (row 1); correct the data, or declare the column as "
        "'type: category'" == refused()
    )


def test_more_rows_than_the_real_table_has_are_refused(put):
    put(*ROWS)
    assert "the real diabetes table has 3 rows, fewer than the 4 that 'rows' asks for" == refused(
        rows=4
    )


def test_a_column_that_there_is_not_is_refused():
    with pytest.raises(DataError) as caught:
        load(names=["age", "gendre"])
    listed = ", ".join(f"'{name}'" for name in COLUMNS)
    assert (
        f"the data have no column 'gendre'; they have: {listed}\n    'gendre': did you mean 'gender'?"
        == str(caught.value)
    )


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("rows", 0, "an integer of at least 1, or None"),
        ("seed", -1, "an integer of at least 0, or None"),
        ("which", "fake", "one of 'auto', 'real', 'simulated'"),
    ],
)
def test_parameters_out_of_range_are_refused(name, value, words):
    with pytest.raises(ParameterError) as caught:
        Diabetes(**{name: value})
    assert f"The '{name}' parameter of Diabetes must be {words}. Got {value!r} instead." == str(
        caught.value
    )


# --- rows -----------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_rows_and_another_seed_others():
    first = load(seed=7, rows=300)
    pd.testing.assert_frame_equal(first, load(seed=7, rows=300))
    assert not first.equals(load(seed=8, rows=300))


def test_a_seed_of_its_own_keeps_the_rows_while_that_of_the_pipeline_changes():
    own = Diabetes(rows=300, seed=5)
    pd.testing.assert_frame_equal(
        own.load(schema(), run_of(1)).frame, own.load(schema(), run_of(2)).frame
    )
    other = Diabetes(rows=300, seed=6).load(schema(), run_of(1)).frame
    assert not other.equals(own.load(schema(), run_of(1)).frame)


def test_a_declaration_changes_no_cell():
    whole = load(rows=300)
    for name in COLUMNS:
        pd.testing.assert_series_equal(whole[name], load(rows=300, names=[name])[name])


def test_as_many_persons_as_the_real_table_has_are_simulated_unless_told_otherwise():
    assert 100_000 == len(load(names=["diabetes"]))
    assert 1 == len(load(rows=1))


def test_parameters_can_be_built_from_plain_values():
    assert Diabetes(rows=5, seed=2, which="real") == build(
        Diabetes, {"rows": 5, "seed": 2, "which": "real"}
    )
