"""The page is complete in itself, escapes everything, stays small and says what holds."""

import copy
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from anonloom_page.grid_view import grid_view
from anonloom_page.limits import Limits
from anonloom_page.reporter import Page

VOID = {"meta", "br", "link", "img", "input", "hr"}
LARGEST = 2_000_000
HOSTILE = "</style></script><script>alert(1)</script>\"'><img src=x onerror=alert(2)>{{7*7}}&"


class Reader(HTMLParser):
    """Reads a page strictly: every element is closed, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attributes)))
        assert len(attributes) == len(dict(attributes)), f"an attribute of {tag} repeats"
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert [] == reader.open
    return reader


def words(page: str) -> str:
    return " ".join(" ".join(read(page).text).split())


def written(report: dict[str, Any], folder: Path) -> str:
    assert ("report.html",) == Page().write(report, folder)
    assert ["report.html"] == [path.name for path in folder.iterdir()]
    return (folder / "report.html").read_text(encoding="utf-8")


def written_grid(grid: dict[str, Any], folder: Path) -> str:
    assert ("grid.html",) == Page().write_grid(grid, folder)
    return (folder / "grid.html").read_text(encoding="utf-8")


def external(page: str) -> list[str]:
    """References to anything outside the page."""
    result = re.findall(r"url\([^)]*\)|@import[^;]*", page)
    for tag, attributes in read(page).elements:
        for name, value in attributes.items():
            if name in {"src", "href", "xlink:href", "srcset", "action", "data", "poster"}:
                result.append(f"{tag} {name}={value}")
    return result


def hostile(data: Any) -> Any:
    """The same data with a hostile text in every name and text that a plugin or file can choose."""
    kept = {"kind", "status", "better", "key"}
    if isinstance(data, dict):
        return {
            (key if re.fullmatch(r"[a-z_]+", key) else key + HOSTILE): (
                value if key in kept else hostile(value)
            )
            for key, value in data.items()
        }
    if isinstance(data, list):
        return [hostile(item) for item in data]
    return data + HOSTILE if isinstance(data, str) else data


def test_the_page_is_well_formed_and_refers_to_nothing_outside(
    report: dict[str, Any], tmp_path: Path
) -> None:
    assert [] == external(written(report, tmp_path))


def test_the_grid_page_is_well_formed_and_refers_to_nothing_outside(
    grid: dict[str, Any], tmp_path: Path
) -> None:
    assert [] == external(written_grid(grid, tmp_path))


def test_hostile_names_and_texts_stay_texts(report: dict[str, Any], tmp_path: Path) -> None:
    elements = read(written(hostile(report), tmp_path)).elements
    assert [] == [tag for tag, _ in elements if tag in ("script", "img")]
    assert [] == [
        name for _, attributes in elements for name in attributes if name.startswith("on")
    ]


def test_hostile_names_and_texts_in_a_grid_stay_texts(grid: dict[str, Any], tmp_path: Path) -> None:
    page = written_grid(hostile(grid), tmp_path)
    elements = read(page).elements
    assert ["script"] == [tag for tag, _ in elements if tag in ("script", "img")]
    assert [] == [
        name for _, attributes in elements for name in attributes if name.startswith("on")
    ]
    assert "{{7*7}}" in words(page)


def test_no_text_of_a_report_is_taken_for_a_template(
    report: dict[str, Any], tmp_path: Path
) -> None:
    report["name"] = "{{ 7 * 7 }}{% raw %}"
    assert "{{ 7 * 7 }}{% raw %}" in words(written(report, tmp_path))


def test_the_policy_of_the_page_allows_no_script_but_the_one_of_the_grid(
    report: dict[str, Any], grid: dict[str, Any], tmp_path: Path
) -> None:
    policy = re.search(r'Policy" content="([^"]*)"', written(report, tmp_path))
    assert policy is not None
    assert (
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
        == (policy[1])
    )
    of_grid = re.search(r'Policy" content="([^"]*)"', written_grid(grid, tmp_path))
    assert of_grid is not None
    assert re.search(r"script-src 'sha256-[A-Za-z0-9+/=]{44}'", of_grid[1])


def test_ten_thousand_findings_stay_below_two_megabytes(
    report: dict[str, Any], tmp_path: Path
) -> None:
    one = report["audits"][1]["findings"][0]
    report["audits"][1]["findings"] = [
        {**one, "name": f"figure_{n}.column {n % 50}", "meaning": "m" * 300} for n in range(10_000)
    ]
    page = written(report, tmp_path)
    assert len(page.encode()) < LARGEST
    assert "7,880 more figures are in report.json." in words(page)
    assert "figure_9999" not in page


def test_two_hundred_runs_of_two_hundred_figures_stay_below_two_megabytes(
    grid: dict[str, Any], tmp_path: Path
) -> None:
    keys = [f"auditor.figure_{n}" for n in range(200)]
    grid["figures"] = [
        {"key": key, "better": "lower", "meaning": "m" * 300, "unit": ""} for key in keys
    ]
    grid["runs"] = [
        {
            "label": f"run {n} " + "x" * 60,
            "parameters": {"k": n, "method": f"m{n % 7}"},
            "status": "published",
            "message": "",
            "findings": {key: n / (index + 1) for index, key in enumerate(keys)},
        }
        for n in range(200)
    ]
    grid["varied"] = ["k", "method"]
    page = written_grid(grid, tmp_path)
    assert len(page.encode()) < LARGEST
    assert "run 199" in page
    assert "more figures are in grid.csv" in page


def test_a_page_that_is_still_too_large_is_drawn_with_less_on_it(
    report: dict[str, Any], tmp_path: Path
) -> None:
    audit = report["audits"][1]
    report["audits"] = [{**copy.deepcopy(audit), "auditor": f"a{n}"} for n in range(60)]
    one = audit["findings"][0]
    for each in report["audits"]:
        each["findings"] = [{**one, "name": f"f{n}", "meaning": "m" * 390} for n in range(400)]
    assert len(written(report, tmp_path).encode()) < LARGEST


def test_an_endless_name_is_cut(report: dict[str, Any], tmp_path: Path) -> None:
    report["columns"][0]["name"] = report["name"] = "n" * 1_000_000
    report["manifest"]["spec"] = "s" * 1_000_000
    page = written(report, tmp_path)
    assert len(page.encode()) < 400_000
    assert "… the rest is in the file" in page


def test_the_same_report_gives_the_same_page(report: dict[str, Any], tmp_path: Path) -> None:
    pages = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        before = json.dumps(report)
        pages.append(written(report, tmp_path / name))
        assert before == json.dumps(report)
    assert pages[0] == pages[1]


def test_the_verdict_comes_first_and_in_plain_words(report: dict[str, Any], tmp_path: Path) -> None:
    page = words(written(report, tmp_path))
    assert "k-anonymity (k = 5) and l-diversity (l = 3, of = diagnosis) hold" in page
    assert "is shared by at least 5 persons, so that nobody can be singled out" in page
    assert "Checked on the published table: 49 classes, 397 records." in page
    assert "The smallest group of records that look alike has 5 members." in page
    assert page.index("hold") < page.index("What was done") < page.index("What was found")


def test_a_group_of_one_has_one_member(report: dict[str, Any], tmp_path: Path) -> None:
    report["summary"]["smallest_class"] = 1
    assert "records that look alike has 1 member." in words(written(report, tmp_path))


def test_cells_that_were_changed_on_their_way_in_are_counted(
    report: dict[str, Any], tmp_path: Path
) -> None:
    message = "Cells that were read without characters that nobody sees, in Unicode's form NFC: "
    assert message not in words(written(report, tmp_path))
    report["columns"][1]["normalized_cells"] = 2
    report["columns"][2]["normalized_cells"] = 1200
    assert f"{message}sex 2, zip 1,200." in words(written(report, tmp_path))


def test_a_single_model_is_named(report: dict[str, Any], tmp_path: Path) -> None:
    report["privacy"] = report["privacy"][:1]
    assert "k-anonymity (k = 5) holds" in words(written(report, tmp_path))


@pytest.mark.parametrize(
    ("tone", "drawn", "word", "title"),
    [
        ("green", "good", "Green", "k-anonymity (k = 5) holds"),
        ("amber", "warn", "Amber", "k-anonymity (k = 5) holds, but read this first"),
        ("refused", "bad", "Refused", "Not to be published"),
        ("purple", "warn", "No verdict", "k-anonymity (k = 5) holds, but read this first"),
    ],
)
def test_every_tone_has_its_word_beside_its_colour(
    report: dict[str, Any], tmp_path: Path, tone: str, drawn: str, word: str, title: str
) -> None:
    report["privacy"] = report["privacy"][:1]
    report["verdict"]["tone"] = tone
    page = written(report, tmp_path)
    assert f'class="verdict {drawn}"' in page
    box = words(
        page[page.index('<section class="verdict') : page.index("</section>")] + "</section>"
    )
    assert box.startswith(f"{word} {title} ")


def test_the_box_draws_the_reasons_and_what_is_not_covered(
    report: dict[str, Any], tmp_path: Path
) -> None:
    page = words(written(report, tmp_path))
    assert "read this first Rows are in the order of the input ('shuffle: false')." in page
    assert (
        "What this does not cover Other releases about the same persons: they can be intersected."
        in page
    )


def test_a_report_without_a_verdict_is_not_praised(report: dict[str, Any], tmp_path: Path) -> None:
    del report["verdict"]
    page = written(report, tmp_path)
    assert 'class="verdict warn"' in page
    assert "No verdict" in words(page)


def test_a_release_without_a_model_says_so(report: dict[str, Any], tmp_path: Path) -> None:
    report.update(privacy=[], privacy_none=True)
    page = written(report, tmp_path)
    assert 'class="verdict warn"' in page
    assert "No privacy model was declared" in words(page)
    assert "This release carries no formal guarantee" in words(page)


def test_a_broken_limit_is_shown_as_broken(report: dict[str, Any], tmp_path: Path) -> None:
    report["audits"][1]["findings"][1]["failed"] = True
    assert "broken: must not be > 0.2" in words(written(report, tmp_path))


def test_warnings_that_are_no_reason_of_the_verdict_stand_below_it(
    report: dict[str, Any], tmp_path: Path
) -> None:
    page = words(written(report, tmp_path))
    assert "Note partitioner: The search stopped after 1,000 nodes." in page
    assert 1 == page.count("Rows are in the order of the input")


def test_every_run_of_a_grid_shows_its_verdict(grid: dict[str, Any], tmp_path: Path) -> None:
    page = written_grid(grid, tmp_path)
    shown = [f'<span class="badge {name}">{word}</span>' for name, word in
             (("good", "green"), ("warn", "amber"), ("bad", "refused"))]  # fmt: skip
    assert [8, 2, 1] == [page.count(item) for item in shown]


def test_findings_show_meaning_assumptions_intervals_and_status(
    report: dict[str, Any], tmp_path: Path
) -> None:
    page = words(written(report, tmp_path))
    assert "Share of the records that can be linked beyond chance. linkage_excess" in page
    assert "0.031 0.012 to 0.05" in page
    assert "not assessable" in page
    assert "a bound" in page
    assert "the attacker knows every quasi-identifier of the person exactly" in page


def test_guarantees_of_the_transport_are_listed(report: dict[str, Any], tmp_path: Path) -> None:
    page = words(written(report, tmp_path))
    assert "Records came through the transport 'direct' to the collector 'anonify'." in page
    assert "honest senders min 1,000" in page
    assert "post quantum no" in page
    assert "not covered traffic analysis a server that lies" in page
    listed = "<td><ul><li>traffic analysis</li><li>a server that lies</li></ul></td>"
    assert listed in written(report, tmp_path)


def test_what_one_process_played_is_not_told_as_a_guarantee(
    report: dict[str, Any], tmp_path: Path
) -> None:
    declared = report["collection"]["guarantees"]
    played = {"parties": "one-process", "guarantees": {}, "guarantees_if_deployed": declared}
    report["collection"] |= played
    page = words(written(report, tmp_path))
    assert (
        "One process played all senders and servers and saw every record: this protects nobody "
        "from whoever ran it. With each party on a machine of its own, it would guarantee: honest "
        "senders min 1,000" in page
    )
    assert "It guarantees:" not in page


def test_no_guarantee_is_cut(report: dict[str, Any], tmp_path: Path) -> None:
    """What is promised ends with its conditions, what is not covered with its last item."""
    long = "every message, " * 60 + "if nobody lies"
    report["collection"]["guarantees"] |= {"delivery": long, "not_covered": [long, "rain"]}
    page = words(written(report, tmp_path))
    assert f"delivery {long}" in page
    assert f"not covered {long} rain" in page


def test_a_transport_among_the_parameters_of_the_collector_is_named(
    report: dict[str, Any], tmp_path: Path
) -> None:
    del report["collection"]["transport"]
    report["collection"]["parameters"] = {"transport": {"transport": "mixnet", "with": {}}}
    assert "came through the transport 'mixnet'" in words(written(report, tmp_path))


def test_what_the_source_found_stands_with_how_records_came_together(
    report: dict[str, Any], tmp_path: Path
) -> None:
    report["source"] = {
        "id": "source",
        "method": "diabetes",
        "findings": [{"name": "simulated", "value": 1, "meaning": "Rows are simulated."}],
        "charts": [],
    }
    page = words(written(report, tmp_path))
    assert "Rows are simulated." in page.partition("How the records came together")[2]


def test_what_the_collection_found_stands_with_it(report: dict[str, Any], tmp_path: Path) -> None:
    report["collection"]["findings"] = [
        {"name": "upload", "value": 4096, "unit": "bytes", "meaning": "Sent by each person."}
    ]
    report["collection"]["charts"] = [
        {"name": "c", "kind": "bars", "title": "Cost", "data": {"labels": ["a"], "n": [1]}}
    ]
    page = words(written(report, tmp_path))
    assert "Sent by each person. upload 4,096 bytes" in page
    assert "Cost" in page[page.index("Sent by each person.") :]


def test_a_curator_is_named_as_what_it_is(report: dict[str, Any], tmp_path: Path) -> None:
    report["collection"] = {"collector": "curator", "guarantees": None, "simulated": False}
    assert "A trusted curator held the whole table" in words(written(report, tmp_path))


def test_charts_of_auditors_that_show_the_release_are_shown_once(
    report: dict[str, Any], tmp_path: Path
) -> None:
    page = words(written(report, tmp_path))
    # In the caption, and in the title and label of the picture.
    assert 2 == page.count("Sizes of the classes")
    assert "Sizes of the groups" not in page
    assert "Loss per column" in page


def test_without_such_an_auditor_the_report_itself_is_drawn(
    report: dict[str, Any], tmp_path: Path
) -> None:
    report["audits"] = []
    page = words(written(report, tmp_path))
    assert "Sizes of the groups" in page
    assert "≥ 9" in page


@pytest.mark.parametrize(
    "chart_kind", ["line", "bars", "heat", "scatter", "density", "tree", "table", "pie", None]
)
@pytest.mark.parametrize(
    "data", [{}, {"labels": []}, {"a": {"x": [None], "y": [float("nan")]}}, None]
)
def test_a_chart_without_anything_to_draw_says_so(
    report: dict[str, Any], tmp_path: Path, chart_kind: str | None, data: Any
) -> None:
    chart = {"name": "empty", "kind": chart_kind, "title": "Nothing", "data": data}
    report["audits"] = [{"auditor": "a", "findings": [], "charts": [chart]}]
    assert "There is nothing to draw." in words(written(report, tmp_path))


@pytest.mark.parametrize(
    "lacking", ["summary", "columns", "privacy", "audits", "stages", "collection", "manifest"]
)
def test_a_report_that_lacks_a_part_is_still_a_page(
    report: dict[str, Any], tmp_path: Path, lacking: str
) -> None:
    del report[lacking]
    read(written(report, tmp_path))


def test_the_best_run_of_every_figure_is_marked(grid: dict[str, Any], tmp_path: Path) -> None:
    page = written_grid(grid, tmp_path)
    best = re.findall(r'<td class="num best"[^>]*>([^<]*)', page)
    assert "0.041" in best
    assert "0.0124" in best
    assert "400" not in best, "where all runs are equal none is best"


def test_a_refused_run_shows_why_and_is_never_best(grid: dict[str, Any], tmp_path: Path) -> None:
    page = written_grid(grid, tmp_path)
    assert "the table has 400 rows, k is 500; k: 400 would pass" in words(page)
    row = next(row for row in page.split("<tr>") if "k=500" in row)
    assert "best" not in row


def test_figures_are_drawn_over_the_varied_number_after_risk_against_utility(
    grid: dict[str, Any], tmp_path: Path
) -> None:
    page = written_grid(grid, tmp_path)
    titles = re.findall(r"<figcaption><strong>([^<]*)", page)
    assert [
        "Risk against utility",
        "Loss per column and run",
        "utility.gcp",
        "disclosure.prosecutor_average",
        "utility.cavg",
        "disclosure.k",
        "utility.ncp.age",
        "disclosure.certainty.diagnosis",
    ] == titles


def test_a_figure_that_an_auditor_has_drawn_is_not_drawn_again(
    grid: dict[str, Any], tmp_path: Path
) -> None:
    chart = {
        "name": "gcp",
        "kind": "line",
        "title": "Information loss (GCP)",
        "data": {"a": {"x": [1, 2], "y": [1, 2]}},
    }
    grid["summaries"][0]["charts"] = [chart]
    titles = re.findall(r"<figcaption><strong>([^<]*)", written_grid(grid, tmp_path))
    assert "utility.gcp" not in titles
    assert "Information loss (GCP)" in titles


def test_a_figure_of_the_run_that_an_auditor_measures_is_listed_once(
    grid: dict[str, Any], tmp_path: Path
) -> None:
    heads = re.findall(r'<th scope="col" class="num"[^>]*>([^<]*)', written_grid(grid, tmp_path))
    assert 1 == heads.count("gcp")
    assert 1 == heads.count("rows_out")


def test_many_plots_wait_behind_a_summary(grid: dict[str, Any], tmp_path: Path) -> None:
    for n in range(12):
        grid["figures"].append(
            {"key": f"more.figure_{n}", "better": "lower", "meaning": "m", "unit": "s"}
        )
        for index, run in enumerate(grid["runs"]):
            run["findings"][f"more.figure_{n}"] = index
    page = words(written_grid(grid, tmp_path))
    assert "11 more plots" in page
    assert "figure_11 (s)" in page


def test_labels_of_runs_are_shortened_to_what_was_set(grid: dict[str, Any], tmp_path: Path) -> None:
    label = "privacy.k-anonymity.k=2, stages.partitioner=mondrian"
    grid["runs"][0]["label"] = label
    page = written_grid(grid, tmp_path)
    assert f'title="{label}">k=2, partitioner=mondrian</th>' in page


def test_without_a_varied_number_runs_stand_side_by_side(
    grid: dict[str, Any], tmp_path: Path
) -> None:
    for run in grid["runs"]:
        run["parameters"] = {"stages.partitioner": run["label"]}
    grid["varied"] = ["stages.partitioner"]
    page = written_grid(grid, tmp_path)
    assert 'class="bar s0"' in page


@pytest.mark.parametrize("count", [0, 1])
def test_an_experiment_of_no_or_one_run_is_still_a_page(
    grid: dict[str, Any], tmp_path: Path, count: int
) -> None:
    grid["runs"] = grid["runs"][:count]
    grid["summaries"] = []
    read(written_grid(grid, tmp_path))


def test_a_long_text_is_shown_below_its_meaning(report: dict[str, Any], tmp_path: Path) -> None:
    finding = report["audits"][1]["findings"][0]
    finding["value"] = "columns: age, sex; blocks: age by 10; similarity: cosine"
    assert '<div class="finding long">' in written(report, tmp_path)


def test_tables_of_auditors_stand_with_what_they_say_of_the_whole(
    grid: dict[str, Any], tmp_path: Path
) -> None:
    table = {"columns": ["claim", "verdict"], "rows": [["Falls.", "reproduced"]]}
    chart = {"name": "claims", "kind": "table", "title": "Claims", "meaning": "All.", "data": table}
    grid["summaries"].append({"auditor": "cvpl", "findings": [], "charts": [chart]})
    page = written_grid(grid, tmp_path)
    section = page.partition("What the auditors say of the whole")[2].partition("<h2>")[0]
    assert "<strong>Claims</strong>" in section
    assert 1 == page.count("<strong>Claims</strong>")


def test_cases_are_named_by_their_name_alone(grid: dict[str, Any], tmp_path: Path) -> None:
    for run in grid["runs"]:
        method = run["parameters"].pop("stages.partitioner")
        run["parameters"] |= {"case": f"with {method}", "stages": [{"partitioner": method}]}
    page = written_grid(grid, tmp_path)
    legend = re.findall(r'<ul class="legend">(.*?)</ul>', page)[-1]
    assert ["with mondrian", "with vp-tree"] == re.findall(r"<span>(.*?)</span>", legend)


def test_many_lines_become_a_heat_map(grid: dict[str, Any], tmp_path: Path) -> None:
    more = []
    for number in range(10):
        for run in grid["runs"][:4]:
            changed = {**run["parameters"], "stages.partitioner": f"method-{number}"}
            more.append({**run, "parameters": changed, "label": f"{run['label']} {number}"})
    page = written_grid({**grid, "runs": more}, tmp_path)
    figure = page.partition("<strong>disclosure.prosecutor_average</strong>")[2]
    assert "partitioner by privacy.k-anonymity.k" in figure.partition("</figure>")[0]


def _crossed(cases, values):
    return [
        {
            "label": f"{case}, p.q={value}",
            "parameters": {"case": case, "p.q": value, **({"x.y": 1} if case == "a" else {})},
            "status": "published",
            "findings": {"one.cost": len(case) + index},
        }
        for case in cases
        for index, value in enumerate(values)
    ]


def test_cases_that_are_crossed_with_one_setting_are_drawn_case_by_case():
    cost = {"key": "one.cost", "better": "lower", "meaning": "m", "unit": ""}
    report = {
        "varied": ["case", "p.q", "x.y"],
        "figures": [cost],
        "runs": _crossed(["a", "bb"], ["u", "v"]),
    }
    (plot,) = grid_view(report, Limits())["plots"]
    assert {"labels": ["a", "bb"], "u": [1, 2], "v": [2, 3]} == plot["data"]
    report["runs"] = report["runs"][:-1]
    (plot,) = grid_view(report, Limits())["plots"]
    assert [run["label"] for run in report["runs"]] == plot["data"]["labels"]


def test_chapters_of_an_experiment_come_first_and_need_no_runs(
    grid: dict[str, Any], tmp_path: Path
) -> None:
    table = {"columns": ["claim", "verdict"], "rows": [["Falls.", "does not hold"]]}
    chart = {"name": "claims", "kind": "table", "title": "Claims", "meaning": "All.", "data": table}
    grid["chapters"] = [{"title": "Figure <6>", "meaning": "What k costs.", "charts": [chart]}]
    page = written_grid(grid, tmp_path)
    chapter = page.partition("<h2>Figure &lt;6&gt;</h2>")[2].partition("<h2>At a glance</h2>")[0]
    assert '<p class="lead">What k costs.</p>' in chapter
    assert '<span class="badge bad">does not hold</span>' in chapter

    grid |= {"runs": [], "summaries": [], "figures": [], "varied": []}
    alone = words(written_grid(grid, tmp_path))
    assert "What k costs." in alone
    assert "All runs" not in alone


def test_a_loss_that_is_not_measured_is_not_shown_as_0(
    report: dict[str, Any], tmp_path: Path
) -> None:
    """Values that were changed are as narrow as the originals: their GCP would be 0 %."""
    changed = report | {"truthful": False, "summary": report["summary"] | {"gcp": None}}
    page = words(written(changed, tmp_path))
    assert "Information lost not measured values were changed (no GCP)" in page


def test_key_findings_lead_the_page_and_the_others_are_folded(
    report: dict[str, Any], tmp_path: Path
) -> None:
    first, *others = report["audits"][0]["findings"]
    first["key"] = True
    page = written(report, tmp_path)
    lead = page.partition("<h2>Key findings</h2>")[2].partition("<h2>")[0]
    assert f"<code>{first['name']}</code>" in lead
    assert 1 == page.count(f"<code>{first['name']}</code>")
    assert page.index("Key findings") < page.index("What was done")
    folded = page.partition("Everything that was found")[2].partition("</details>\n\n")[0]
    assert f"{len(others)} more figures</summary>" in folded
    for other in others:
        assert other["name"] in page.partition('<details class="rest">')[2]


def test_without_key_findings_nothing_is_folded(report: dict[str, Any], tmp_path: Path) -> None:
    page = written(report, tmp_path)
    assert "Key findings" not in page
    assert '<details class="rest">' not in page
