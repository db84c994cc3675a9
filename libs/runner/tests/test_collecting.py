"""What a collector leaves besides the release: a trace for auditors, and findings of its own."""

import json

import pytest

from anonloom.errors import SpecError


@pytest.fixture
def carried(clinic):
    """The clinic, whose rows are carried."""
    clinic.change("audit:\n", "collect: {collector: courier}\naudit:\n  - needs-trace\n")
    return clinic


def test_an_auditor_gets_the_last_trace_of_the_collector(carried):
    outcome = carried.pipeline().publish()
    assert 12 == outcome.findings["needs-trace"]["seen"].value


def test_a_trace_stays_out_of_all_that_is_written(carried):
    carried.pipeline().publish()
    written = [path for path in carried.out.rglob("*") if path.is_file()]
    assert written
    assert [] == [path for path in written if b"row 3" in path.read_bytes()]


def test_an_auditor_that_needs_a_trace_is_refused_before_the_run(carried):
    carried.change("{collector: courier}", "{collector: courier, with: {kept: false}}")
    with pytest.raises(SpecError) as caught:
        carried.pipeline()
    assert (
        f"{carried.file}:20:5: audit[0]: auditor 'needs-trace' needs a collector that keeps a "
        "trace of what its transport carried\n"
        "    - needs-trace\n"
        "      ^\n"
        "    write collect: {collector: courier, with: {kept: true}}"
    ) == str(caught.value)


def test_findings_of_the_collection_are_in_report_and_text(carried):
    outcome = carried.pipeline().publish()
    collection = outcome.report["collection"]
    assert "collector" == collection["id"]
    assert [("carried", 12)] == [(f["name"], f["value"]) for f in collection["findings"]]
    assert ["loads"] == [chart["name"] for chart in collection["charts"]]
    saved = json.loads((carried.out / "public" / "report.json").read_text())
    assert collection == saved["collection"]


def test_columns_that_cannot_be_collected_are_refused_before_the_run(carried):
    carried.change("    bill: {role: other}", "    tips: {role: other}")
    with pytest.raises(SpecError) as caught:
        carried.pipeline()
    assert (
        f"{carried.file}:18:10: collect: it carries no bills\n"
        "    collect: {collector: courier}\n"
        "             ^"
    ) == str(caught.value)
