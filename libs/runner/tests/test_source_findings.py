"""What a source found out stands in the report: which of two tables it read, for example."""

import json

from anonloom_runner.reporting import report_parts


def test_findings_of_the_source_are_in_report_and_text(simulated_clinic):
    outcome = simulated_clinic.pipeline().publish()
    source = outcome.report["source"]
    assert ("source", "csv") == (source["id"], source["method"])
    assert [("simulated", 1)] == [(f["name"], f["value"]) for f in source["findings"]]
    public = simulated_clinic.out / "public"
    assert source == json.loads((public / "report.json").read_text())["source"]
    assert "  source.simulated: 1\n" in (public / "report.txt").read_text()


def test_a_report_of_an_earlier_version_says_nothing_of_its_source(simulated_clinic):
    report = simulated_clinic.pipeline().publish().report
    ids = [part["id"] for part in report_parts(report)]
    del report["source"]
    assert ids == ["source", *(part["id"] for part in report_parts(report))]
