"""Findings on a terminal."""

from anonloom import Finding, Findings
from anonloom._cli.findings_text import lines_of


def shown(*findings: Finding) -> str:
    return "\n".join(lines_of(Findings.of(findings)))


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
