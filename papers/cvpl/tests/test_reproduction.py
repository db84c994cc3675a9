"""The paper's tables beside those of an experiment: what is read, how claims are judged."""

import html
import json
import subprocess
import sys
from pathlib import Path

import pytest

from anonloom import Finding, Findings
from anonloom.kinds import GridRow
from papers.cvpl import paper_tables
from papers.cvpl.__main__ import main
from papers.cvpl.claims import CLAIMS, judge_claims, verdict
from papers.cvpl.experiment import read_experiment
from papers.cvpl.paper_runs import LR, Runs
from papers.cvpl.reproduction import reproduction

SMALL = Path(__file__).parents[3] / "examples" / "cvpl-paper-small.yaml"
LEVELS = ("perturbation, low", "perturbation, medium", "perturbation, high")


def row(case, outliers=0, **figures):
    """A run of one protection; figures are written `auditor__finding`."""
    others = {}
    for name, value in figures.items():
        auditor, _, finding = name.partition("__")
        item = Finding(name=finding, value=value, meaning="A figure.")
        others.setdefault(auditor.replace("_", "-"), []).append(item)
    of = {auditor: Findings.of(items) for auditor, items in others.items()}
    parameters = {"case": case, "data.with.outliers": outliers}
    return GridRow(f"case={case}", parameters, Findings(), of)


def noise(*rates):
    return [row(case, cvpl__linkage_rate=rate) for case, rate in zip(LEVELS, rates, strict=True)]


def claim(rows, words):
    (result,) = [item for item in judge_claims(Runs.of(rows)) if item.words.startswith(words)]
    return result


@pytest.mark.parametrize(
    ("rates", "expected"),
    [
        ((0.9, 0.5, 0.4), "reproduced"),
        ((0.9, 0.5, 0.49), "not reproduced"),
        ((0.9, 0.5, 0.6), "contradicted"),
    ],
)
def test_a_claim_of_a_falling_rate_is_judged_by_its_worst_step(rates, expected):
    result = claim(noise(*rates), "More noise")
    assert expected == result.verdict
    assert " / ".join(f"{rate:.3f}" for rate in rates) == result.ours


def test_what_no_run_measured_is_not_assessable():
    result = judge_claims(Runs.of(noise(0.9, 0.5, 0.4)[:2]))
    assert len(CLAIMS) == len(result)
    assert {"not assessable"} == {item.verdict for item in result}


def test_independent_rows_that_link_less_than_chance_are_no_risk():
    rows = [row("synthetic, rho = 0.60", cvpl__linkage_rate=0.3, cvpl__linkage_null=0.4)]
    result = claim(rows, "Synthetic data remain linkable")
    assert "not a risk: independent rows link less than chance" == result.verdict


@pytest.mark.parametrize(
    ("difference", "expected"),
    [
        (None, "not assessable"),
        (0.03, "reproduced"),
        (0.02, "not reproduced"),
        (-0.02, "not reproduced"),
        (-0.03, "contradicted"),
    ],
)
def test_differences_within_the_margin_are_none(difference, expected):
    assert expected == verdict(difference)


def test_means_are_over_the_seeds_of_a_protection_without_outliers():
    rows = [
        row(LEVELS[0], cvpl__linkage_rate=0.2),
        row(LEVELS[0], cvpl__linkage_rate=0.4),
        row(LEVELS[0], outliers=0.05, cvpl__linkage_rate=1.0),
    ]
    runs = Runs.of(rows)
    assert 0.3 == pytest.approx(runs.mean(LR, LEVELS[0]))
    assert 1.0 == runs.mean(LR, LEVELS[0], 0.05)
    assert [LEVELS[0]] == runs.cases


def test_every_table_has_the_papers_figures_beside_ours():
    charts = {chart.name: chart for chart in reproduction(noise(0.9, 0.5, 0.4)).charts}
    tables = (12, 13, 15, 16, 19, 20, 23, 24, 25, 26)
    assert {"claims", *(f"table_{number}" for number in tables)} == set(charts)
    rows = charts["table_15"].data["rows"]
    assert [[case, paper[0]] for case, paper in paper_tables.TABLE_15.items()] == [
        row[:2] for row in rows
    ]
    assert [0.9, 0.5, 0.4] == [row[2] for row in rows]


def test_an_experiment_of_another_kind_has_no_tables():
    assert () == reproduction([row("k = 5")]).items


@pytest.fixture
def experiment(tmp_path):
    """A folder as an experiment leaves it; its second run was refused and left no release."""
    runs = []
    for number, item in enumerate(noise(0.9, 0.5, 0.4), start=1):
        status = "refused" if number == 2 else "published"
        runs.append({"label": item.label, "parameters": item.parameters, "status": status})
        if status == "published":
            rate = {"name": "linkage_rate", "value": item.others["cvpl"]["linkage_rate"].value}
            finding = {**rate, "meaning": "A figure.", "status": "measured", "more": "unknown"}
            labels = ["age", "region"]
            data = {"labels": labels, "share by loadings": [0.25, 0.75]}
            chart = {"name": "contributions", "kind": "bars", "title": "Shares", "data": data}
            audits = [{"id": "cvpl", "findings": [finding], "charts": [chart]}]
            folder = tmp_path / "runs" / f"{number:03d}-case" / "public"
            folder.mkdir(parents=True)
            (folder / "report.json").write_text(json.dumps({"audits": audits}))
    (tmp_path / "public").mkdir()
    (tmp_path / "public" / "grid.json").write_text(json.dumps({"runs": runs}))
    return tmp_path


def test_published_runs_are_read_with_the_findings_and_charts_of_all_auditors(experiment):
    rows = read_experiment(experiment)
    assert [LEVELS[0], LEVELS[2]] == [item.parameters["case"] for item in rows]
    assert [0.9, 0.4] == [item.others["cvpl"]["linkage_rate"].value for item in rows]
    assert ["contributions"] == [chart.name for chart in rows[0].others["cvpl"].charts]


def test_the_command_prints_tables_with_the_paper_beside_us(experiment, capsys):
    assert 0 == main([str(experiment)])
    printed = capsys.readouterr().out
    assert (
        "| R6, Table 15 | More noise, fewer links. | 0.803 / 0.590 / 0.364 | 0.900 / - / 0.400 |"
        in printed
    )
    assert "| perturbation, low | 0.803 | 0.900 | 0.947 | - |" in printed
    assert "| age (QI) | 0.087 | 0.250 |" in printed


@pytest.mark.parametrize("content", [None, "{}", '{"runs": [{"status": "published"}]}', "["])
def test_a_folder_without_a_finished_experiment_is_refused(tmp_path, capsys, content):
    if content is not None:
        (tmp_path / "public").mkdir()
        (tmp_path / "public" / "grid.json").write_text(content)
    assert 2 == main([str(tmp_path)])
    assert f"'{tmp_path}' holds no finished experiment" in capsys.readouterr().err


def test_an_experiment_without_the_papers_protections_is_refused(tmp_path, capsys):
    (tmp_path / "public").mkdir()
    (tmp_path / "public" / "grid.json").write_text('{"runs": []}')
    assert 2 == main([str(tmp_path)])
    assert "has no run of the paper's protections" in capsys.readouterr().err


@pytest.mark.long
def test_the_small_experiment_gives_the_tables_and_a_page_with_them(tmp_path, capsys):
    target = tmp_path / "experiment"
    command = [sys.executable, "-m", "anonloom", "run", str(SMALL), "--quiet"]
    subprocess.run(
        [*command, "--set", f"publish.to={target}", "--set", "data.with.rows=500"], check=True
    )
    assert 0 == main([str(target), "--page", str(tmp_path / "page")])
    assert "| perturbation, low | 0.803 | 0." in capsys.readouterr().out
    page = html.unescape((tmp_path / "page" / "grid.html").read_text(encoding="utf-8"))
    for title in ("What became of the paper's claims", "Table 13: all protections"):
        assert title in page
