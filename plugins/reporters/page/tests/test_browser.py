"""The page in a real browser: it renders, is quiet, fits a phone, sorts, and has a dark side."""

import html
import re
import shutil
import struct
import subprocess
from pathlib import Path
from typing import Any

import pytest

from anonloom_page.reporter import Page
from anonloom_testing.reports import audit_report

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
BROWSER = next((path for name in NAMES if (path := shutil.which(name))), None)

pytestmark = pytest.mark.skipif(
    BROWSER is None, reason=f"no Chromium was found ({', '.join(NAMES)} are not on the path)"
)

PHONE = 390
PAGES = ("report", "grid", "audits", "single")

#: Browsers that are started for a page, and seconds that each of them has.
ATTEMPTS = 4
PATIENCE = 45


def browse(page: Path, *options: str) -> "subprocess.CompletedProcess[str]":
    """Open a page in a browser that has never been used before."""
    assert BROWSER is not None
    fresh = page.parent / "profile"
    command = [
        BROWSER,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--disable-dev-shm-usage",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--hide-scrollbars",
        "--enable-logging=stderr",
        f"--user-data-dir={fresh}",
        *options,
        page.as_uri(),
    ]
    for attempt in range(1, ATTEMPTS + 1):
        # A headless browser on a busy machine now and then never comes up; that says nothing of
        # the page, so a new one is started. What it shows is judged all the same.
        try:
            return subprocess.run(
                command, capture_output=True, text=True, timeout=PATIENCE, check=True
            )
        except (subprocess.TimeoutExpired, subprocess.CalledProcessError):
            if attempt == ATTEMPTS:
                raise
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
    raise AssertionError("the last attempt returns or raises")


def complaints(done: "subprocess.CompletedProcess[str]") -> list[str]:
    """What the page wrote to the console; a breach of its own policy would be there."""
    return [line for line in done.stderr.splitlines() if "CONSOLE" in line]


def measured(folder: Path, page: Path, script: str, *options: str, width: int = 1100) -> str:
    """Show the page in a frame of some width, and return what a script outside finds in it."""
    frame = folder / "frame.html"
    frame.write_text(
        f'<!doctype html><body style="margin:0"><iframe id="page" style="width:{width}px;'
        f'height:900px;border:0" srcdoc="{html.escape(page.read_text(encoding="utf-8"))}"></iframe>'
        "<script>addEventListener('load', function () {"
        "var doc = document.getElementById('page').contentDocument, say = document.createElement('p');"
        f"say.id = 'said'; say.textContent = (function (doc) {{ {script} }})(doc);"
        "document.body.appendChild(say); });</script></body>",
        encoding="utf-8",
    )
    done = browse(frame, "--dump-dom", *options)
    assert [] == complaints(done)
    message = re.search(r'<p id="said">(.*?)</p>', done.stdout, re.S)
    assert message is not None
    return html.unescape(message[1])


def stress(report: dict[str, Any]) -> dict[str, Any]:
    """Names without a place to break, which push pages wide."""
    report["columns"][0]["name"] = "a_column_name_without_any_place_to_break_" * 3
    report["audits"][0]["findings"][0]["name"] = "figure_without_any_place_to_break_" * 4
    report["stages"][0]["parameters"]["path"] = "x" * 300
    report["name"] = "release_" * 20
    return report


@pytest.fixture
def pages(report: dict[str, Any], grid: dict[str, Any], tmp_path: Path) -> dict[str, Path]:
    for name in ("audits", "single"):
        (tmp_path / name).mkdir()
    Page().write(report, tmp_path)
    Page().write_grid(grid, tmp_path)
    audits = audit_report()
    Page().write_audit(audits, tmp_path / "audits")
    Page().write_audit(audits | {"releases": audits["releases"][:1]}, tmp_path / "single")
    return {
        "report": tmp_path / "report.html",
        "grid": tmp_path / "grid.html",
        "audits": tmp_path / "audits" / "report.html",
        "single": tmp_path / "single" / "report.html",
    }


@pytest.mark.parametrize("name", PAGES)
def test_the_page_renders_and_the_console_stays_empty(pages: dict[str, Path], name: str) -> None:
    picture = pages[name].with_suffix(".png")
    done = browse(pages[name], "--window-size=1100,1600", f"--screenshot={picture}")
    assert [] == complaints(done)
    data = picture.read_bytes()
    assert b"\x89PNG" == data[:4]
    assert (1100, 1600) == struct.unpack(">II", data[16:24])
    # An empty page of this size compresses to a few kilobytes.
    assert len(data) > 40_000


@pytest.mark.parametrize("name", PAGES)
def test_nothing_is_wider_than_a_phone(pages: dict[str, Path], name: str, tmp_path: Path) -> None:
    script = "return doc.documentElement.scrollWidth;"
    assert str(PHONE) == measured(tmp_path, pages[name], script, width=PHONE)


def test_names_without_a_break_do_not_widen_the_page(
    report: dict[str, Any], tmp_path: Path
) -> None:
    Page().write(stress(report), tmp_path)
    script = "return doc.documentElement.scrollWidth;"
    assert str(PHONE) == measured(tmp_path, tmp_path / "report.html", script, width=PHONE)


def test_the_first_screen_of_a_phone_has_answer_people_and_advice(
    pages: dict[str, Path], tmp_path: Path
) -> None:
    script = (
        "return Array.prototype.map.call(doc.querySelectorAll('.answer .sentence, .duo h3'),"
        "function (part) { return part.getBoundingClientRect().bottom < 844; }).join(' ');"
    )
    assert "true true true" == measured(tmp_path, pages["single"], script, width=PHONE)


def test_texts_of_charts_stay_inside_their_pictures(pages: dict[str, Path], tmp_path: Path) -> None:
    script = (
        "var out = [];"
        "doc.querySelectorAll('figure svg[role=img]').forEach(function (svg) {"
        "var box = svg.getBoundingClientRect();"
        "svg.querySelectorAll('text').forEach(function (text) {"
        "var r = text.getBoundingClientRect();"
        "if (r.left < box.left - 2 || r.right > box.right + 2 || r.top < box.top - 2 ||"
        " r.bottom > box.bottom + 2) out.push(text.textContent); }); });"
        "return out.join('|');"
    )
    for page in pages.values():
        assert "" == measured(tmp_path, page, script)


def test_light_and_dark_follow_the_reader(pages: dict[str, Path], tmp_path: Path) -> None:
    script = "return getComputedStyle(doc.body).backgroundColor;"
    assert "rgb(246, 247, 249)" == measured(tmp_path, pages["report"], script)
    dark = measured(tmp_path, pages["report"], script, "--blink-settings=preferredColorScheme=0")
    assert "rgb(17, 22, 28)" == dark


def test_the_comparison_can_be_sorted_by_any_column(pages: dict[str, Path], tmp_path: Path) -> None:
    script = (
        "var table = doc.getElementById('compare'), heads = table.tHead.rows[1].cells, out = [];"
        "var at = Array.prototype.findIndex.call(heads, function (h) {"
        " return h.textContent.trim() === 'privacy.k-anonymity.k'; });"
        "var read = function () { return Array.prototype.map.call(table.tBodies[0].rows,"
        " function (r) { return r.cells[at].textContent; }).join(' '); };"
        "heads[at].querySelector('button').click(); out.push(read());"
        "heads[at].querySelector('button').click(); out.push(read());"
        "return out.join('|');"
    )
    up, down = measured(tmp_path, pages["grid"], script).split("|")
    assert "2 2 5 5 10 10 20 20 50 50 500" == up
    assert "500 50 50 20 20 10 10 5 5 2 2" == down


def test_the_reader_chooses_which_risk_is_shown_against_which_utility(
    grid: dict[str, Any], tmp_path: Path
) -> None:
    for run in grid["runs"]:
        if run["findings"]:
            run["findings"]["disclosure.marketer"] = run["findings"]["utility.gcp"] / 3
    meaning = "Share that is linked."
    figure = {"key": "disclosure.marketer", "better": "lower", "meaning": meaning, "unit": ""}
    grid["figures"].append({**figure, "measures": "risk"})
    Page().write_grid(grid, tmp_path)
    script = (
        "var box = doc.getElementById('pairs'), select = box.querySelector('select');"
        "var seen = function () { return Array.prototype.filter.call("
        " box.querySelectorAll('[data-y]'), function (part) { return part.offsetHeight > 0; })"
        " .map(function (part) { return part.getAttribute('data-y'); }).join(' '); };"
        "var before = seen(); select.value = 'disclosure.marketer';"
        "select.dispatchEvent(new Event('change')); return before + '|' + seen();"
    )
    assert "disclosure.prosecutor_average|disclosure.marketer" == measured(
        tmp_path, tmp_path / "grid.html", script
    )


def test_the_comparison_is_complete_without_a_script(grid: dict[str, Any], tmp_path: Path) -> None:
    Page().write_grid(grid, tmp_path)
    page = tmp_path / "grid.html"
    text = page.read_text(encoding="utf-8")
    page.write_text(re.sub(r"<script>.*?</script>", "", text, flags=re.S), encoding="utf-8")
    script = "return doc.querySelectorAll('#compare tbody tr').length;"
    assert str(len(grid["runs"])) == measured(tmp_path, page, script)
