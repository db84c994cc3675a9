"""Files of a campaign: nothing gives a control away, and broken answers are named."""

import gzip
import stat

import numpy as np
import pandas as pd
import pytest

from anonloom.errors import DataError, UsageError
from anonloom_sentinels_twins import files
from anonloom_sentinels_twins.scheme import SentinelsTwins
from anonloom_sentinels_twins.work_check import JOB, RESULT, Campaign, Judgement


def made(seed=1, workers=3):
    rng = np.random.default_rng(seed)
    jobs = pd.DataFrame({"age": [str(n) for n in range(60)], "note": ["a, b", None, 'c"'] * 20})
    known = pd.DataFrame(
        {"age": [str(n) for n in range(100, 140)], "note": "a, b", RESULT: ["x", "y"] * 20}
    )
    campaign = Campaign(
        jobs=60, workers=workers, lazy=1, omission=0.3, classes=(0.5, 0.5), budget=30
    )
    scheme = SentinelsTwins(likeness=False)
    return scheme.assign(jobs, known, campaign, scheme.size(campaign), rng)


def test_a_plan_is_one_file_per_worker_and_a_key_apart(tmp_path):
    assignment = made()
    files.write_plan(assignment, tmp_path / "plan")
    assert ["private/key.json", *(f"workers/worker-0{n}.csv" for n in (1, 2, 3))] == sorted(
        str(path.relative_to(tmp_path / "plan"))
        for path in (tmp_path / "plan").rglob("*")
        if path.is_file()
    )
    private = tmp_path / "plan" / "private"
    assert 0o700 == stat.S_IMODE(private.stat().st_mode)
    assert 0o600 == stat.S_IMODE((private / "key.json").stat().st_mode)
    for number, batch in enumerate(assignment.batches, start=1):
        read = files.read_rows(tmp_path / "plan" / "workers" / f"worker-0{number}.csv")
        assert [JOB, "age", "note"] == list(read.columns)
        assert batch.fillna("-").to_dict("list") == read.fillna("-").to_dict("list")
    key = files.read_plan(tmp_path / "plan")
    assert assignment.key.job.tolist() == key.job.tolist()


def test_all_files_of_workers_are_dated_alike_and_in_whole_seconds(tmp_path):
    files.write_plan(made(), tmp_path / "plan")
    times = {path.stat().st_mtime_ns for path in (tmp_path / "plan" / "workers").iterdir()}
    assert 1 == len(times)
    assert 0 == times.pop() % 10**9


def test_file_names_are_in_the_order_of_workers():
    assert ["worker-01.csv", "worker-10.csv"] == [files.worker_file(n, 10) for n in (0, 9)]
    assert "worker-007.csv" == files.worker_file(6, 120)


def test_a_plan_is_not_overwritten_unless_asked(tmp_path):
    target = tmp_path / "plan"
    files.write_plan(made(1), target)
    before = (target / "private" / "key.json").read_bytes()
    with pytest.raises(UsageError) as caught:
        files.write_plan(made(2), target)
    assert (
        f"'{target}' exists already\n"
        "    Use --replace, or write to another folder. Without its key the answers to a plan cannot be verified."
    ) == str(caught.value)
    assert before == (target / "private" / "key.json").read_bytes()
    files.write_plan(made(2, workers=2), target, replace=True)
    assert 2 == len(list((target / "workers").iterdir()))
    assert [target] == list(tmp_path.iterdir())


def test_a_folder_that_is_no_plan_is_never_replaced(tmp_path):
    (tmp_path / "photo.png").write_bytes(b"x")
    with pytest.raises(UsageError) as caught:
        files.write_plan(made(), tmp_path, replace=True)
    assert (
        f"'{tmp_path}' is not the folder of a plan and is not replaced\n"
        "    Write to another folder."
    ) == str(caught.value)


def test_a_link_to_a_plan_is_never_replaced(tmp_path):
    files.write_plan(made(), tmp_path / "plan")
    (tmp_path / "link").symlink_to(tmp_path / "plan")
    with pytest.raises(UsageError) as caught:
        files.write_plan(made(2), tmp_path / "link", replace=True)
    assert (
        f"'{tmp_path / 'link'}' is not the folder of a plan and is not replaced\n"
        "    Write to another folder."
    ) == str(caught.value)


def test_when_writing_fails_the_old_plan_is_still_there(tmp_path, monkeypatch):
    target = tmp_path / "plan"
    files.write_plan(made(1), target)
    before = (target / "private" / "key.json").read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files, "write_csv", full)
    with pytest.raises(OSError, match="No space"):
        files.write_plan(made(2), target, replace=True)
    assert before == (target / "private" / "key.json").read_bytes()
    assert [target] == list(tmp_path.iterdir())


def test_a_folder_without_a_plan_is_refused(tmp_path):
    with pytest.raises(UsageError) as caught:
        files.read_plan(tmp_path)
    assert (
        f"'{tmp_path}' holds no plan: there is no 'private/key.json' in it\n"
        "    It is the folder that 'anonloom outsource plan' wrote."
    ) == str(caught.value)


def test_answers_are_read_as_they_are_written(tmp_path):
    (tmp_path / "worker-01.csv").write_text("job,result\na,01\nb,\nc,1.0\n")
    (tmp_path / "worker-03.csv").write_text("age;result;job\r\n7;x;d\r\n")
    (tmp_path / "worker-04.csv").write_text("job,result\n")
    (tmp_path / ".hidden").write_text("")
    first, second, third, fourth = files.read_answers(tmp_path, 4)
    assert {JOB: ["a", "b", "c"], RESULT: ["01", None, "1.0"]} == first.to_dict("list")
    assert second is None
    assert {JOB: ["d"], RESULT: ["x"]} == third.to_dict("list")
    assert {JOB: [], RESULT: []} == fourth.to_dict("list")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b"\n\n", "the file is empty"),
        (
            b"job,answer\na,1\n",
            "there is no column 'result'\n    An answer has the columns 'job' and 'result'; others are not looked at.",
        ),
        (
            b"a,b\n1,2\n",
            "there is no column 'job' and 'result'\n    An answer has the columns 'job' and 'result'; others are not looked at.",
        ),
        (b"job,result,result\na,1,2\n", "the header names 'result' more than once"),
        (
            b"job,result\na,1,2\n",
            "1 row has more or fewer cells than the header's 2 (row 1)\n    the separator is ','; a cell that holds it must be quoted",
        ),
        (
            b'job,result\na,"1\n',
            "a quote that opens in row 1 is never closed\n    close it; a quote inside a quoted cell is written twice",
        ),
        (
            b"job,result\na,\xff\n",
            "the file is not utf-8 (first in line 2)\n    name its encoding, for example 'encoding: cp1252', or save it as utf-8",
        ),
        (
            gzip.compress(b"job,result\na,1\n", mtime=0),
            "the file is not utf-8 (first in line 1)\n    name its encoding, for example 'encoding: cp1252', or save it as utf-8",
        ),
    ],
    ids=["empty", "blank", "one", "both", "twice", "ragged", "quote", "bytes", "gzip"],
)
def test_answers_that_cannot_be_read_are_named(content, message, tmp_path):
    path = tmp_path / "worker-01.csv"
    path.write_bytes(content)
    with pytest.raises(DataError) as caught:
        files.read_answers(tmp_path, 1)
    assert f"{path}: {message}" == str(caught.value)


def test_a_file_of_no_worker_is_no_silence(tmp_path):
    (tmp_path / "worker-1.csv").write_text("job,result\n")
    with pytest.raises(DataError) as caught:
        files.read_answers(tmp_path, 2)
    assert (
        f"{tmp_path}: no worker of the plan sends 'worker-1.csv'\n"
        "    Answers have the names of the workers' files: 'worker-01.csv' to 'worker-02.csv'."
    ) == str(caught.value)
    with pytest.raises(UsageError) as caught:
        files.read_answers(tmp_path / "none", 2)
    assert f"'{tmp_path / 'none'}' is not a folder of answers" == str(caught.value)


def test_rows_with_repeated_columns_are_refused(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("age,age,b\n1,2,3\n")
    with pytest.raises(DataError) as caught:
        files.read_rows(path)
    assert f"{path}: the header names 'age' more than once" == str(caught.value)


def test_a_column_of_numbers_says_how_many_cells_are_none():
    frame = pd.DataFrame({"age": ["1", "old", None, "3"], "size": ["1.50", "2", None, "3"]})
    with pytest.raises(DataError) as caught:
        files.as_numbers(frame, "age", "rows.csv")
    assert "rows.csv: column 'age' has 1 cell that cannot be read as a number" == str(caught.value)
    assert [1.5, 2.0, 3.0] == files.as_numbers(frame, "size", "rows.csv").dropna().tolist()


def test_results_say_which_not_to_rely_on(tmp_path):
    judgement = Judgement(
        workers=(),
        results=pd.Series(["x", None, "1.0"], dtype=object),
        distrusted=np.array([False, True, True]),
        prior="",
    )
    path = tmp_path / "out" / "results.csv"
    files.refuse_results(path, replace=False)
    files.write_results(judgement, path)
    assert "row,result,distrusted\n1,x,no\n2,,yes\n3,1.0,yes\n" == path.read_text()
    assert [path] == list(path.parent.iterdir())
    with pytest.raises(UsageError) as caught:
        files.refuse_results(path, replace=False)
    assert (f"'{path}' exists already\n    Use --replace, or write to another file.") == str(
        caught.value
    )
    files.refuse_results(path, replace=True)
    with pytest.raises(UsageError) as caught:
        files.refuse_results(tmp_path, replace=True)
    assert f"'{tmp_path}' is a folder, not a file" == str(caught.value)


def test_an_interruption_brings_the_replaced_plan_back(tmp_path, monkeypatch):
    """Wherever it comes: also right after the old plan was moved out of the way."""
    files.write_plan(made(), tmp_path / "plan")
    before = (tmp_path / "plan" / "private" / "key.json").read_bytes()

    moved = type(tmp_path).rename

    def rename(path, target):
        moved(path, target)
        if path.name == "plan":
            raise KeyboardInterrupt

    monkeypatch.setattr(type(tmp_path), "rename", rename)
    with pytest.raises(KeyboardInterrupt):
        files.write_plan(made(2), tmp_path / "plan", replace=True)
    assert before == (tmp_path / "plan" / "private" / "key.json").read_bytes()
    assert ["plan"] == [path.name for path in tmp_path.iterdir()]


def test_many_columns_do_not_keep_the_client_waiting(tmp_path):
    """Columns are counted at once; one by one, a file of a worker would take hours."""
    names = [f"c{number}" for number in range(100_000)]
    (tmp_path / "worker-01.csv").write_text(
        ",".join(["job", "result", *names, "c7"]) + "\n", encoding="utf-8"
    )
    with pytest.raises(DataError) as caught:
        files.read_answers(tmp_path, 1)
    assert f"{tmp_path / 'worker-01.csv'}: the header names 'c7' more than once" == str(
        caught.value
    )
