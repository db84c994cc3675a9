"""The check that nothing a method says holds a cell: findings, charts, notes, errors, logs, reprs.

A report is public, a terminal is seen by others, a log is kept for years. A cell that neither the
release nor the pipeline file shows must come out nowhere, in no notation. Methods run on
tables of `anonloom_testing.canaries`, in scenarios that go well and in scenarios that fail.
"""

import json
from collections.abc import Iterator

import attrs

from anonloom import Chart, Finding, Findings, Release
from anonloom.findings import Notice
from anonloom_runner.reporting import chart_data, finding_data
from anonloom_testing.canaries import CANARIES, SEED
from anonloom_testing.cell_detector import CellDetector
from anonloom_testing.conformance import Check, refuse_problems
from anonloom_testing.observation import Observation
from anonloom_testing.purity import MethodConformance, ScenarioResult
from anonloom_testing.results import NotApplicable

#: How long the representation of an object may be; longer ones fill a log or a notebook.
LONGEST_REPR = 1000


def check_says_no_cell(subject: MethodConformance) -> None:
    """Nothing that the method says holds a cell of the table that is not published."""
    results = subject.scenario_results(CANARIES)
    if not results:
        raise NotApplicable("the method sees no table but its own")
    refuse_problems(
        (
            f"{item.scenario.name}: {where}: {sighting}"
            for item in results
            for where, sighting in find_leaks(subject, item)
        ),
        "the method tells cells that are not published",
    )


def check_representations_are_short(subject: MethodConformance) -> None:
    """What the method and its result show of themselves is short."""
    problems = [
        f"{item.scenario.name}: {type(shown).__name__}: {len(repr(shown))} characters"
        for item in subject.scenario_results(CANARIES)
        for shown in _objects(subject, item)
        if len(repr(shown)) > LONGEST_REPR
    ]
    refuse_problems(problems, f"the representation has more than {LONGEST_REPR} characters")


def find_leaks(subject: MethodConformance, outcome: ScenarioResult) -> Iterator[tuple[str, str]]:
    """Yield where a method told a cell, and which, in one scenario."""
    sample = outcome.scenario.leak_sample
    assert sample is not None, "a scenario without a table to listen for"
    release = subject.release_of(outcome)
    detector = CellDetector.of(sample.rows, sample.schema)
    if release is not None:
        detector = detector.allow_published(str(release.frame.to_csv(index=False)))
    for where, text in output_texts(subject, outcome, release):
        yield from ((where, str(result)) for result in detector.sightings(text))
        if str(SEED).encode() in (text if isinstance(text, bytes) else text.encode()):
            yield where, "the seed"


def output_texts(
    subject: MethodConformance, outcome: ScenarioResult, release: Release | None
) -> Iterator[tuple[str, str | bytes]]:
    """Yield everything that was said in a scenario: what sort of thing, and the text."""
    seen = outcome.seen
    yield "terminal", seen.printed
    yield "log", seen.logged
    for note in seen.notes:
        yield "note", note
    if seen.error is not None:
        yield "error", "\n".join([str(seen.error), *getattr(seen.error, "__notes__", ())])
    for item in _findings(seen, release).items:
        if isinstance(item, Finding):
            yield f"finding {item.name}", _to_json(finding_data(item))
        elif isinstance(item, Chart):
            yield f"chart {item.name}", _to_json(chart_data(item))
        elif isinstance(item, Notice):
            yield "warning", item.text
        else:
            # The rows themselves are private; that there are some, and why, is not.
            yield f"private rows {item.name}", f"{item.name} {item.meaning}"
    for shown in _objects(subject, outcome):
        yield f"repr of {type(shown).__name__}", repr(shown)
    yield from subject.extra_outputs(outcome)


def _objects(subject: MethodConformance, outcome: ScenarioResult) -> Iterator[object]:
    """Yield the method, what it was given to speak with, and what it returned.

    What is no class of attrs, such as an array or a frame, is shown by whoever made it.
    """
    result = outcome.seen.result
    returned = result if isinstance(result, tuple) else (result,)
    yield from (
        shown
        for shown in (subject.build_method(), outcome.seen.run, *returned)
        if attrs.has(type(shown))
    )


def _findings(seen: Observation, release: Release | None) -> Findings:
    """Return what was found on the way, in the result, and when the release was known."""
    result = seen.result if isinstance(seen.result, Findings) else ()
    if seen.run is None:
        return Findings.of(result)
    later = [] if release is None else [make(release) for make in seen.run.later]
    return Findings.of(seen.run.found, result, *later)


def _to_json(data: object) -> str:
    return json.dumps(data, default=str, ensure_ascii=False)


#: Checks of everything that can say something.
LEAK_CHECKS: tuple[Check, ...] = (check_says_no_cell, check_representations_are_short)
