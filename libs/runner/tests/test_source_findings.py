"""What a source found out stands in the report: which of two tables it read, for example."""

import json

import pytest

from anonloom import Finding
from anonloom.sources import Csv
from anonloom_runner.reporting import report_parts


@pytest.fixture
def noticed(clinic, monkeypatch):
    """The clinic, whose source has something to say."""
    load = Csv.load

    def said(self, schema, run):
        run.find(Finding(name="simulated", value=1, meaning="Rows are simulated."))
        return load(self, schema, run)

    monkeypatch.setattr(Csv, "load", said)
    return clinic


def test_findings_of_the_source_are_in_report_and_text(noticed):
    outcome = noticed.pipeline().publish()
    source = outcome.report["source"]
    assert ("source", "csv") == (source["id"], source["method"])
    assert [("simulated", 1)] == [(f["name"], f["value"]) for f in source["findings"]]
    public = noticed.out / "public"
    assert source == json.loads((public / "report.json").read_text())["source"]
    assert "  source.simulated: 1\n" in (public / "report.txt").read_text()


def test_a_report_of_an_earlier_version_says_nothing_of_its_source(noticed):
    report = noticed.pipeline().publish().report
    ids = [part["id"] for part in report_parts(report)]
    del report["source"]
    assert ids == ["source", *(part["id"] for part in report_parts(report))]
