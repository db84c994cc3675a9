"""The record of one run: stages announced to observers, timed, and their findings kept."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import attrs

from anonloom import Findings, Registry, Release, StageContext, short_repr
from anonloom.params import as_values
from anonloom.spec import Unit
from anonloom_runner.unit import findings_for_unit, wording_for

if TYPE_CHECKING:
    from anonloom.registry import Entry, Observers

__all__ = [
    "StageLog",
]


class Step(Protocol):
    """A method at its place in a pipeline."""

    @property
    def id(self) -> str:
        """The stage's id."""

    @property
    def entry(self) -> "Entry":
        """What the registry knows of the method."""

    @property
    def method(self) -> Any:
        """The method with its parameters."""


@attrs.define
class Count:
    """What a stage leaves, filled in by whoever runs it."""

    rows: int = 0
    classes: int | None = None
    suppressed: int = 0


@short_repr
@attrs.define(eq=False)
class StageLog:
    """Announces stages and remembers what they took and found.

    Attributes
    ----------
    observers
        Who is told; by default all whom the registry knows.
    unit
        What is counted: whatever methods say is said of that.
    """

    registry: Registry
    run_id: str
    seed: int = attrs.field(repr=False)
    workers: int = 1
    scratch: Path | None = None
    unit: Unit = "person"
    observers: "Observers" = attrs.field()
    seconds: dict[str, float] = attrs.field(factory=dict)
    findings: dict[str, Findings] = attrs.field(factory=dict)
    later: dict[str, list[Any]] = attrs.field(factory=dict)

    @observers.default
    def _observers(self) -> "Observers":
        return self.registry.observers

    def parameters(self, method: Any, *, redact: bool = True) -> dict[str, Any]:
        """Return a method's parameters as plain values, private ones redacted."""
        return as_values(method, self.registry.name_of, redact=redact)

    def aside(self, seed: int) -> "StageLog":
        """Return a journal of the same run that tells nobody and leaves nothing in this one."""
        nobody = Registry.empty().observers
        return attrs.evolve(self, seed=seed, observers=nobody, seconds={}, findings={}, later={})

    def conclude(self, release: Release) -> None:
        """Let stages add what they can say only now that the release is known."""
        for stage, makers in self.later.items():
            # A frame of its own: what a stage notes down in it must not be published.
            shown = attrs.evolve(release, frame=release.frame.copy(deep=False))
            made = [make(shown) for make in makers]
            self.findings[stage] = Findings.of(self.findings[stage], *made)

    @contextmanager
    def stage(self, step: Step) -> Iterator[tuple[StageContext, Count]]:
        """Announce a stage, time it, and keep what it found."""
        observers = self.observers
        observers.stage_started(
            run_id=self.run_id,
            stage=step.id,
            kind=step.entry.kind,
            method=step.entry.name,
            parameters=self.parameters(step.method),
        )

        def report(done: int, total: int | None) -> None:
            observers.stage_progress(run_id=self.run_id, stage=step.id, done=done, total=total)

        def say(text: str) -> None:
            message = wording_for(text, self.unit)
            observers.stage_noted(run_id=self.run_id, stage=step.id, text=message)

        context = StageContext(
            stage=step.id,
            seed=self.seed,
            workers=self.workers,
            scratch=self.scratch,
            report=report,
            say=say,
            watched=observers.hears("anonloom_stage_progress"),
        )
        count = Count()
        start = time.perf_counter()
        yield context, count
        self.seconds[step.id] = time.perf_counter() - start
        self.findings[step.id] = findings_for_unit(Findings.of(context.found), self.unit)
        self.later[step.id] = context.later
        observers.stage_finished(
            run_id=self.run_id,
            stage=step.id,
            seconds=self.seconds[step.id],
            rows=count.rows,
            classes=count.classes,
            suppressed=count.suppressed,
        )
