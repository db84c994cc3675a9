"""Where records are counted, no sentence that anybody reads speaks of persons."""

import html
import json
import re
from pathlib import Path

import pytest
import yaml

from anonloom_catalog import first_party_folders
from anonloom_cli import main
from anonloom_runner.unit import wording_for

EXAMPLES = Path(__file__).parents[1] / "examples"

PERSONS = re.compile(r".{0,60}\b(?:persons?|people|individuals?)\b.{0,60}", re.IGNORECASE)

COLUMNS = {
    "age": {"role": "quasi", "type": "number"},
    "sex": {"role": "quasi"},
    "zip": {"role": "quasi", "hierarchy": {"build": "prefix", "keep": [3, 2]}},
    "job": {"role": "label"},
    "diagnosis": {"role": "sensitive"},
}
PRIVACY = [
    {"k-anonymity": {"k": 5}},
    {"l-diversity": {"l": 2, "of": "diagnosis"}},
    {"t-closeness": {"t": 0.9, "of": "diagnosis"}},
]
CLASSES = [{"partitioner": "mondrian"}, {"generalizer": "hierarchy"}]

#: What each auditor needs to say as much as it can; those that judge no table are left out.
AUDITORS = {
    "utility": {},
    "disclosure": {},
    "distance": {},
    "distribution": {},
    "fellegi-sunter": {},
    "cvpl": {},
    "cvpl-variants": {},
    "cvpl-progressive": {},
    "cvpl-ensemble": {},
    "learning": {"repeats": 2},
    "sensitive-correlations": {},
    "attribute-inference": {"repeats": 2, "deals": 2},
    "intersection": {},
    "singling-out": {},
    "inference": {},
    "membership": {},
}
NO_TABLE = {"traffic", "outsourcing"}


def pipeline(**changed):
    """A pipeline that counts records, with every auditor."""
    return {
        "version": 1,
        "name": "clinic",
        "seed": 1,
        "data": {
            "unit": "record",
            "source": "csv",
            "with": {"path": "clinic.csv"},
            "other_releases": ["clinic.csv"],
            "columns": COLUMNS,
        },
        "privacy": PRIVACY,
        "suppression": {"at_most": 1},
        "stages": CLASSES,
        "audit": [{"auditor": name, "with": given} for name, given in AUDITORS.items()],
        "publish": {"to": "out", "transformation": True, "formats": ["csv", "parquet"]},
        **changed,
    }


CASES = {
    "classes": pipeline(),
    "held out": pipeline(
        data={**pipeline()["data"], "holdout": 0.2}, audit=["distance", "disclosure", "cvpl"]
    ),
    "sampled": pipeline(
        stages=[*CLASSES, {"sampler": "stratified", "with": {"share": 0.5}}],
        audit=["disclosure"],
    ),
    "drawn first": pipeline(
        stages=[{"sampler": "pre-sample", "with": {"share": 0.7}}, *CLASSES], audit=["disclosure"]
    ),
    "synthetic": pipeline(stages=[{"mechanism": "copula"}], privacy="none", audit=["disclosure"]),
    "pseudonyms": pipeline(
        data={
            **pipeline()["data"],
            "columns": {**COLUMNS, "patient": {"role": "identifier", "pseudonymize": True}},
        },
        audit=[],
    ),
    "donated": pipeline(
        collect={
            "collector": "anonify",
            "with": {"transport": "direct", "servers": 2, "min_batch": 50},
        },
        privacy=PRIVACY[:1],
        audit=["disclosure"],
    ),
    "delivered": pipeline(
        collect={
            "collector": "delivery",
            "with": {"transport": "direct", "servers": 2, "min_batch": 50},
        },
        audit=["utility"],
    ),
}


def test_every_auditor_of_tables_is_listed():
    assert {name for kind, name in first_party_folders() if kind == "auditor"} == {
        *AUDITORS,
        *NO_TABLE,
    }


def run(folder, given, capfd):
    """Run a pipeline on a small clinic by the command line; return its code and what it printed."""
    lines = (EXAMPLES / "data" / "clinic.csv").read_text().splitlines(keepends=True)
    (folder / "clinic.csv").write_text("".join(lines[:201]))
    (folder / "pipeline.yaml").write_text(yaml.safe_dump(given, sort_keys=False))
    code = main(["run", str(folder / "pipeline.yaml")])
    printed = capfd.readouterr()
    return code, printed.out + printed.err


@pytest.mark.parametrize("case", CASES)
def test_terminal_page_report_and_manifest_speak_of_records(case, tmp_path, capfd):
    code, printed = run(tmp_path, CASES[case], capfd)
    assert 0 == code, printed
    public = tmp_path / "out" / "public"
    texts = {path.name: path.read_text() for path in public.iterdir() if path.suffix != ".parquet"}
    del texts["release.csv"]
    texts["report.html"] = visible(texts["report.html"])
    # A field of every headline is called so, whatever is counted.
    texts["report.json"] = texts["report.json"].replace('"people":', '"attacked":')
    texts["terminal"] = printed
    assert {} == {name: result for name, text in texts.items() if (result := PERSONS.findall(text))}
    assert "records" == json.loads(texts["report.json"])["unit"]
    assert "record" == json.loads(texts["manifest.json"])["spec"]["unit"]
    if CASES[case]["privacy"] != "none":
        assert "is shared by at least 5 records" in texts["report.html"]


def visible(page):
    """Return what a page says, its notes and labels for screen readers included."""
    return html.unescape(re.sub(r"<(script|style)\b.*?</\1>", "", page, flags=re.DOTALL))


def test_the_same_pipeline_speaks_of_persons_where_they_are_counted(tmp_path, capfd):
    given = pipeline(audit=["disclosure"])
    del given["data"]["unit"]
    code, printed = run(tmp_path, given, capfd)
    assert 0 == code, printed
    page = visible((tmp_path / "out" / "public" / "report.html").read_text())
    assert "is shared by at least 5 persons" in page


def test_a_refusal_speaks_of_records(tmp_path, capfd):
    synthetic = pipeline(
        stages=[{"mechanism": "copula", "with": {"shared": 10_000}}], privacy="none", audit=[]
    )
    synthetic["data"] = {
        **synthetic["data"],
        "columns": {**COLUMNS, "job": {"role": "label", "missing": "refuse"}},
    }
    code, printed = run(tmp_path, synthetic, capfd)
    assert 4 == code
    assert "no value is held by 10000 records" in printed
    assert [] == PERSONS.findall(printed)


def test_an_audit_of_two_tables_speaks_of_what_its_pipeline_counts(tmp_path, capfd):
    code, printed = run(tmp_path, pipeline(audit=["disclosure"]), capfd)
    assert 0 == code, printed
    files = [str(tmp_path / "clinic.csv"), str(tmp_path / "out" / "public" / "release.csv")]
    asked = ["audit", *files, "--pipeline", str(tmp_path / "pipeline.yaml")]
    for command in (asked, [*asked, "--json"]):
        assert 0 == main(command)
        message = capfd.readouterr().out
        assert "records" in message
        assert [] == PERSONS.findall(message.replace('"people":', '"attacked":'))


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("Persons are counted.", "Records are counted."),
        ("a person's class", "a record's class"),
        ("a person's record", "a record"),
        (
            "people outside; one individual of two individuals",
            "records outside; one record of two records",
        ),
        ("column 'person' and role `person`", "column 'person' and role `person`"),
        ("personal, a salesperson, impersonate", "personal, a salesperson, impersonate"),
    ],
)
def test_words_for_persons_are_those_for_records_and_names_stay(said, expected):
    assert expected == wording_for(said, "record")
    assert said == wording_for(said, "person")
