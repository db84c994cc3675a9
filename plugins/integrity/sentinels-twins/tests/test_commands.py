"""`anonloom outsource`: says what it is good for, writes nothing half, and exits as it should."""

import re
import stat

import numpy as np
import pandas as pd
import pytest

from anonloom_cli import main
from anonloom_sentinels_twins import (
    files,
    plan_command,
    sentinel_indistinguishability,
    verify_command,
)
from anonloom_sentinels_twins import key as keys

EXPECTED = ["--workers", "6", "--lazy", "2", "--omission", "0.5"]


def classified(ages):
    return ["old" if int(age) > 60 else "young" for age in ages]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # What likeness finds is tested elsewhere; here it need not be precise.
    monkeypatch.setattr(sentinel_indistinguishability, "EXCHANGES", 99)
    monkeypatch.setattr(sentinel_indistinguishability, "_TREES", 5)
    rng = np.random.default_rng(1)
    rows = pd.DataFrame({"age": rng.integers(18, 90, 400), "zip": rng.integers(100, 999, 400)})
    known = pd.DataFrame({"age": rng.integers(18, 90, 300), "zip": rng.integers(100, 999, 300)})
    known["risk"] = classified(known["age"])
    rows.to_csv("rows.csv", index=False)
    known.to_csv("known.csv", index=False)
    return tmp_path


def plan(*more, to="plan"):
    where = ["--to", to] if to else []
    what = ["rows.csv", "--known", "known.csv", "--result", "risk", *EXPECTED, *where]
    return main(["outsource", "plan", *what, *(more or ("--budget", "60"))])


def answer(folder, lazy=(), absent=()):
    (folder / "answers").mkdir()
    for path in sorted((folder / "plan" / "workers").iterdir()):
        number = int(path.stem.removeprefix("worker-"))
        if number in absent:
            continue
        jobs = pd.read_csv(path)
        results = classified(jobs["age"])
        if number in lazy:
            results = ["young"] * len(jobs)
        pd.DataFrame({"job": jobs["job"], "result": results}).to_csv(
            folder / "answers" / path.name, index=False
        )


def refused(capsys, code, *, out=""):
    """Return the message of a refusal; nothing else was printed."""
    captured = capsys.readouterr()
    assert out == captured.out
    return code, captured.err


def test_a_plan_says_what_it_is_good_for_before_it_is_written(folder, capsys, monkeypatch):
    messages = []
    original = files.write_plan

    def write(*arguments):
        messages.append(capsys.readouterr().out)
        original(*arguments)

    monkeypatch.setattr(files, "write_plan", write)
    assert 0 == plan("--budget", "60", "--price", "0.5")
    lines = messages[0].splitlines()
    assert re.fullmatch(r"controls: \d+ sentinels, \d+ twins", lines[0])
    assert "extra jobs: 60, 15.00% of 400" == lines[1]
    assert "cost: 30.00 of 230.00" == lines[2]
    assert re.fullmatch(r"undetected: blind omission with probability [\d.e-]+ at most", lines[3])
    assert any(line.startswith("  why: Mostly ") for line in lines)
    assert any(line.startswith("  assumes: For blind omission") for line in lines)
    assert (
        "to send: plan/workers/worker-01.csv to worker-06.csv, 76 to 77 jobs each\n"
        "to keep: plan/private/key.json, which tells the controls\n"
    ) == capsys.readouterr().out
    assert 0o600 == stat.S_IMODE((folder / "plan" / "private" / "key.json").stat().st_mode)
    sent = pd.concat([pd.read_csv(path) for path in (folder / "plan" / "workers").iterdir()])
    assert ["job", "age", "zip"] == list(sent.columns)
    assert 460 == len(sent) == sent["job"].nunique()


def test_without_a_folder_nothing_is_written(folder, capsys):
    before = sorted(folder.iterdir())
    assert 0 == plan(to=None)
    assert capsys.readouterr().out.endswith("nothing is written: --to says where\n")
    assert before == sorted(folder.iterdir())


def test_two_plans_have_nothing_in_common_that_a_seed_would_give(folder):
    assert 0 == plan(to="one")
    assert 0 == plan(to="two")
    jobs = [
        set(pd.read_csv(folder / to / "workers" / "worker-01.csv")["job"]) for to in ("one", "two")
    ]
    assert set() == jobs[0] & jobs[1]


def test_a_plan_warns_when_sentinels_look_different(folder, capsys):
    known = pd.read_csv("known.csv")
    known["age"] = known["age"].astype(str) + ".0"
    known.to_csv("known.csv", index=False)
    assert 0 == plan(to=None)
    warnings = [line for line in capsys.readouterr().out.splitlines() if "warning" in line]
    assert re.fullmatch(
        r"warning: sentinels of class 1 can be told from genuine rows: AUC 1.00, by chance at most "
        r"0\.[567]\d \(a false alarm in 1% of all plans\); a worker that looks closely can compute "
        r"the sentinels only",
        warnings[0],
    )


def test_an_honest_campaign_passes(folder, capsys):
    assert 0 == plan()
    answer(folder)
    capsys.readouterr()
    assert 0 == main(["outsource", "verify", "plan", "answers", "--results", "results.csv"])
    captured = capsys.readouterr()
    lines = captured.out.splitlines()
    assert "worker  jobs  missing  strange  sentinels  twins   lazy  verdict" == lines[0]
    assert all(line.endswith("-") for line in lines[1:7])
    assert lines[8].startswith("prior: every worker on its own omits work with probability 0.333")
    assert "distrusted: 0 of 400 results" == lines[9]
    assert "results: results.csv" == lines[-1]
    assert "" == captured.err
    results = pd.read_csv("results.csv")
    assert ["row", "result", "distrusted"] == list(results.columns)
    assert classified(pd.read_csv("rows.csv")["age"]) == results["result"].tolist()
    assert {"no"} == set(results["distrusted"])


def test_omitted_work_exits_with_5_and_the_evidence_is_printed_and_written(folder, capsys):
    assert 0 == plan("--budget", "200")
    answer(folder, lazy=(2,), absent=(5,))
    capsys.readouterr()
    assert 5 == main(["outsource", "verify", "plan", "answers", "--results", "results.csv"])
    captured = capsys.readouterr()
    lines = captured.out.splitlines()
    verdicts = {int(line.split()[0]): line.split()[-1] for line in lines[1:7]}
    assert {1: "-", 2: "accused", 3: "-", 4: "-", 5: "accused", 6: "-"} == verdicts
    assert "results: results.csv" == lines[-1]
    assert captured.err.startswith("anonloom: some work was not done as asked: ")
    results = pd.read_csv("results.csv")
    truth = np.array(classified(pd.read_csv("rows.csv")["age"]))
    trusted = (results["distrusted"] == "no").to_numpy()
    assert truth[trusted].tolist() == results["result"][trusted].tolist()
    assert 100 < trusted.sum() < 400


def test_camps_that_contradict_each_other_are_said_and_nobody_is_accused(
    folder, capsys, monkeypatch
):
    """Workers 1 to 4 of six happen to work on their few sentinels, and omit the rest."""
    monkeypatch.setattr(plan_command.secrets, "randbits", lambda bits: 5)
    assert 0 == plan("--budget", "60")
    answer(folder)
    key = files.read_plan(folder / "plan")
    sentinels = set(key.job[key.row == keys.NONE])
    for number in range(1, 5):
        path = folder / "answers" / f"worker-0{number}.csv"
        answers = pd.read_csv(path)
        answers.loc[~answers["job"].isin(sentinels), "result"] = "young"
        answers.to_csv(path, index=False)
    capsys.readouterr()
    assert 5 == main(["outsource", "verify", "plan", "answers", "--results", "results.csv"])
    captured = capsys.readouterr()
    lines = captured.out.splitlines()
    assert ["disputed"] * 6 == [line.split()[-1] for line in lines[1:7]]
    text = (
        "workers 1, 2, 3, 4 and workers 5, 6 contradict each other, and no control tells who of "
        "them omits work: this accuses nobody"
    )
    assert f"dispute: {text}" in lines
    results = pd.read_csv("results.csv")
    truth = np.array(classified(pd.read_csv("rows.csv")["age"]))
    trusted = (results["distrusted"] == "no").to_numpy()
    # Only what both camps say: who omits everything is right by chance there.
    assert truth[trusted].tolist() == results["result"][trusted].tolist()
    assert captured.err.endswith(
        "    the evidence is not enough to accuse any one worker\n"
        f"    {text}\n"
        f"    distrust {400 - trusted.sum()} of 400 results\n"
    )


def test_answers_that_cannot_be_read_exit_with_4(folder, capsys):
    assert 0 == plan()
    answer(folder)
    (folder / "answers" / "worker-03.csv").write_text("id,result\n1,2\n")
    capsys.readouterr()
    code = main(["outsource", "verify", "plan", "answers"])
    assert (
        4,
        "anonloom: answers/worker-03.csv: there is no column 'job'\n"
        "    An answer has the columns 'job' and 'result'; others are not looked at.\n",
    ) == refused(capsys, code)


def test_results_are_not_overwritten_unless_asked(folder, capsys):
    assert 0 == plan()
    answer(folder)
    (folder / "results.csv").write_text("mine")
    capsys.readouterr()
    command = ["outsource", "verify", "plan", "answers", "--results", "results.csv"]
    assert (
        2,
        "anonloom: 'results.csv' exists already\n    Use --replace, or write to another file.\n",
    ) == refused(capsys, main(command))
    assert 0 == main([*command, "--replace"])


def test_the_prior_can_be_given(folder, capsys):
    assert 0 == plan()
    answer(folder)
    capsys.readouterr()
    assert 0 == main(["outsource", "verify", "plan", "answers", "--prior", "0.05"])
    assert "prior: every worker on its own omits work with probability 0.05" in (
        capsys.readouterr().out
    )
    code = main(["outsource", "verify", "plan", "answers", "--prior", "1"])
    assert (2, "anonloom: --prior must lie between 0 and 1. Got 1 instead.\n") == refused(
        capsys, code
    )


def test_sentinels_of_earlier_plans_are_not_used_again(folder, capsys):
    assert 0 == plan(to="first")
    first = files.read_plan(folder / "first")
    capsys.readouterr()
    assert 0 == plan("--budget", "60", "--earlier", "first", to="second")
    used = len(set(first.used))
    assert f"{used} of 300 known rows served before and are left out\n" in capsys.readouterr().out
    second = files.read_plan(folder / "second")
    known = files.read_rows(folder / "known.csv").drop(columns="risk")
    assert not (first.was_sentinel(known) & second.was_sentinel(known)).any()
    key = str(folder / "second" / "private" / "key.json")
    assert 0 == plan("--budget", "60", "--earlier", "first", "--earlier", key, to=None)


def test_when_every_known_row_served_before_the_plan_is_refused(folder, capsys):
    known = pd.read_csv("known.csv").groupby("risk").head(3)
    known.to_csv("known.csv", index=False)
    key = ("--budget", "6", "--lazy", "6", "--omission", "1")
    assert 0 == plan(*key, to="first")
    capsys.readouterr()
    assert 4 == plan(*key, "--earlier", "first", to="second")
    assert (
        "anonloom: every known row was a sentinel before\n"
        "    Compute the results of other rows: a worker may have kept what it answered.\n"
    ) == capsys.readouterr().err
    assert not (folder / "second").exists()


def test_groups_never_share_a_job(folder):
    assert 0 == plan("--budget", "100", "--collude", "1,2,3", "--collude", "4, 5")
    key = files.read_plan(folder / "plan")
    assert (frozenset({0, 1, 2}), frozenset({3, 4})) == key.campaign.groups
    for item, other in key.worker[key.pairs()].tolist():
        assert not any({item, other} <= group for group in key.campaign.groups)


def test_disguised_twins_differ_a_little(folder):
    assert 0 == plan("--budget", "60", "--disguise", "zip=2")
    key = files.read_plan(folder / "plan")
    assert key.disguised
    sent = pd.concat(
        pd.read_csv(path) for path in sorted((folder / "plan" / "workers").iterdir())
    ).set_index("job")
    first, second = (sent.loc[key.job[key.pairs()[:, side]]] for side in (0, 1))
    changes = np.abs(first["zip"].to_numpy() - second["zip"].to_numpy())
    assert set(changes) <= {0, 1, 2}
    assert changes.max() > 0
    assert first["age"].tolist() == second["age"].tolist()


def test_shares_can_be_given(folder):
    assert 0 == plan("--budget", "60", "--share", "old=0.1", "--share", "young=0.9")
    assert (0.1, 0.9) == files.read_plan(folder / "plan").campaign.classes


@pytest.mark.parametrize(
    ("more", "code", "message"),
    [
        (
            ["--collude", "1"],
            2,
            "--collude must name two or more workers, such as 1,2,3. Got '1' instead.",
        ),
        (
            ["--collude", "1,b"],
            2,
            "--collude must name two or more workers, such as 1,2,3. Got '1,b' instead.",
        ),
        (
            ["--collude", "1,7"],
            2,
            "--collude names workers from 1 to 6, as many as there are. Got '1,7' instead.",
        ),
        (
            ["--disguise", "zip"],
            2,
            "--disguise must read NAME=NUMBER with a number above 0. Got 'zip' instead.",
        ),
        (
            ["--disguise", "zip=-1"],
            2,
            "--disguise must read NAME=NUMBER with a number above 0. Got 'zip=-1' instead.",
        ),
        (["--disguise", "zip=1", "--disguise", "zip=2"], 2, "--disguise names 'zip' twice"),
        (["--disguise", "zap=1"], 2, "--disguise: rows.csv has no column 'zap'"),
        (
            ["--share", "old=0.3"],
            2,
            "--share is given for 1 of the 2 results of the known rows\n    Give it for all of them, or for none.",
        ),
        (
            ["--share", "dead=0.3"],
            2,
            "--share names 'dead', which is the result of no known row",
        ),
        (["--known", "rows.csv"], 4, "rows.csv: there is no column 'risk'"),
        (
            ["--result", "age"],
            4,
            "rows.csv: the rows have the column 'age', which the workers are to compute\n    Leave it out.",
        ),
        (["--known", "none.csv"], 4, "none.csv: there is no such file"),
        (["--earlier", "known.csv"], 5, None),
    ],
)
def test_what_cannot_be_planned_is_said_and_nothing_is_written(more, code, message, folder, capsys):
    assert code == plan("--budget", "60", *more)
    captured = capsys.readouterr()
    if message is not None:
        assert ("", f"anonloom: {message}\n") == (captured.out, captured.err)
    else:
        assert "anonloom: the key known.csv is no JSON: line 1\n" == captured.err
    assert not (folder / "plan").exists()


@pytest.mark.parametrize("name", ["job", "result"])
def test_names_that_files_of_workers_use_are_refused(name, folder, capsys):
    for path in ("rows.csv", "known.csv"):
        pd.read_csv(path).rename(columns={"zip": name}).to_csv(path, index=False)
    assert 4 == plan()
    assert (
        f"anonloom: rows.csv: a column is named '{name}', which files of workers use\n"
        "    Give the column another name.\n"
    ) == capsys.readouterr().err


def test_known_rows_without_a_result_are_counted(folder, capsys):
    known = pd.read_csv("known.csv")
    known.loc[3:4, "risk"] = None
    known.to_csv("known.csv", index=False)
    assert 4 == plan()
    assert (
        "anonloom: known.csv: 2 rows have no result in column 'risk'\n" == capsys.readouterr().err
    )


def test_a_plan_is_not_overwritten_unless_asked(folder, capsys):
    assert 0 == plan()
    capsys.readouterr()
    assert (
        2,
        "anonloom: 'plan' exists already\n"
        "    Use --replace, or write to another folder. Without its key the answers to a plan cannot be verified.\n",
    ) == refused(capsys, plan())
    assert 0 == plan("--budget", "60", "--replace")


def test_without_a_step_the_usage_is_shown(capsys):
    assert 2 == main(["outsource"])
    assert "the following arguments are required: STEP" in capsys.readouterr().err
    assert 0 == main(["outsource", "plan", "--help"])
    assert "rows whose result you computed yourself" in capsys.readouterr().out


SIMULATED = ["outsource", "simulate", "--workers", "10", "--lazy", "4", "--omission", "0.2"]


@pytest.mark.parametrize("behaviour", ["opportunistic", "colluding", "proxy"])
def test_a_simulation_stands_beside_the_formula(behaviour, capsys):
    command = [*SIMULATED, "--epsilon", "0.1", "--seed", "1", "--campaigns", "500"]
    command += ["--judged", "2", "--jobs", "200", "--behaviour", behaviour]
    assert 0 == main(command)
    first = capsys.readouterr().out
    lines = first.splitlines()
    assert lines[0].endswith(f"; 4 of 10 workers are {behaviour}")
    formula = float(lines[1].removeprefix("undetected, formula for blind omission: ").split()[0])
    low = float(re.search(r"\(([\d.e-]+) to", lines[2]).group(1))
    assert formula <= 0.1
    assert lines[7].startswith("results that are relied on: ")
    if behaviour == "opportunistic":
        assert low <= formula
        assert 8 == len(lines)
    else:
        assert (
            f"the formula does not hold for {behaviour} workers: they omit what is not noticed"
        ) == lines[8]
    assert 0 == main(command)
    assert first == capsys.readouterr().out


def test_more_workers_can_be_lazy_than_the_plan_expects(capsys):
    command = [*SIMULATED, "--budget", "600", "--seed", "1", "--campaigns", "50", "--judged", "2"]
    assert 0 == main([*command, "--jobs", "300", "--behaviour", "colluding", "--actual", "6"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith("; 6 of 10 workers are colluding")
    assert "campaigns that accuse any honest worker: 0 (0 to 0.658; 2 campaigns)" == lines[5]
    assert "the formula is for 4 lazy workers" == lines[8]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--campaigns", "0"], "--campaigns must be at least 1. Got 0 instead."),
        (["--judged", "0"], "--judged must be at least 1. Got 0 instead."),
        (["--certain", "2"], "--certain must lie between 0 and 1. Got 2 instead."),
        (["--escape", "1"], "--escape must lie between 0 and 1. Got 1 instead."),
        (
            ["--actual", "11"],
            "--actual must lie between 1 and 10, the number of workers. Got 11 instead.",
        ),
        (["--seed", "-1"], "--seed must be at least 0. Got -1 instead."),
        (
            ["--shares", "a,b"],
            "--shares must be numbers with commas between them. Got 'a,b' instead.",
        ),
        (["--shares", "0.5,0.4"], "the shares of the classes sum to 0.9, not to 1"),
    ],
)
def test_what_cannot_be_simulated_is_said(more, message, capsys):
    code = main([*SIMULATED, "--budget", "50", *more])
    assert (2, f"anonloom: {message}\n") == refused(capsys, code)


def test_no_message_of_a_key_shows_what_is_in_it(folder, capsys):
    assert 0 == plan()
    path = folder / "plan" / "private" / "key.json"
    current = f'"version":{keys.VERSION}'
    path.write_text(path.read_text().replace(current, '"version":9'))
    (folder / "answers").mkdir()
    capsys.readouterr()
    assert 5 == main(["outsource", "verify", "plan", "answers"])
    assert (
        f"anonloom: the key plan/private/key.json cannot be used: it is not of version {keys.VERSION}\n"
    ) == capsys.readouterr().err


def test_a_plan_says_where_the_shares_are_from(folder, capsys):
    assert 0 == plan("--budget", "60", to=None)
    assert re.search(
        r"^  expects: the most frequent of 2 results in [\d.]+%, as among the known rows; if they "
        r"were chosen otherwise than by chance, use --share$",
        capsys.readouterr().out,
        re.MULTILINE,
    )
    assert 0 == plan("--budget", "60", "--share", "old=0.1", "--share", "young=0.9", to=None)
    assert "  expects: the most frequent of 2 results in 90.0%, as --share says" in (
        capsys.readouterr().out.splitlines()
    )


def test_a_price_that_is_none_is_refused(folder, capsys):
    for word, text in (("nan", "nan"), ("-1", "-1"), ("inf", "inf")):
        assert 2 == plan("--budget", "60", "--price", word)
        assert f"anonloom: --price must be 0 or more. Got {text} instead.\n" == (
            capsys.readouterr().err
        )


def test_results_of_no_known_class_are_counted(folder, capsys):
    """Such as a formula for whoever opens the results in a spreadsheet."""
    assert 0 == plan("--budget", "60")
    answer(folder)
    path = folder / "answers" / "worker-01.csv"
    key = files.read_plan(folder / "plan")
    alone = (key.row != keys.NONE) & ~np.isin(key.row, key.row[key.copy]) & (key.worker == 0)
    answers = pd.read_csv(path)
    answers.loc[answers["job"] == key.job[np.flatnonzero(alone)[0]], "result"] = "=1+1"
    answers.to_csv(path, index=False)
    capsys.readouterr()
    assert 0 == main(["outsource", "verify", "plan", "answers"])
    assert "new: 1 of 400 results are of no class that the known rows have" in (
        capsys.readouterr().out.splitlines()
    )


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.000"),
        (0.0004, "<.001"),
        (0.0016, "0.002"),
        (0.5, "0.500"),
        (0.9994, "0.999"),
        (0.9996, ">.999"),
        (1.0, "1.000"),
    ],
)
def test_only_what_is_certain_is_shown_as_certain(value, text):
    assert text == verify_command._probability(value)
