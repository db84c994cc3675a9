"""Releases under attack: the answer, the folder, and conditions on both."""

import errno
import json
import os
import signal
import stat
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from audit_attackers import Linking

from anonloom_audit import output
from anonloom_cli import main

ROLES = ["--quasi", "age,income", "--quasi", "district", "--sensitive", "illness"]
KNOWN = [*ROLES, "--control", "control.csv", "--quiet"]
AUDIT = ["audit", "town.csv", "copy.csv", *KNOWN]


def report(folder="out"):
    return json.loads(Path(folder, "public", "report.json").read_text(encoding="utf-8"))


def nothing_is_left(town, before):
    assert before == sorted(path.name for path in town.iterdir())


@pytest.mark.parametrize("control", [True, False])
def test_a_copy_is_fully_risky_and_strangers_are_not(town, capsys, control):
    known = KNOWN if control else [*ROLES, "--quiet"]
    assert 0 == main(["audit", "town.csv", "copy.csv", "others.csv", *known, "--to", "out"])
    copy, others = report()["releases"]
    assert ("copy.csv", "no", "measured") == (
        copy["name"], copy["decision"]["answer"], copy["headline"]["status"],
    )  # fmt: skip
    # Without a control, 60 people who are left out are all that there is to compare with.
    assert (0.95 if control else 0.9) <= copy["headline"]["risk"] <= 1
    assert 1 == copy["headline"]["interval"][1]
    assert copy["headline"] == {
        key: value for key, value in report()["headline"].items() if key != "release"
    }
    risks = [attack["risk"] or 0 for attack in others["attacks"]]
    assert all(risk <= 0.1 for risk in risks)
    assert "not yet" == others["decision"]["answer"]


def test_guessed_roles_make_nothing_safer(town, capsys):
    """All columns are quasi-identifiers, whatever changed: nothing did."""
    assert 0 == main(["audit", "town.csv", "copy.csv", "--quiet", "--json"])
    result = json.loads(capsys.readouterr().out)
    assert 0.95 <= result["headline"]["risk"]
    assert {"quasi"} == {item["role"] for item in result["configuration"]["columns"].values()}


def test_an_audit_prints_its_answer_and_a_line_for_every_question(town, capsys):
    assert 0 == main(["audit", "town.csv", "leaking.csv", *KNOWN])
    lines = capsys.readouterr().out.splitlines()
    assert (
        "columns of the command line: age (quasi, number), income (quasi, number), district "
        "(quasi, category), illness (sensitive, category)" == lines[0]
    )
    assert "leaking.csv" == lines[2]
    assert lines[3].startswith("  Do not hand this over: ")
    assert [
        "singling out: not asked: no auditor that was run tries such an attack",
        "inference: not asked: no auditor that was run tries such an attack",
    ] == [line.strip() for line in lines if ": not asked" in line]
    assert [True, True] == [
        any(line.startswith(f"  {question}: ") and " by " in line for line in lines)
        for question in ("linkability", "membership")
    ]


def test_the_folder_holds_what_is_public_and_what_is_not(town, capsys):
    assert 0 == main(["audit", "town.csv", "leaking.csv", *KNOWN, "--to", "out"])
    assert capsys.readouterr().out.endswith(
        "\nreport: out/public/report.json\nexposed rows, for you only: out/private/exposed.csv\n"
    )
    files = sorted(path.relative_to("out").as_posix() for path in Path("out").rglob("*.*"))
    assert [
        "private/audit.json", "private/exposed.csv", "private/groups.csv", "private/report.json",
        "public/manifest.json", "public/report.json",
    ] == files  # fmt: skip
    modes = {
        path.name: stat.S_IMODE(path.stat().st_mode)
        for path in [town / "out" / "private", *(town / "out" / "private").iterdir()]
    }
    assert {"private": 0o700} == {name: mode for name, mode in modes.items() if mode != 0o600}


def test_exposed_rows_are_listed_with_the_reason(town, capsys):
    assert 0 == main(["audit", "town.csv", "leaking.csv", *KNOWN, "--to", "out"])
    rows = pd.read_csv("out/private/exposed.csv")
    assert ["row", "attack", "score", "reason"] == list(rows.columns)
    assert {"counting.first", "linking.nearest", "presence.nearby"} == set(rows["attack"])
    linked = rows[rows["attack"] == "linking.nearest"]
    # Row 1 is the first of the file, and the first 240 leak.
    assert (linked["row"] <= 240).mean() > 0.7
    assert linked["row"].between(1, 600).all()
    assert (np.diff(linked["score"]) <= 0).all()
    headline = report()["headline"]
    assert headline["exposed"] == (rows["attack"] == headline["attack"]).sum()


def test_figures_that_may_name_cells_are_private(town, capsys):
    assert 0 == main([*AUDIT, "--to", "out"])
    whole = json.loads(Path("out/private/report.json").read_text())["releases"][0]["audits"]
    shown = report()["releases"][0]["audits"]
    withheld = {"counting": True, "linking": False, "needs-control": True, "presence": False}
    assert withheld == {part["auditor"]: part["withheld"] for part in shown}
    assert withheld == {part["auditor"]: not part["findings"] for part in shown}
    assert all(part["findings"] for part in whole)


def test_no_small_count_and_no_cell_is_in_a_public_group(town, capsys):
    assert 0 == main(["audit", "town.csv", "leaking.csv", *KNOWN, "--to", "out"])
    groups = report()["releases"][0]["exposed"]["groups"]
    assert ["age", "income", "district", "illness"] == [column["column"] for column in groups]
    counts = [group["exposed"] for column in groups for group in column["groups"]]
    assert all(count is None or count >= 5 for count in counts)
    text = (town / "out" / "public" / "report.json").read_text()
    assert not [cell for cell in ("Altstadt", "Bergen", "Colditz", "gout") if cell in text]
    private = pd.read_csv("out/private/groups.csv")
    assert {"Altstadt", "Bergen", "Colditz"} <= set(private["values"])


def test_releases_are_ranked_under_one_configuration(town, capsys):
    names = ["others.csv", "copy.csv", "leaking.csv"]
    assert 0 == main(["audit", "town.csv", *names, *KNOWN, "--to", "out"])
    result = report()
    assert ["copy.csv", "leaking.csv", "others.csv"] == [one["name"] for one in result["releases"]]
    assert [1, 2, 3] == [one["rank"] for one in result["releases"]]
    lines = capsys.readouterr().out.splitlines()
    start = lines.index("the most worrying first:")
    assert [
        line.split("no")[0].split("not yet")[0].split() for line in lines[start + 1 : start + 4]
    ] == [["1.", "copy.csv"], ["2.", "leaking.csv"], ["3.", "others.csv"]]
    assert sorted(path.name for path in (town / "out" / "private").iterdir()) == [
        "audit.json", "copy-exposed.csv", "copy-groups.csv", "leaking-exposed.csv",
        "leaking-groups.csv", "others-exposed.csv", "others-groups.csv", "report.json",
    ]  # fmt: skip


def test_a_release_is_judged_alike_alone_and_among_others(town, capsys):
    assert 0 == main(["audit", "town.csv", "leaking.csv", *KNOWN, "--json"])
    alone = json.loads(capsys.readouterr().out)["releases"][0]
    assert 0 == main(["audit", "town.csv", "copy.csv", "leaking.csv", *KNOWN, "--json"])
    among = json.loads(capsys.readouterr().out)["releases"][1]
    assert {**alone, "rank": 2} == among


def test_fewer_people_are_attacked_on_demand(town, capsys):
    for text, number in (("100", 100), ("all", 600)):
        assert 0 == main([*AUDIT, "--people", text, "--json"])
        assert number == json.loads(capsys.readouterr().out)["headline"]["people"]


def test_another_seed_attacks_with_other_parts(town, capsys):
    results = []
    for seed in ("1", "1", "2"):
        arguments = ["audit", "town.csv", "leaking.csv", *KNOWN, "--json", "--seed", seed]
        assert 0 == main(arguments)
        results.append(json.loads(capsys.readouterr().out)["headline"]["risk"])
    assert results[0] == results[1] != results[2]


def test_columns_by_another_name_are_asked_for_and_told(town, capsys):
    pd.read_csv("copy.csv").rename(columns={"age": "AGE_YEARS"}).to_csv("named.csv", index=False)
    arguments = ["audit", "town.csv", "named.csv", *KNOWN]
    assert 2 == main(arguments)
    assert "--column age=AGE_YEARS " in capsys.readouterr().err
    assert 0 == main([*arguments, "--column", "age=AGE_YEARS", "--json"])
    assert 0.95 <= json.loads(capsys.readouterr().out)["headline"]["risk"]


def test_a_schema_file_declares_columns(town, capsys):
    (town / "schema.yaml").write_text(
        "columns:\n  age: {role: quasi, type: number}\n  income: {role: quasi, type: number}\n"
        "  district: {role: other}\n  illness: {role: sensitive}\n"
    )
    arguments = ["audit", "town.csv", "copy.csv", "--schema", "schema.yaml", "--quiet"]
    assert 0 == main(arguments)
    assert capsys.readouterr().out.startswith("columns of schema.yaml: age (quasi, number)")


# -- conditions ------------------------------------------------------------------------------------


def test_a_condition_fails_with_3_when_all_is_printed_and_written(town, capsys):
    arguments = [*AUDIT, "--fail-if", "headline.risk > 0.09", "--to", "out"]
    assert 3 == main(arguments)
    printed = capsys.readouterr()
    risk = report()["headline"]["risk"]
    assert f"anonloom: the audit fails: headline.risk > 0.09 (it is {risk:.6g})\n" == printed.err
    assert "Do not hand this over" in printed.out


def test_a_condition_that_is_not_met_passes(town, capsys):
    arguments = ["audit", "town.csv", "others.csv", *KNOWN, "--fail-if", "headline.risk > 0.2"]
    assert 0 == main(arguments)


def test_conditions_hold_for_every_release_and_name_it(town, capsys):
    names = ["copy.csv", "others.csv"]
    arguments = ["audit", "town.csv", *names, *KNOWN, "--fail-if", "counting.rows > 5"]
    assert 3 == main(arguments)
    assert (
        "anonloom: the audit fails: copy.csv: counting.rows > 5 (it is 600); others.csv: "
        "counting.rows > 5 (it is 600)\n" == capsys.readouterr().err
    )


def test_what_cannot_be_assessed_fails(shop, capsys):
    arguments = ["audit", "clinic.csv", "clinic.csv", "--quiet", "--fail-if"]
    assert 3 == main([*arguments, "headline.risk > 0.09"])
    assert (
        "anonloom: the audit fails: headline.risk > 0.09 (it is not assessable)\n"
        == capsys.readouterr().err
    )
    assert 3 == main([*arguments, "counting.row > 3"])
    assert (
        "anonloom: the audit fails: counting.row > 3 (there is no such finding; did you mean "
        "'rows'?)\n" == capsys.readouterr().err
    )


def test_conditions_of_a_pipeline_are_honoured(shop, capsys):
    shop.change("  - counting\n", "  - auditor: counting\n    fail_if: {rows: '> 5'}\n")
    arguments = ["audit", "clinic.csv", "clinic.csv", "--quiet", "--pipeline", "pipeline.yaml"]
    assert 3 == main(arguments)
    assert "anonloom: the audit fails: counting.rows > 5 (it is 12)\n" == capsys.readouterr().err


# -- history ---------------------------------------------------------------------------------------


def test_what_got_worse_is_said(town, capsys):
    assert 0 == main(["audit", "town.csv", "leaking.csv", *KNOWN, "--to", "then"])
    capsys.readouterr()
    arguments = [*AUDIT, "--baseline", "then/public/report.json"]
    assert 0 == main([*arguments, "--to", "now"])
    printed = capsys.readouterr().out
    created = report("then")["created"]
    assert f"  since the audit of {created} (leaking.csv): 2 worse\n" in printed
    since = report("now")["releases"][0]["since"]
    assert (2, []) == (since["worse"], since["configuration_differs"])


# -- the folder is written whole or not at all -----------------------------------------------------


def test_an_existing_folder_is_refused_before_any_work_and_replaced_on_demand(
    town, capsys, monkeypatch
):
    assert 0 == main([*AUDIT, "--to", "out"])
    capsys.readouterr()
    with monkeypatch.context() as patched:
        patched.setattr(Linking, "attack", None)
        assert 2 == main([*AUDIT, "--to", "out"])
    assert (
        "anonloom: 'out' exists already\n    Use --replace, or publish to another folder.\n"
        == capsys.readouterr().err
    )
    assert 0 == main([*AUDIT, "--to", "out", "--replace"])
    (town / "mine").mkdir()
    (town / "mine" / "notes.txt").write_text("mine")
    assert 2 == main([*AUDIT, "--to", "mine", "--replace"])
    assert ["notes.txt"] == [path.name for path in (town / "mine").iterdir()]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("place", ["attack", "write_csv"])
def test_an_audit_that_is_stopped_leaves_nothing(town, capsys, monkeypatch, number, place):
    before = sorted(path.name for path in town.iterdir())

    def stop(*arguments, **options):
        os.kill(os.getpid(), number)

    monkeypatch.setattr(*((Linking, "attack") if place == "attack" else (output, place)), stop)
    assert 130 == main([*AUDIT, "--to", "out"])
    nothing_is_left(town, before)


def test_a_full_disk_leaves_nothing_and_keeps_what_was_there(town, capsys, monkeypatch):
    assert 0 == main([*AUDIT, "--to", "out"])
    before, old = sorted(path.name for path in town.iterdir()), report()
    capsys.readouterr()

    def full(*arguments, **options):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "out")

    monkeypatch.setattr(output, "write_csv", full)
    assert 2 == main([*AUDIT, "--to", "out", "--replace"])
    assert "anonloom: 'out' cannot be used: No space left on device\n" == capsys.readouterr().err
    nothing_is_left(town, before)
    assert old == report()


def test_a_folder_that_cannot_be_written_is_refused_before_any_work(town, capsys, monkeypatch):
    monkeypatch.setattr(Linking, "attack", None)
    assert 2 == main([*AUDIT, "--to", "town.csv/out"])
    assert (
        "anonloom: 'town.csv/out' cannot be written: "
        f"'{town / 'town.csv'}' is not a folder\n    Publish to another folder.\n"
        == capsys.readouterr().err
    )
