"""Telling plugins what happens during a run: a typed front for the observation hooks.

Every implementation is called on its own. What one of them raises, ``SystemExit`` and the like
included, reaches neither the run nor the other observers; an observer that fails is named once, as
a warning. Only an interruption by the user passes.
"""

from typing import TYPE_CHECKING

from anonloom._registry.boundary import Border
from anonloom._registry.hooks import Hooks
from anonloom._registry.loading import error_line

if TYPE_CHECKING:
    import pluggy


class Observers:
    """The observers of a registry.

    Parameters
    ----------
    hooks : Hooks
        Holds the implementations.
    """

    def __init__(self, hooks: Hooks) -> None:
        self._hooks = hooks
        self._warned: set[str] = set()

    def add(self, observer: object) -> None:
        """Tell `observer`, an object with marked hook methods, what happens from now on."""
        self._hooks.manager.register(observer)

    def remove(self, observer: object) -> None:
        """Stop telling `observer`."""
        self._warned.discard(str(self._hooks.manager.get_name(observer)))
        self._hooks.manager.unregister(observer)

    def hears(self, hook: str) -> bool:
        """Whether anybody listens to a hook: what is told to nobody need not be computed."""
        return bool(self._implementations(hook))

    def run_started(self, *, run_id: str, pipeline: str, stages: tuple[str, ...]) -> None:
        """Say that a run begins."""
        self._tell("anonloom_run_started", run_id=run_id, pipeline=pipeline, stages=stages)

    def stage_started(
        self, *, run_id: str, stage: str, kind: str, method: str, parameters: dict[str, object]
    ) -> None:
        """Say that a stage begins."""
        self._tell(
            "anonloom_stage_started",
            run_id=run_id,
            stage=stage,
            kind=kind,
            method=method,
            parameters=parameters,
        )

    def stage_progress(self, *, run_id: str, stage: str, done: int, total: int | None) -> None:
        """Say how far a stage is."""
        self._tell("anonloom_stage_progress", run_id=run_id, stage=stage, done=done, total=total)

    def stage_noted(self, *, run_id: str, stage: str, text: str) -> None:
        """Say what a stage says of itself."""
        self._tell("anonloom_stage_noted", run_id=run_id, stage=stage, text=text)

    def stage_finished(
        self,
        *,
        run_id: str,
        stage: str,
        seconds: float,
        rows: int,
        classes: int | None,
        suppressed: int,
    ) -> None:
        """Say that a stage is done."""
        self._tell(
            "anonloom_stage_finished",
            run_id=run_id,
            stage=stage,
            seconds=seconds,
            rows=rows,
            classes=classes,
            suppressed=suppressed,
        )

    def release_checked(
        self, *, run_id: str, model: str, holds: bool, classes: int, rows: int
    ) -> None:
        """Say what the independent check found for one model."""
        self._tell(
            "anonloom_release_checked",
            run_id=run_id,
            model=model,
            holds=holds,
            classes=classes,
            rows=rows,
        )

    def run_finished(self, *, run_id: str, status: str, seconds: float) -> None:
        """Say that a run is over."""
        self._tell("anonloom_run_finished", run_id=run_id, status=status, seconds=seconds)

    def _tell(self, hook: str, **news: object) -> None:
        for implementation in self._implementations(hook):
            try:
                with Border(hook):
                    implementation.function(*(news[name] for name in implementation.argnames))
            except Exception as error:
                self._warn(implementation, hook, error)

    def _implementations(self, hook: str) -> "list[pluggy.HookImpl]":
        if not self._hooks.observed:
            return []
        caller: pluggy.HookCaller = getattr(self._hooks.manager.hook, hook)
        return caller.get_hookimpls()

    def _warn(self, implementation: "pluggy.HookImpl", hook: str, error: Exception) -> None:
        name = implementation.plugin_name
        if name in self._warned:
            return
        self._warned.add(name)
        # Imported late: `anonloom plugins` has a registry and nothing to log.
        import logging

        logging.getLogger("anonloom").warning(
            "the run goes on, but observer %s failed in %s: %s",
            _observer_name(name, implementation.plugin),
            hook,
            error_line(error),
        )


def _observer_name(name: str, observer: object) -> str:
    """Return an observer's distribution, or its class if it was given from Python."""
    if name.isdecimal():
        return f"{type(observer).__module__}:{type(observer).__qualname__}"
    return name.partition(":")[0]
