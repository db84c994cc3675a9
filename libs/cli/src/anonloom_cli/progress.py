"""Progress on standard error: a bar on a terminal, plain lines elsewhere."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from anonloom import Registry
from anonloom.api import hookimpl

__all__ = [
    "show_progress",
]


class Lines:
    """One line per finished stage, for logs and pipes."""

    @hookimpl
    def anonloom_stage_noted(self, stage: str, text: str) -> None:
        """Pass on what a stage says."""
        print(f"{stage}: {text}", file=sys.stderr, flush=True)

    @hookimpl
    def anonloom_stage_finished(
        self, stage: str, seconds: float, rows: int, classes: int | None, suppressed: int
    ) -> None:
        """Say what a stage left."""
        parts = [f"{rows} rows"]
        if classes is not None:
            parts.append(f"{classes} classes")
        if suppressed:
            parts.append(f"{suppressed} suppressed")
        print(f"{stage}: {', '.join(parts)} ({seconds:.1f} s)", file=sys.stderr, flush=True)


class Bar:
    """A bar over the stages, with the progress inside the current one."""

    def __init__(self) -> None:
        # Imported here: commands that show no progress need no rich.
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[note]}"),
            TimeElapsedColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._tasks: dict[tuple[str, str], Any] = {}

    @hookimpl
    def anonloom_run_started(self, run_id: str) -> None:
        """Show the bar."""
        self._progress.start()

    @hookimpl
    def anonloom_stage_started(self, run_id: str, stage: str, method: str) -> None:
        """Add the stage."""
        task = self._progress.add_task(f"{stage} ({method})", total=None, note="")
        self._tasks[run_id, stage] = task

    @hookimpl
    def anonloom_stage_progress(
        self, run_id: str, stage: str, done: int, total: int | None
    ) -> None:
        """Move the bar."""
        self._progress.update(self._tasks[run_id, stage], completed=done, total=total)

    @hookimpl
    def anonloom_stage_noted(self, run_id: str, stage: str, text: str) -> None:
        """Write it beside the bar."""
        self._progress.update(self._tasks[run_id, stage], note=text)

    @hookimpl
    def anonloom_stage_finished(self, run_id: str, stage: str, rows: int) -> None:
        """Fill the bar."""
        task = self._tasks[run_id, stage]
        self._progress.update(task, completed=1, total=1, note=f"{rows} rows")

    @hookimpl
    def anonloom_run_finished(self, run_id: str) -> None:
        """Take the bar away."""
        self._progress.stop()


def observer() -> Lines | Bar:
    """Return what suits standard error."""
    return Bar() if sys.stderr.isatty() else Lines()


@contextmanager
def show_progress(registry: Registry, quiet: bool) -> Iterator[None]:
    """Show the progress of one command: a process may run several, each asked anew."""
    if quiet:
        yield
        return
    watching = observer()
    registry.observers.add(watching)
    try:
        yield
    finally:
        registry.observers.remove(watching)
