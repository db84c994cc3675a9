"""The paper's tables beside those of an experiment: what is read, how claims are judged."""

import html
import json
import subprocess
import sys
from pathlib import Path

import attrs
import numpy as np
import pytest
import yaml

from anonloom import Finding, Findings
from anonloom.kinds import GridRow
from papers.cvpl import paper_tables
from papers.cvpl.__main__ import main, markdown
from papers.cvpl.claims import CLAIMS, judge_claims, verdict
from papers.cvpl.experiment import MEASURED, kept_runs, read_runs
from papers.cvpl.paper_runs import LR, TIMES, Runs
from papers.cvpl.reproduction import reproduction
from papers.cvpl.utility_and_risk import papers_relation

ROOT = Path(__file__).parents[3]
SMALL = ROOT / "examples" / "cvpl-paper-small.yaml"
WHOLE = ROOT / "examples" / "cvpl-paper.yaml"
BESIDE = ("ablations", "times")
DOCUMENT = ROOT / "docs" / "cvpl-reproduced.md"
#: What 600 rows and one seed are enough for: differences far above the margin.
SMALL_VERDICTS = {
    "The linkage rate rises with k, while 1/k falls.": "contradicted",
    "At small k no true pair is linked, and at k = 5 nobody is found.": "contradicted",
    "More noise, fewer links.": "reproduced",
    "Fellegi-Sunter links more than CVPL, under every protection.": "reproduced",
    "CVPL identifies better than Fellegi-Sunter.": "contradicted",
    "The distance to the closest record cannot tell what can be recovered from what cannot.": (
        "reproduced"
    ),
    "More than half of the contribution is not of quasi-identifiers.": "reproduced",
    "Mahalanobis similarity links less.": "contradicted",
    "Jaccard similarity links less.": "reproduced",
}
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
    drawn = {"utility_and_risk", "figure_5_rates", "figure_5_precision"}
    assert {"claims", *(f"table_{number}" for number in tables), *drawn} == set(charts)
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
            share = {"name": "contribution.age", "value": 0.25, "meaning": "A share."}
            data = {"labels": ["age"], "share by loadings": [0.25]}
            chart = {"name": "contributions", "kind": "bars", "title": "Shares", "data": data}
            audits = [{"id": "cvpl", "findings": [finding, share], "charts": [chart]}]
            folder = tmp_path / "runs" / f"{number:03d}-case" / "public"
            folder.mkdir(parents=True)
            (folder / "report.json").write_text(json.dumps({"audits": audits}))
    (tmp_path / "public").mkdir()
    (tmp_path / "public" / "grid.json").write_text(json.dumps({"runs": runs}))
    return tmp_path


def test_published_runs_are_read_with_the_findings_and_charts_of_all_auditors(experiment):
    rows = read_runs(experiment)
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
    assert "| protection | CVPL | CVPL, paper | Fellegi-Sunter | Fellegi-Sunter, paper |" in printed
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


# --- rules of single claims ----------------------------------------------------------------------


def generalized(rates, name="k-anonymity", **figures):
    cases = [f"{name}, k = {k}" for k in rates]
    return [
        row(case, cvpl__linkage_rate=rate, **figures)
        for case, rate in zip(cases, rates.values(), strict=True)
    ]


@pytest.mark.parametrize(
    ("rates", "ours", "expected"),
    [
        ({2: 0.1, 7: 0.2, 10: 0.3, 50: 0.4}, "0.150 / 0.350", "reproduced"),
        ({2: 0.5, 10: 0.3}, "0.500 / 0.300", "contradicted"),
        ({2: 0.3, 10: 0.31}, "0.300 / 0.310", "not reproduced"),
        ({10: 0.31}, "- / 0.310", "not assessable"),
    ],
)
def test_the_rate_rises_with_k_if_it_is_higher_from_ten_on(rates, ours, expected):
    result = claim(generalized(rates), "The linkage rate rises with k")
    assert (ours, expected) == (result.ours, result.verdict)


def test_other_readings_of_the_times_are_judged_apart_and_are_no_protections():
    rows = [
        *generalized({2: 0.5, 10: 0.3}),
        *(item for name in TIMES for item in generalized({2: 0.2, 10: 0.4}, name)),
    ]
    assert ["k-anonymity, k = 2", "k-anonymity, k = 10"] == Runs.of(rows).cases
    table = {chart.name: chart for chart in reproduction(rows).charts}["times"]
    assert [[name, "0.200 / 0.400", "reproduced"] for name in TIMES] == [
        cells[:3] for cells in table.data["rows"]
    ]
    assert "contradicted" == claim(rows, "The linkage rate rises with k").verdict


def test_a_k_that_is_varied_apart_names_the_protection():
    (item,) = generalized({2: 0.5}, "times to days")
    varied = attrs.evolve(item, parameters={"case": "times to days", "privacy.k-anonymity.k": 2})
    assert ["times to days, k = 2"] == Runs.of([varied]).family("times")


@pytest.mark.parametrize(
    ("linked", "found", "expected"),
    [(0.0, 0.0, "reproduced"), (0.5, 0.9, "contradicted"), (0.0, None, "not assessable")],
)
def test_at_small_k_somebody_is_found_or_nobody(linked, found, expected):
    rows = generalized({5: 0.5}, cvpl__true_link_rate=linked, cvpl__precision_at_1=found)
    assert expected == claim(rows, "At small k").verdict


@pytest.mark.parametrize(
    ("related", "expected"),
    [
        ((), "reproduced"),
        (("correlation", "marginals", "accuracy", "distances"), "contradicted"),
        (("accuracy", "distances"), "depends on the proxy: related with accuracy and distances"),
    ],
)
def test_utility_and_risk_are_judged_by_every_proxy(related, expected):
    rng = np.random.default_rng(3)
    rows = []
    for at, case in enumerate(paper_tables.TABLE_13):
        proxies = {
            f"utility__{name}_preserved": at / 13 if name in related else rng.random()
            for name in ("correlation", "marginals", "accuracy", "distances")
        }
        rows.append(row(case, cvpl__linkage_rate=at / 13, **proxies))
    assert expected == claim(rows, "Utility and risk").verdict


def variants(**figures):
    finding = {name.replace("_of_", "."): value for name, value in figures.items()}
    return [row("perturbation, medium", **{f"cvpl_variants__{n}": v for n, v in finding.items()})]


@pytest.mark.parametrize(
    ("rate", "expected"), [(0.41, "reproduced"), (0.5, "contradicted"), (0.3, "contradicted")]
)
def test_a_claim_of_no_difference_is_held_to_the_margin(rate, expected):
    rows = variants(**{"projection.pca.linkage_rate": 0.42, "projection.umap.linkage_rate": rate})
    result = claim(rows, "UMAP links as much")
    assert (f"0.420 / {rate:.3f}", expected) == (result.ours, result.verdict)


@pytest.mark.parametrize(
    ("rates", "expected"),
    [
        ((0.1, 0.2, 0.2), "reproduced"),
        ((0.1, 0.2, 0.19), "contradicted"),
        ((0.1, 0.2, None), "not assessable"),
    ],
)
def test_the_ladder_of_blocks_may_stand_still_and_never_fall(rates, expected):
    names = ("all_keys", "without_level_2", "without_region")
    figures = {f"{name}__linkage_rate": rate for name, rate in zip(names, rates, strict=True)}
    results = [
        item.verdict
        for item in judge_claims(Runs.of([row("perturbation, medium", **figures)]))
        if item.where == "R11, section 8.11"
    ]
    assert [expected] == results


# --- the paper's own figures ---------------------------------------------------------------------


def test_means_of_table_13_are_those_that_it_prints():
    means = np.mean([*paper_tables.TABLE_13.values()], axis=0)
    assert means == pytest.approx(paper_tables.TABLE_13_AVERAGE, abs=0.0006)


def test_the_papers_correlation_of_utility_and_risk_is_that_of_table_13():
    relation = papers_relation()
    r, p, _, _ = paper_tables.UTILITY_AND_RISK
    assert (13, r, p) == (relation.protections, round(relation.r, 2), round(relation.p, 2))
    # From figures rounded to three places, with many ties; the paper prints -0.02 and 0.95.
    assert abs(relation.rank) < 0.02
    assert relation.rank_p > 0.94


# --- documents and experiments -------------------------------------------------------------------


def test_kept_means_give_the_tables_of_their_runs(experiment, tmp_path, capsys):
    kept = tmp_path / "kept.json"
    assert 0 == main([str(experiment), "--keep", str(kept)])
    printed = capsys.readouterr().out
    assert 0 == main([str(kept)])
    assert printed == capsys.readouterr().out
    assert kept_runs(read_runs(kept))["runs"] == kept_runs(read_runs(experiment))["runs"]


def test_the_document_shows_the_tables_of_the_kept_runs():
    written = DOCUMENT.read_text(encoding="utf-8")
    for chart in reproduction(read_runs(MEASURED)).charts:
        # Figures 5 and 6 are drawn; what they show stands in Table 13, too.
        if chart.kind == "table" or chart.name == "figure_2":
            assert markdown(chart).split("\n\n")[1] in written, chart.name


@pytest.mark.parametrize("name", BESIDE)
def test_experiments_beside_the_whole_one_are_of_the_same_table(name):
    whole = yaml.safe_load(WHOLE.read_text(encoding="utf-8"))
    beside = yaml.safe_load((ROOT / "papers/cvpl" / f"{name}.yaml").read_text(encoding="utf-8"))
    assert whole["data"] == beside["data"]
    assert whole["suppression"] == beside["suppression"]
    (wanted,) = [use["with"] for use in whole["audit"] if use["auditor"] == "cvpl"]
    for use in beside["audit"]:
        if use["auditor"] in ("cvpl", "cvpl-variants"):
            asked = {key: value for key, value in use["with"].items() if key in wanted}
            assert wanted["clock"] == asked["clock"]
            assert "id" in use or wanted == asked


@pytest.mark.long
def test_the_small_experiment_gives_verdicts_tables_and_a_page_with_them(tmp_path, capsys):
    target = tmp_path / "experiment"
    command = [sys.executable, "-m", "anonloom", "run", str(SMALL), "--quiet"]
    subprocess.run([*command, "--set", f"publish.to={target}"], check=True)
    assert 0 == main([str(target), "--page", str(tmp_path / "page")])
    assert "| perturbation, low | 0.803 | 0." in capsys.readouterr().out
    page = html.unescape((tmp_path / "page" / "grid.html").read_text(encoding="utf-8"))
    for title in (
        "What became of the paper's claims",
        "Table 13: all protections",
        "Figure 2: linkage rate and 1/k",
        "Figure 5: linkage rates, CVPL and Fellegi-Sunter",
        "Figure 6: synthetic rows, distances",
    ):
        assert title in page
    judged = {item.words: item.verdict for item in judge_claims(Runs.of(read_runs(target)))}
    assert SMALL_VERDICTS == {
        words: result for words, result in judged.items() if words in SMALL_VERDICTS
    }
