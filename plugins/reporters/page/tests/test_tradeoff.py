"""Risk against utility: which figures, which families."""

from typing import Any

import pytest

from anonloom_page.tradeoff import tradeoffs


def run(label: str, parameters: dict[str, Any], **findings: Any) -> dict[str, Any]:
    results = {name.replace("__", "."): value for name, value in findings.items()}
    return {"label": label, "parameters": parameters, "status": "published", "findings": results}


def figure(key: str, measures: str | None, better: str) -> dict[str, Any]:
    return {"key": key, "measures": measures, "better": better, "meaning": "M.", "unit": ""}


FIGURES = [
    figure("gcp", None, "lower"),
    figure("cvpl.k", "risk", "higher"),
    figure("cvpl.precision_at_1", "risk", "lower"),
    figure("cvpl.linkage_excess", "risk", "lower"),
    figure("utility.gcp", "utility", "lower"),
    figure("utility.correlation_preserved", "utility", "higher"),
]


def report(runs: list[dict[str, Any]], varied: list[str]) -> dict[str, Any]:
    return {"figures": FIGURES, "runs": runs, "varied": varied}


def pair(level: str, seed: int, at: float) -> dict[str, Any]:
    return run(
        f"level={level}, seed=<private {seed}>",
        {"seed": f"<private {seed}>", "level": level},
        gcp=at,
        utility__gcp=at,
        utility__correlation_preserved=1 - at,
        cvpl__k=at,
        cvpl__precision_at_1=at,
        cvpl__linkage_excess=at,
    )


def test_every_risk_is_drawn_against_every_utility_the_telling_ones_first() -> None:
    runs = [pair("low", 1, 0.1), pair("high", 1, 0.2)]
    assert [
        ("utility.gcp", "cvpl.linkage_excess"),
        ("utility.correlation_preserved", "cvpl.linkage_excess"),
        ("utility.gcp", "cvpl.precision_at_1"),
        ("utility.correlation_preserved", "cvpl.precision_at_1"),
    ] == [(tradeoff["x"], tradeoff["y"]) for tradeoff in tradeoffs(report(runs, ["level"]), runs)]


def test_points_are_coloured_by_what_was_varied_first_and_is_neither_private_nor_a_number() -> None:
    runs = [pair("low", 1, 0.1), pair("low", 2, 0.15), pair("high", 1, 0.2)]
    for index, item in enumerate(runs):
        item["parameters"]["k"] = index
    chart = tradeoffs(report(runs, ["seed", "k", "level"]), runs)[1]
    assert ["low", "high"] == list(chart["data"])
    assert ["level=low, seed=#1", "level=low, seed=#2"] == chart["data"]["low"]["labels"]
    assert "Every point is a run; the lower right corner is best. M." == chart["meaning"]


def test_many_cases_are_coloured_by_their_family() -> None:
    names = [f"{family}-{level}" for family in ("perturb", "copula", "k") for level in range(4)]
    runs = [pair(name, 1, index / 20) for index, name in enumerate(names)]
    for item, name in zip(runs, names, strict=True):
        item["parameters"] = {"case": name}
    assert ["perturb", "copula", "k"] == list(tradeoffs(report(runs, ["case"]), runs)[0]["data"])


@pytest.mark.parametrize("left", ["cvpl", "utility"])
def test_without_a_risk_or_a_utility_there_is_nothing_to_weigh(left: str) -> None:
    runs = [pair("low", 1, 0.1), pair("high", 1, 0.2)]
    whole = report(runs, ["level"])
    whole["figures"] = [item for item in FIGURES if item["key"].startswith(left + ".")]
    assert [] == tradeoffs(whole, runs)


def test_the_loss_of_the_run_stands_in_for_an_auditor_of_utility() -> None:
    runs = [pair("low", 1, 0.1), pair("high", 1, 0.2)]
    whole = report(runs, ["level"])
    whole["figures"] = [item for item in FIGURES if item["measures"] != "utility"]
    assert ["gcp", "gcp"] == [tradeoff["x"] for tradeoff in tradeoffs(whole, runs)]


def test_a_utility_that_is_the_same_in_most_runs_is_not_the_first_choice() -> None:
    runs = [pair("low", 1, 0.1), pair("mid", 1, 0.15), pair("high", 1, 0.2)]
    for item in runs[:2]:
        item["findings"] |= {"gcp": 0, "utility.gcp": 0}
    result = tradeoffs(report(runs, ["level"]), runs)
    assert ["utility.correlation_preserved", "utility.gcp"] == [item["x"] for item in result[:2]]
