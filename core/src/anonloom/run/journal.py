"""The record of one run: stages announced to observers, timed, and their findings kept."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import attrs

from anonloom.data.findings import Findings
from anonloom.data.unit import Unit, worded, worded_findings
from anonloom.kinds.context import Run
from anonloom.params import as_values
from anonloom.registry import Registry

if TYPE_CHECKING:
    from anonloom.loading import Entry
    from anonloom.observers import Observers


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


@attrs.define(eq=False)
class Journal:
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
    seed: int
    workers: int = 1
    scratch: Path | None = None
    unit: Unit = "person"
    observers: "Observers" = attrs.field()
    seconds: dict[str, float] = attrs.field(factory=dict)
    findings: dict[str, Findings] = attrs.field(factory=dict)

    @observers.default
    def _observers(self) -> "Observers":
        return self.registry.observers

    def parameters(self, method: Any, *, redact: bool = True) -> dict[str, Any]:
        """Return a method's parameters as plain values, private ones redacted."""
        return as_values(method, self.registry.name_of, redact=redact)

    def aside(self, seed: int) -> "Journal":
        """Return a journal of the same run that tells nobody and leaves nothing in this one."""
        nobody = Registry.empty().observers
        return attrs.evolve(self, seed=seed, observers=nobody, seconds={}, findings={})

    @contextmanager
    def stage(self, step: Step) -> Iterator[tuple[Run, Count]]:
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
            said = worded(text, self.unit)
            observers.stage_noted(run_id=self.run_id, stage=step.id, text=said)

        run = Run(
            stage=step.id,
            seed=self.seed,
            workers=self.workers,
            scratch=self.scratch,
            report=report,
            say=say,
        )
        count = Count()
        start = time.perf_counter()
        yield run, count
        self.seconds[step.id] = time.perf_counter() - start
        self.findings[step.id] = worded_findings(Findings.of(run.found), self.unit)
        observers.stage_finished(
            run_id=self.run_id,
            stage=step.id,
            seconds=self.seconds[step.id],
            rows=count.rows,
            classes=count.classes,
            suppressed=count.suppressed,
        )
