"""Conformance of reporters: they write where they are told, and what they are told."""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import attrs

from anonloom import StageContext, short_repr
from anonloom_testing import reports
from anonloom_testing.canaries import CANARIES, CANARY_TABLES
from anonloom_testing.cell_leaks import LEAK_CHECKS
from anonloom_testing.conformance import Check, refuse_problems
from anonloom_testing.declaration import DECLARATION_CHECKS
from anonloom_testing.purity import PURITY_CHECKS, MethodConformance, Scenario, ScenarioResult
from anonloom_testing.tables import Sample

# What makes a browser fetch something: a link that a reader may follow is not among it.
_FETCHES = re.compile(
    r"""<(?:script|img|iframe|source|video|audio|embed|input)\b[^>]*\bsrc\s*=\s*["']?\s*(?!data:|\#)[^"'\s>]+
    | <link\b[^>]*\bhref\s*=\s*["']?\s*(?!data:|\#)[^"'\s>]+
    | url\(\s*["']?\s*(?!data:|\#)[^)\s"']+
    | @import\b""",
    re.I | re.X,
)


@short_repr
@attrs.frozen
class ReporterOutput:
    """What a reporter left: the names that it returned, its files, and files elsewhere."""

    names: Any
    files: dict[str, bytes]
    elsewhere: list[str]

    def pages(self) -> dict[str, str]:
        """Return the HTML pages."""
        return {
            name: content.decode("utf-8", "replace")
            for name, content in self.files.items()
            if name.endswith((".html", ".htm", ".svg"))
        }


class ReporterConformance(MethodConformance):
    """Checks of a reporter.

    Examples
    --------
    In ``tests/test_conformance.py``::

        class TestPage(ReporterConformance):
            method = Page
    """

    kind = "reporter"

    def call_method(self, method: Any, inputs: Mapping[str, Any], context: StageContext) -> Any:
        """Write into a folder that has a name of its own in an otherwise empty place."""
        with TemporaryDirectory() as place, chdir(place):
            folder = Path(place) / "public"
            folder.mkdir()
            private = Path(place) / "private"
            private.mkdir()
            for name, content in inputs.get("private", {}).items():
                (private / name).write_text(content, encoding="utf-8")
            report = inputs["report"]
            writing = {"grid": method.write_grid, "audit": method.write_audit}
            names = writing.get(report.get("kind"), method.write)(report, folder)
            files = {
                path.relative_to(folder).as_posix(): path.read_bytes()
                for path in sorted(folder.rglob("*"))
                if path.is_file()
            }
            elsewhere = [
                path.relative_to(place).as_posix()
                for path in sorted(Path(place).rglob("*"))
                if path.is_file() and folder not in path.parents and private not in path.parents
            ]
            return ReporterOutput(names, files, elsewhere)

    def scenarios(self) -> Iterator[Scenario]:
        """Yield a full report, a bare one, an experiment, an audit, and one with markup."""
        yield _scenario("a full report", reports.full_report)
        yield _scenario("a bare report", reports.bare_report)
        yield _scenario("an experiment", reports.grid_report)
        yield _scenario("an audit", reports.audit_report)
        yield _scenario("texts with markup", reports.hostile_report, "markup")
        # The original lies where a run puts what is private: beside the folder.
        for make in CANARY_TABLES:
            sample, name = make(), make.__name__
            yield _scenario(f"{name}, a full report", reports.full_report, CANARIES, sample)
            yield _scenario(f"{name}, an experiment", reports.grid_report, CANARIES, sample)
            yield _scenario(f"{name}, an audit", reports.audit_report, CANARIES, sample)
        yield _scenario("a report that is none", dict, CANARIES, sample)

    def extra_outputs(self, outcome: ScenarioResult) -> Iterator[tuple[str, str | bytes]]:
        """Yield the files."""
        if isinstance(outcome.seen.result, ReporterOutput):
            yield from outcome.seen.result.files.items()


def _scenario(
    name: str,
    make: Callable[[], dict[str, Any]],
    special: str = "",
    sample: Sample | None = None,
) -> Scenario:
    private = {} if sample is None else {"original.csv": sample.frame.to_csv(index=False)}
    return Scenario(
        name,
        lambda: {"report": make(), **({"private": private} if private else {})},
        special=special,
        may_raise=make is dict,
        leak_sample=sample,
    )


def check_names_what_it_wrote(subject: ReporterConformance) -> None:
    """The returned names are those of the files in the folder."""
    refuse_problems(
        (
            f"{item.scenario.name}: returned {item.seen.result.names!r}, wrote {list(files)}"
            for item in subject.successes()
            if not isinstance(item.seen.result.names, tuple)
            or sorted(item.seen.result.names) != sorted(files := item.seen.result.files)
        ),
        "the names are not those of the files",
    )


def check_writes_only_into_its_folder(subject: ReporterConformance) -> None:
    """Nothing is written beside the folder."""
    refuse_problems(
        (
            f"{item.scenario.name}: {item.seen.result.elsewhere}"
            for item in subject.successes()
            if item.seen.result.elsewhere
        ),
        "files were written elsewhere",
    )


def check_pages_fetch_nothing(subject: ReporterConformance) -> None:
    """A page needs no other file and no network to be shown."""
    refuse_problems(
        (
            f"{item.scenario.name}: {page}: {match[0][:80]!r}"
            for item in subject.successes()
            for page, text in item.seen.result.pages().items()
            if (match := _FETCHES.search(text))
        ),
        "a page refers to something outside itself",
    )


def check_texts_are_not_markup(subject: ReporterConformance) -> None:
    """A text of the report that looks like markup is shown, not obeyed."""
    refuse_problems(
        (
            page
            for item in subject.successes("markup")
            for page, text in item.seen.result.pages().items()
            if reports.MARKUP in text
        ),
        "a text of the report reaches the page as markup",
    )


_CHECKS: tuple[Check, ...] = (
    check_names_what_it_wrote,
    check_writes_only_into_its_folder,
    check_pages_fetch_nothing,
    check_texts_are_not_markup,
)
ReporterConformance.checks = (*DECLARATION_CHECKS, *PURITY_CHECKS, *LEAK_CHECKS, *_CHECKS)
