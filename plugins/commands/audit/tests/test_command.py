"""The command `audit`, as a user meets it."""

import json
import sys
import types

import attrs
import pandas as pd
import pytest

from anonloom import Finding, Findings, Registry
from anonloom.api import Method, hookimpl
from anonloom.errors import PluginError
from anonloom_cli import main
from anonloom_testing.toy_methods import RowCounter

GUESSED = (
    "columns guessed: age (quasi, number), sex (quasi, category), illness (quasi, category), bill "
    "(quasi, number); declare them with --quasi, --sensitive, --identifier, --schema FILE or "
    "--pipeline FILE\n"
)


def test_audit_guesses_the_columns_and_says_so_first(shop, capsys):
    main(["run", "pipeline.yaml", "--quiet"])
    capsys.readouterr()
    assert 0 == main(["audit", "clinic.csv", "out/public/release.csv"])
    assert (
        GUESSED
        + """
release.csv
  Do not hand this over yet: no attack says anything, and that is no evidence of safety.
  - no auditor tried an attack
  - Roles of columns were guessed: nobody said what is sensitive, and what attackers know
  singling out: not asked: no auditor that was run tries such an attack
  linkability: not asked: no auditor that was run tries such an attack
  inference: not asked: no auditor that was run tries such an attack
  membership: not asked: no auditor that was run tries such an attack
  what would help: Audit it with people who are not in the release (--control FILE, or 'holdout' \
in a pipeline): 4 of 4 questions have no answer.
  2 figures of 1 auditor: --all shows them
  price was not run: it measures what something costs, not the release; --auditor price runs it
  needs-control was not run: it needs control, which two tables lack; give it with --control FILE
  needs-others was not run: it needs other_releases, which two tables lack; give them with --also \
FILE
  needs-trace was not run: it needs trace, which two tables lack
"""
        == capsys.readouterr().out
    )


def test_an_auditor_of_costs_runs_when_it_is_named(shop, capsys):
    main(["run", "pipeline.yaml", "--quiet"])
    capsys.readouterr()
    arguments = ["audit", "clinic.csv", "out/public/release.csv", "--auditor", "price", "--all"]
    assert 0 == main(arguments)
    assert "\n  price: 1\n      Price of counting.\n" in capsys.readouterr().out


def test_audit_takes_the_columns_and_auditors_of_a_pipeline(shop, capsys):
    main(["run", "pipeline.yaml", "--quiet"])
    capsys.readouterr()
    arguments = ["audit", "clinic.csv", "out/public/release.csv", "--pipeline", "pipeline.yaml"]
    assert 0 == main([*arguments, "--json"])

    result = json.loads(capsys.readouterr().out)
    assert {"age": "quasi", "sex": "quasi", "illness": "sensitive", "bill": "other"} == {
        name: column["role"] for name, column in result["configuration"]["columns"].items()
    }
    (release,) = result["releases"]
    assert ["counting"] == [audit["auditor"] for audit in release["audits"]]


def test_audit_counts_the_cells_that_it_cannot_read(shop, capsys):
    """Cells of other tools must not pass for a release without use."""
    (shop.folder / "arx.csv").write_text("age;sex\n" + "20 until 40;f\n" * 11 + "31;?\n")
    arguments = ["audit", "clinic.csv", "arx.csv", "--pipeline", "pipeline.yaml"]
    assert 0 == main(arguments)

    why = (
        "neither a value of the original, nor in its hierarchy, nor in a notation that is known "
        "(docs/notations.md), and counted as entirely lost; declare what they mean as the column's "
        "hierarchy in a pipeline"
    )
    assert [
        f"  warning: column 'age': 11 cells are {why}",
        f"  warning: column 'sex': 1 cell is {why}",
    ] == [line for line in capsys.readouterr().out.splitlines() if "warning" in line]

    assert 0 == main([*arguments, "--json"])
    (release,) = json.loads(capsys.readouterr().out)["releases"]
    assert {"age": 11, "sex": 1} == release["unread"]
    assert [
        "no auditor tried an attack",
        "Column 'age' was hardly read: 11 of 12 cells are in no form that is known",
        "Column 'sex' was hardly read: 1 of 12 cells are in no form that is known",
    ] == release["decision"]["reasons"]


def test_audit_reads_cells_as_other_tools_write_them(shop, capsys):
    (shop.folder / "arx.csv").write_text("age;sex\n" + "[20, 40[;f\n20-40;{f, m}\n>=40;**\n" * 4)
    arguments = ["audit", "clinic.csv", "arx.csv", "--pipeline", "pipeline.yaml", "--json"]
    assert 0 == main(arguments)
    (release,) = json.loads(capsys.readouterr().out)["releases"]
    assert {} == release["unread"]


def test_audit_refuses_an_auditor_that_two_tables_cannot_feed(shop, capsys):
    main(["run", "pipeline.yaml", "--quiet"])
    capsys.readouterr()
    arguments = ["audit", "clinic.csv", "out/public/release.csv", "--auditor", "needs-control"]
    assert 2 == main(arguments)
    assert (
        "anonloom: auditor 'needs-control' cannot be used: it needs control, which two tables "
        "lack\n    give it with --control FILE\n" == capsys.readouterr().err
    )


def test_audit_takes_people_outside_and_other_releases(shop, capsys):
    main(["run", "pipeline.yaml", "--quiet"])
    (shop.folder / "strangers.csv").write_text("age,sex,illness,bill\n20,f,flu,3\n21,m,cold,4\n")
    (shop.folder / "earlier.csv").write_text("age,sex\n*,f\n")
    capsys.readouterr()
    arguments = ["audit", "clinic.csv", "out/public/release.csv", "--control", "strangers.csv"]
    arguments += ["--also", "earlier.csv", "--also", "out/public/release.csv", "--json"]
    assert 0 == main([*arguments, "--auditor", "needs-control", "--auditor", "needs-others"])
    (release,) = json.loads(capsys.readouterr().out)["releases"]
    result = release["audits"]
    assert [("needs-control", 2), ("needs-others", 13)] == [
        (audit["auditor"], audit["findings"][0]["value"]) for audit in result
    ]


def test_auditors_of_a_pipeline_are_given_what_the_command_line_names(shop, capsys):
    shop.change("audit:\n", "audit:\n  - auditor: needs-control\n  - auditor: needs-others\n")
    (shop.folder / "strangers.csv").write_text(
        "name,age,sex,illness,bill\nx,20,f,flu,3\ny,21,m,cold,4\n"
    )
    arguments = ["audit", "clinic.csv", "clinic.csv", "--pipeline", "pipeline.yaml", "--quiet"]
    assert 2 == main(arguments)
    assert (
        "auditor 'needs-others' needs other releases of the same population"
        in capsys.readouterr().err
    )
    assert 0 == main([*arguments, "--control", "strangers.csv", "--also", "clinic.csv", "--json"])
    (release,) = json.loads(capsys.readouterr().out)["releases"]
    result = release["audits"]
    assert ["needs-control", "needs-others"] == [audit["auditor"] for audit in result][:2]


def test_audit_reads_the_other_releases_of_a_pipeline(shop, capsys):
    (shop.folder / "earlier.csv").write_text("age,sex\n*,f\n")
    shop.change("data:\n", "data:\n  other_releases: [earlier.csv]\n")
    arguments = ["audit", "clinic.csv", "clinic.csv", "--pipeline", "pipeline.yaml", "--json"]
    assert 0 == main([*arguments, "--auditor", "needs-others"])
    (release,) = json.loads(capsys.readouterr().out)["releases"]
    assert 1 == release["audits"][0]["findings"][0]["value"]


def test_audit_is_told_which_column_says_whose_a_row_is(shop, capsys):
    arguments = ["audit", "clinic.csv", "clinic.csv", "--quiet"]
    assert 0 == main(arguments)
    assert (
        "warning: column 'name': every row has a value of its own, which names people; if so, "
        "declare it with --identifier name, or with --truth name if it only says whose a row is"
        == capsys.readouterr().out.splitlines()[1]
    )
    assert 0 == main([*arguments, "--truth", "name"])
    printed = capsys.readouterr().out
    assert printed.startswith("columns guessed: age (quasi, number), sex")
    assert "\ncolumns of the command line: name (truth, category)\n" in printed
    assert "warning" not in printed


def test_a_copy_is_not_handed_over_however_few_people_are_in_it(shop, capsys):
    assert 0 == main(["audit", "clinic.csv", "clinic.csv", "--quiet", "--identifier", "name"])
    assert [
        "  Do not hand this over: the release has the identifier 'name': 12 of 12 cells are the "
        "original's.",
        "  - The release is a copy: every row of it is a row of the original, cell for cell",
    ] == capsys.readouterr().out.splitlines()[4:6]


def test_audit_shows_progress_unless_it_is_to_be_quiet(shop, capsys):
    assert 0 == main(["audit", "clinic.csv", "clinic.csv"])
    assert "counting: 12 rows" == capsys.readouterr().err.rpartition(" (")[0]
    # Observers stay with the registry, which a process of its own would not keep.
    assert 2 == main(["audit", "clinic.csv", "clinic.csv", "--jobs", "0"])
    assert "anonloom: --jobs must be at least 1. Got 0 instead.\n" == capsys.readouterr().err


def test_audit_goes_on_without_an_auditor_that_is_broken(shop, capsys, monkeypatch):
    whole = Registry.load_entry

    def load(self, entry):
        if entry.name == "needs-control":
            raise PluginError("it fell apart")
        return whole(self, entry)

    monkeypatch.setattr(Registry, "load_entry", load)
    assert 0 == main(["audit", "clinic.csv", "clinic.csv", "--quiet"])
    assert "\n  needs-control was not run: it fell apart\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--jobs", "0"], "--jobs must be at least 1. Got 0 instead."),
        (["--seed", "-1"], "--seed must be at least 0. Got -1 instead."),
        (["--limit", "1"], "--limit must be from 0 to below 1. Got 1 instead."),
        (["--people", "some"], "--people must be a number from 1, or 'all'. Got 'some' instead."),
        (["--replace"], "--replace is for a folder that is written: give --to FOLDER"),
        (
            ["--pipeline", "pipeline.yaml", "--schema", "schema.yaml"],
            "--pipeline and --schema both say what the columns are: give one of them",
        ),
        (
            ["--truth", "name", "--pipeline", "pipeline.yaml"],
            "--truth is for columns that no file declares\n"
            "    Declare the column with the role 'truth' in the file.",
        ),
        (["--quasi", "age,"], "--quasi must be names of columns, separated by commas"),
        (
            ["--quasi", "age", "--sensitive", "age"],
            "column 'age' is declared as quasi and as sensitive",
        ),
        (
            ["--fail-if", "countin.rows > 3"],
            "--fail-if 'countin.rows > 3': no auditor 'countin' is run\n"
            "    did you mean 'counting'?",
        ),
        (["--column", "age=AGE"], "--column: no release has a column 'AGE'"),
    ],
)
def test_options_that_are_wrong_or_contradict_each_other_are_refused(shop, capsys, words, expected):
    assert 2 == main(["audit", "clinic.csv", "clinic.csv", "--quiet", *words])
    assert f"anonloom: {expected}\n" == capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("nowhere.csv", "nowhere.csv: there is no such file"),
        ("empty.csv", "empty.csv: the file is empty"),
        ("header.csv", "header.csv: the file has no rows"),
        ("junk.parquet", "junk.parquet: this is not a Parquet file, or it is damaged"),
    ],
)
@pytest.mark.parametrize("place", ["original", "release", "control", "also"])
def test_audit_says_which_file_cannot_be_used(shop, capsys, given, expected, place):
    (shop.folder / "empty.csv").write_text("")
    (shop.folder / "header.csv").write_text("age,sex\n")
    (shop.folder / "junk.parquet").write_bytes(b"no parquet")
    tables = {"original": "clinic.csv", "release": "clinic.csv", place: given}
    arguments = ["audit", tables.pop("original"), tables.pop("release")]
    assert 4 == main([*arguments, *(f"--{name}={file}" for name, file in tables.items())])
    assert f"anonloom: {expected}\n" == capsys.readouterr().err


def test_audit_wants_tables_with_common_columns(shop, capsys):
    pd.DataFrame({"height": [1, 2]}).to_csv(shop.folder / "other.csv", index=False)
    assert 4 == main(["audit", "clinic.csv", "other.csv"])
    assert (
        "anonloom: the original and the release have no column in common\n"
        == capsys.readouterr().err
    )


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_an_audit_reads_releases_of_others_and_says_what_it_left_out(shop, capsys, ending):
    main(["run", "pipeline.yaml", "--quiet"])
    release = pd.read_csv("out/public/release.csv", dtype=str)
    release.loc[0, "sex"] += "\u200b"
    release = release.rename(columns={"age": "age\ufeff"})
    if ending == "csv":
        release.to_csv("other.csv", index=False)
    else:
        release.to_parquet("other.parquet")
    capsys.readouterr()
    arguments = ["audit", "clinic.csv", f"other.{ending}", "--pipeline", "pipeline.yaml"]
    assert 0 == main(arguments)
    assert [
        "  warning: column 'sex': 1 cell of the release holds characters that nobody sees, or text "
        "that is not in Unicode's form NFC; the audit reads them without, and a machine tells them "
        "apart: classes may be smaller than they seem here"
    ] == [line for line in capsys.readouterr().out.splitlines() if "warning" in line]
    assert 0 == main([*arguments, "--json"])
    (result,) = json.loads(capsys.readouterr().out)["releases"]
    assert ({}, {"sex": 1}) == (result["unread"], result["normalized_cells"])


MANY = [{"name": f"f{index}", "meaning": "Meaning."} for index in range(20)]


def test_findings_are_shown_on_demand_and_the_page_leads_with_seven(shop, capsys, monkeypatch):
    def audit(self, case, context):
        return Findings.of(Finding(value=1, key=True, **finding) for finding in MANY)

    monkeypatch.setattr(RowCounter, "audit", audit)
    arguments = ["audit", "clinic.csv", "clinic.csv", "--quiet"]
    assert 0 == main(arguments)
    printed = capsys.readouterr().out
    assert 0 == printed.count("      Meaning.")
    assert "\n  20 figures of 1 auditor: --all shows them\n" in printed
    assert 0 == main([*arguments, "--all"])
    assert 20 == capsys.readouterr().out.count("      Meaning.")
    assert 0 == main([*arguments, "--json"])
    (release,) = json.loads(capsys.readouterr().out)["releases"]
    (result,) = release["audits"]
    assert [True] * 7 + [False] * 13 == [finding["key"] for finding in result["findings"]]


# -- what cannot be read ---------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform != "linux", reason="these files are Linux's own")
@pytest.mark.parametrize(
    ("file", "refused"),
    [
        *((f"/dev/{name}", "this is no ordinary file") for name in ("zero", "null", "full")),
        # The first one answers only when the system has something to say.
        *((f"/proc/{name}", "the file is empty") for name in ("kmsg", "self/maps")),
    ],
)
def test_special_files_are_no_releases_and_are_not_waited_for(shop, capsys, file, refused):
    assert 4 == main(["audit", "clinic.csv", file])
    assert ("", f"anonloom: {file}: {refused}\n") == capsys.readouterr()


def test_a_path_whose_name_is_no_text(shop, capsys):
    """Linux knows names of any bytes; Python shows what is no text as halves of characters."""
    (shop.folder / "d\udcff.csv").write_bytes((shop.folder / "clinic.csv").read_bytes())
    assert 4 == main(["audit", "clinic.csv", "d\udcff.csv"])
    printed = capsys.readouterr()
    assert ("", "anonloom: d\\udcff.csv: its name is no UTF-8\n") == (
        printed.out,
        printed.err.encode("ascii", "backslashreplace").decode(),
    )


# -- an auditor that exits -------------------------------------------------------------------------

#: Which entry of `Leaving` is left.
LEAVING: set[str] = set()


def leave(entry):
    if entry in LEAVING:
        raise SystemExit(0)


PLACE = f"{__file__}:{leave.__code__.co_firstlineno + 2}"


@attrs.frozen(kw_only=True)
class Leaving(RowCounter):
    """Can be left where a command asks it."""

    def __attrs_post_init__(self):
        leave("__attrs_post_init__")

    def problem(self, schema):
        leave("problem")
        return super().problem(schema)

    def audit(self, case, context):
        leave("audit")
        return super().audit(case, context)


@pytest.mark.parametrize(
    ("words", "entry"),
    [
        (["--quiet"], "audit"),
        (["--quiet"], "__attrs_post_init__"),
        (["--auditor", "acme-auditor"], "problem"),
    ],
)
def test_an_auditor_that_exits_ends_the_command_with_1(
    shop, registry, capsys, monkeypatch, words, entry
):
    method = Method(name="acme-auditor", target=f"{__name__}:Leaving", summary="Leaves.")
    plugin = types.SimpleNamespace(
        ANONLOOM_API=2, anonloom_register_auditors=hookimpl(lambda: [method])
    )
    assert registry.register(plugin, distribution="acme", version="2.0")
    monkeypatch.setattr(sys.modules[__name__], "LEAVING", {entry})
    assert 1 == main(["audit", "clinic.csv", "clinic.csv", *words])
    assert (
        "anonloom: this is a bug of auditor 'acme-auditor' of acme 2.0: SystemExit in "
        f"{PLACE}" == capsys.readouterr().err.splitlines()[-1]
    )
