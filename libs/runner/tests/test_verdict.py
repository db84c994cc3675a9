"""The verdict: data made in core, amber for whatever concerns privacy, never silent on its limits."""

import pytest

from anonloom import Findings, StageContext
from anonloom.findings import Notice
from anonloom_runner.reporting import record_text
from anonloom_runner.verdict import Verdict, refusal_verdict
from anonloom_testing import toy_methods


@pytest.fixture
def warning(monkeypatch, registry):
    """Let a partitioner of the clinic say something while it works."""

    def say(text: str, privacy: bool) -> None:
        runs = toy_methods.Runs
        original = runs.partition

        def partition(self, table, classes, guard, context):
            context.warn(text, privacy=privacy)
            return original(self, table, classes, guard, context)

        monkeypatch.setattr(runs, "partition", partition)

    return say


def test_a_warning_of_a_method_is_kept_beside_its_findings():
    context = StageContext()
    context.warn("The search stopped.")
    context.warn("Names are published.", privacy=True)
    notices = (Notice("The search stopped."), Notice("Names are published.", privacy=True))
    assert notices == Findings.of(context.found).notices
    assert [] == list(Findings.of(context.found))


def test_a_warning_about_privacy_turns_the_verdict_amber(clinic, warning):
    warning("2 rows are alone.", privacy=True)
    report = clinic.pipeline().run().report
    assert ("amber", ["2 rows are alone."]) == (
        report["verdict"]["tone"],
        report["verdict"]["reasons"],
    )
    assert [{"stage": "partitioner", "text": "2 rows are alone.", "privacy": True}] == report[
        "warnings"
    ]
    assert "  verdict: amber\n" in record_text(report)
    assert "  warning: partitioner: 2 rows are alone.\n" in record_text(report)


def test_a_warning_about_something_else_leaves_the_verdict_green(clinic, warning):
    warning("The search stopped at a limit.", privacy=False)
    report = clinic.pipeline().run().report
    assert ("green", []) == (report["verdict"]["tone"], report["verdict"]["reasons"])
    assert "  warning: partitioner: The search stopped at a limit.\n" in record_text(report)


def test_the_verdict_always_says_what_it_does_not_cover(clinic):
    covered = clinic.pipeline().run().report["verdict"]
    assert covered["does_not_cover"][-1].startswith("Other releases about the same persons")
    clinic.change("privacy:\n  - size: {k: 3}\n", "privacy: none\n")
    nothing = clinic.pipeline().run().report["verdict"]
    assert (
        "Any formal guarantee: no privacy model was declared, and none was checked."
        == (nothing["does_not_cover"][0])
    )
    assert "amber" == nothing["tone"]


def test_a_refusal_is_a_verdict_with_its_reason():
    assert Verdict("refused", ("k-anonymity does not hold",)) == refusal_verdict(
        "k-anonymity does not hold"
    )
