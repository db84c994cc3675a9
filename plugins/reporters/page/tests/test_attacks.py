"""What attacks say leads the page of an audit, and stands in that of a run."""

from pathlib import Path
from typing import Any

import pytest

from anonloom_page.attack_view import attack_view
from anonloom_page.limits import Limits
from anonloom_page.reporter import Page
from anonloom_page.wording import rounded
from anonloom_testing.reports import MARKUP, attack_blocks, audit_report


def written(report: dict[str, Any], folder: Path) -> str:
    assert ("report.html",) == Page().write_audit(report, folder)
    return (folder / "report.html").read_text(encoding="utf-8")


def single(which: int = 0) -> dict[str, Any]:
    report = audit_report()
    return report | {"releases": [report["releases"][which]]}


def test_the_answer_comes_first_then_who_is_exposed_and_what_would_help(tmp_path: Path) -> None:
    page = written(single(), tmp_path)
    parts = [
        "Do not hand over",
        "Do not hand this over: 61\N{NO-BREAK SPACE}% can be found again.",
        "The release has the identifier &#39;name&#39;",
        "Worst of 3 attacks",
        "Who is exposed?",
        "What would help?",
        "The four questions",
        "What was changed",
        '<h3 class="part">Details',
        "How the answer is given",
    ]
    places = [page.index(part) for part in parts]
    assert sorted(places) == places


@pytest.mark.parametrize(
    ("which", "tone", "word"),
    [
        (0, "bad", "Do not hand over"),
        (1, "warn", "Not yet"),
        (2, "good", "Nothing found against it"),
    ],
)
def test_every_answer_has_its_word_beside_its_colour(
    tmp_path: Path, which: int, tone: str, word: str
) -> None:
    page = written(single(which), tmp_path)
    assert f'class="verdict answer {tone}"' in page
    assert f"<span>{word}</span>" in page


def test_an_answer_that_is_not_known_praises_nothing() -> None:
    blocks = attack_blocks("perhaps", "Perhaps.", 0.0)
    view = attack_view(blocks, Limits())
    assert view is not None
    assert {"name": "warn", "word": "No answer"} == view["tone"]


def test_what_is_not_assessable_shows_no_figure(tmp_path: Path) -> None:
    page = written(single(1), tmp_path)
    assert 'class="big"' not in page
    assert "Nobody knows: no attack says anything." in page
    assert "cvpl.linkage: the attack finds 40% of the people in a copy" in page


def test_who_is_found_only_by_a_guess_is_not_said_to_be_nobody(tmp_path: Path) -> None:
    report = single()
    report["releases"][0]["headline"]["exposed"] = 0
    assert "Nobody for certain, of the 5,000 people attacked" in written(report, tmp_path)
    assert "Nobody beyond chance, of the 5,000 people" in written(single(2), tmp_path)


def test_small_counts_are_left_out(tmp_path: Path) -> None:
    page = written(single(), tmp_path)
    assert '<td>lowest quarter</td><td class="num">1,200</td><td class="num">few</td>' in page


def test_several_releases_are_listed_first_and_the_first_is_open(tmp_path: Path) -> None:
    page = written(audit_report(), tmp_path)
    sentence = "Of 3 releases: do not hand over 1; 1 not yet; nothing found speaks against 1."
    assert page.index(sentence) < page.index("1. <b>noise.csv</b>") < page.index("<details")
    assert 1 == page.count('<details class="release" open>')
    assert 2 == page.count('<details class="release">')


def test_a_release_whose_values_were_changed_has_no_loss_of_0(tmp_path: Path) -> None:
    page = written(single(), tmp_path)
    assert "at least 93\N{NO-BREAK SPACE}%" in page
    assert ">0 %</td>" not in page


def test_what_got_worse_is_shown(tmp_path: Path) -> None:
    page = written(single(), tmp_path)
    assert "1 attack got worse." in page
    assert "Compare with care: the earlier audit had other attacked." in page


def test_findings_that_are_private_are_said_to_be_so(tmp_path: Path) -> None:
    expected = "Its figures may name cells of the release: they are in private/report.json."
    assert 1 == written(single(), tmp_path).count(expected)


def test_texts_of_an_audit_are_not_markup(tmp_path: Path) -> None:
    report = single()
    release = report["releases"][0]
    release["name"] = release["advice"][0] = release["decision"]["sentence"] = MARKUP
    release["decision"]["reasons"] = [MARKUP]
    release["attacks"][0]["meaning"] = release["exposed"]["groups"][0]["column"] = MARKUP
    release["skipped"] = {MARKUP: MARKUP}
    assert MARKUP not in written(report, tmp_path)


def test_the_page_of_a_run_has_the_same_blocks(report: dict[str, Any], tmp_path: Path) -> None:
    blocks = attack_blocks("no", "Do not hand this over: 61 % can be found.", 0.614)
    Page().write(report | blocks | {"truthful": False, "summary": {"gcp": None}}, tmp_path)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert page.index("What attacks find") < page.index("Who is exposed?")
    assert page.index("The four questions") < page.index("What was done")
    assert "<dt>Cells changed</dt><dd>at least 51.5 %" in page


def test_a_run_without_an_attack_says_so(report: dict[str, Any], tmp_path: Path) -> None:
    blocks = attack_blocks("not yet", "Nothing is known.", None)
    blocks["headline"] |= {"tried": 0}
    Page().write(report | blocks, tmp_path)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<b>Not attacked.</b>" in page
    assert "What attacks find" not in page


@pytest.mark.parametrize(
    ("share", "text"),
    [(0, "0 %"), (0.0004, "< 0.1 %"), (0.0449, "4.5 %"), (0.614, "61 %"), (0.9961, "99.6 %"),
     (1, "100 %")],
)  # fmt: skip
def test_estimates_are_written_with_two_digits(share: float, text: str) -> None:
    assert text.replace(" ", "\N{NO-BREAK SPACE}") == rounded(share)
