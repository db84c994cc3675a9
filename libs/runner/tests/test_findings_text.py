"""Findings on a terminal."""

from typing import Any

import pytest

from anonloom import Finding
from anonloom_runner.findings_text import finding_lines, finding_sections, record_lines
from anonloom_runner.key_findings import mark_key_findings
from anonloom_runner.reporting import finding_data


def shown(*findings: Finding) -> str:
    return "\n".join(finding_lines(map(finding_data, findings)))


def part(name: str, *findings: Finding, **more: Any) -> dict[str, Any]:
    return {"id": name, "findings": [finding_data(finding) for finding in findings], **more}


def figures(count: int, *keys: int) -> list[Finding]:
    return [
        Finding(name=f"f{index}", value=index, meaning=f"Meaning {index}.", key=index in keys)
        for index in range(count)
    ]


def keys(parts: list[dict[str, Any]]) -> list[str]:
    mark_key_findings(parts)
    marked = [(item["id"], finding) for item in parts for finding in item["findings"]]
    return [f"{name}.{finding['name']}" for name, finding in marked if finding["key"]]


def test_what_was_compared_comes_first_and_long_lines_go_on_below() -> None:
    assert """\
  configuration: columns: age, gender, region, brand, place, time, lag; blocks: age by 10,
      region; categories: one-hot
      What was compared, and how.
  rate: 0.1235 (0.1 to 0.15)
      Share of the records.""" == shown(
        Finding(name="rate", value=0.123456, interval=(0.1, 0.15), meaning="Share of the records."),
        Finding(
            name="configuration",
            value="columns: age, gender, region, brand, place, time, lag; blocks: age by 10, "
            "region; categories: one-hot",
            meaning="What was compared, and how.",
        ),
    )


def test_figures_of_columns_stand_together() -> None:
    assert """\
  ncp: 0.25
      Mean.
  ncp: age 0.5, a bound, sex 0
      Loss of 'age'; the others likewise.
  k: 5 records
      Least.
  l.job: 2
      Values.""" == shown(
        Finding(name="ncp", value=0.25, meaning="Mean."),
        Finding(name="ncp.age", value=0.5, meaning="Loss of 'age'.", status="bound"),
        Finding(name="k", value=5, unit="records", meaning="Least."),
        Finding(name="ncp.sex", value=0.0, meaning="Loss of 'sex'."),
        Finding(name="l.job", value=2, meaning="Values."),
    )


def test_what_cannot_be_assessed_is_named_at_the_end_with_its_reason_once() -> None:
    absent = {"value": None, "status": "not assessable", "meaning": "Share."}
    assert """\
  rows: 123456
      Rows.
  not assessable (there is no truth): a, b
  none detected: c""" == shown(
        Finding(name="a", assumptions=("there is no truth", "more"), **absent),
        Finding(name="b", assumptions=("there is no truth",), **absent),
        Finding(name="c", value=None, status="none detected", meaning="Nothing."),
        Finding(name="rows", value=123456, meaning="Rows."),
    )


def test_a_terminal_shows_what_is_key_and_counts_the_rest() -> None:
    parts = [
        part("recode", *figures(3), method="generalize"),
        part("loss", *figures(9, 4, 2), measures="utility", summary="What was lost."),
    ]
    mark_key_findings(parts)
    assert [
        "",
        "loss (utility): What was lost.",
        "  f2: 2",
        "      Meaning 2.",
        "  f4: 4",
        "      Meaning 4.",
        "",
        "10 more findings: --all shows them, and so does the report",
    ] == list(finding_sections(parts, beside=", and so does the report"))
    everything = "\n".join(finding_sections(parts, everything=True))
    assert 12 == everything.count("Meaning")
    assert "recode (generalize)\n" in everything
    assert "more findings" not in everything


def test_the_record_has_a_line_for_every_finding() -> None:
    absent = Finding(name="none", value=None, status="not assessable", meaning="Nothing.")
    figure = Finding(name="rate", value=0.123456789, unit="rows", meaning="Rate.")
    assert ["  a.rate: 0.123457 rows", "  a.none: not assessable"] == list(
        record_lines([part("a", figure, absent)])
    )


def test_few_findings_are_all_key() -> None:
    assert 7 == len(keys([part("a", *figures(3)), part("b", *figures(4), measures="risk")]))


def test_an_auditor_that_marks_none_leads_with_its_first_figure() -> None:
    configuration = Finding(name="configuration", value="blocks: age", meaning="How.")
    absent = Finding(name="none", value=None, status="not assessable", meaning="Nothing.")
    parts = [
        part("stage", *figures(5)),
        part("a", configuration, absent, *figures(5), measures="risk"),
        part("b", absent, measures="risk"),
    ]
    assert ["a.f0", "b.none"] == keys(parts)


def test_what_a_condition_is_set_on_is_key() -> None:
    audit = part("a", *figures(9, 1), measures="risk")
    audit["findings"][8]["condition"] = "> 9"
    assert ["a.f1", "a.f8"] == keys([audit])


@pytest.mark.parametrize("auditors", [2, 7, 9])
def test_at_most_seven_lead_and_every_auditor_has_one_before_any_has_two(auditors: int) -> None:
    parts = [part(str(index), *figures(9, *range(9)), measures="risk") for index in range(auditors)]
    marked = [name.partition(".")[0] for name in keys(parts)]
    assert 7 == len(marked)
    assert min(auditors, 7) == len(set(marked))
