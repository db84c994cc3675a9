"""The check that nothing a method says holds a cell: findings, charts, notes, errors, logs, reprs.

A report is public, a terminal is seen by others, a log is kept for years. A cell that neither the
release nor the pipeline file shows must come out nowhere, in no notation. Methods are overheard on
tables of `anonloom_testing.canaries`, in scenes that go well and in scenes that fail.
"""

import json
from collections.abc import Iterator

import attrs

from anonloom import Chart, Finding, Findings, Release
from anonloom.findings import Notice
from anonloom.runtime import chart_data, finding_data
from anonloom_testing.canaries import CANARIES, SEED
from anonloom_testing.cell_detector import CellDetector
from anonloom_testing.conformance import Check, refuse_problems
from anonloom_testing.observation import Observed
from anonloom_testing.purity import Acting, Played
from anonloom_testing.results import NotApplicable

#: How long the representation of an object may be; longer ones fill a log or a notebook.
LONGEST_REPR = 1000


def check_says_no_cell(subject: Acting) -> None:
    """Nothing that the method says holds a cell of the table that is not published."""
    scenes = subject.played(CANARIES)
    if not scenes:
        raise NotApplicable("the method sees no table but its own")
    refuse_problems(
        (
            f"{scene.scene.name}: {where}: {sighting}"
            for scene in scenes
            for where, sighting in sightings(subject, scene)
        ),
        "the method tells cells that are not published",
    )


def check_representations_are_short(subject: Acting) -> None:
    """What the method and its result show of themselves is short."""
    problems = [
        f"{item.scene.name}: {type(shown).__name__}: {len(repr(shown))} characters"
        for item in subject.played(CANARIES)
        for shown in _objects(subject, item)
        if len(repr(shown)) > LONGEST_REPR
    ]
    refuse_problems(problems, f"the representation has more than {LONGEST_REPR} characters")


def sightings(subject: Acting, one: Played) -> Iterator[tuple[str, str]]:
    """Yield where a method told a cell, and which, in one scene."""
    sample = one.scene.overheard
    assert sample is not None, "a scene without a table to listen for"
    release = subject.release_of(one)
    detector = CellDetector.of(sample.rows, sample.schema)
    if release is not None:
        detector = detector.excusing(str(release.frame.to_csv(index=False)))
    for where, text in told(subject, one, release):
        yield from ((where, str(result)) for result in detector.sightings(text))
        if str(SEED).encode() in (text if isinstance(text, bytes) else text.encode()):
            yield where, "the seed"


def told(
    subject: Acting, one: Played, release: Release | None
) -> Iterator[tuple[str, str | bytes]]:
    """Yield everything that was said in a scene: what sort of thing, and the text."""
    seen = one.seen
    yield "terminal", seen.printed
    yield "log", seen.logged
    for note in seen.notes:
        yield "note", note
    if seen.error is not None:
        yield "error", "\n".join([str(seen.error), *getattr(seen.error, "__notes__", ())])
    for item in _findings(seen, release).items:
        if isinstance(item, Finding):
            yield f"finding {item.name}", _written(finding_data(item))
        elif isinstance(item, Chart):
            yield f"chart {item.name}", _written(chart_data(item))
        elif isinstance(item, Notice):
            yield "warning", item.text
        else:
            # The rows themselves are private; that there are some, and why, is not.
            yield f"private rows {item.name}", f"{item.name} {item.meaning}"
    for shown in _objects(subject, one):
        yield f"repr of {type(shown).__name__}", repr(shown)
    yield from subject.also_told(one)


def _objects(subject: Acting, one: Played) -> Iterator[object]:
    """Yield the method, what it was given to speak with, and what it returned.

    What is no class of attrs, such as an array or a frame, is shown by whoever made it.
    """
    result = one.seen.result
    returned = result if isinstance(result, tuple) else (result,)
    yield from (
        shown
        for shown in (subject.build_method(), one.seen.run, *returned)
        if attrs.has(type(shown))
    )


def _findings(seen: Observed, release: Release | None) -> Findings:
    """Return what was found on the way, in the result, and when the release was known."""
    result = seen.result if isinstance(seen.result, Findings) else ()
    if seen.run is None:
        return Findings.of(result)
    later = [] if release is None else [make(release) for make in seen.run.later]
    return Findings.of(seen.run.found, result, *later)


def _written(data: object) -> str:
    return json.dumps(data, default=str, ensure_ascii=False)


#: Checks of everything that can say something.
OVERHEARD: tuple[Check, ...] = (check_says_no_cell, check_representations_are_short)
