"""Observers are told that a run starts and how it ends, however it ends."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

import attrs

from anonloom import Registry
from anonloom.errors import AnonloomError, PrivacyError
from anonloom.registry import Border
from anonloom.spec import PipelineSpec
from anonloom_runner.unit import wording_for


@attrs.define
class RunStatus:
    """How a run ended; whoever drives it sets the value, a failure does so itself."""

    value: str = "published"


@contextmanager
def observe_run(spec: PipelineSpec, registry: Registry, run_id: str) -> Iterator[RunStatus]:
    """Tell observers that a pipeline starts and how it ends, however it ends."""
    later = (*spec.stages, *spec.audit, *spec.sections)
    ids = (spec.data.source.id, spec.collect.id, *(use.id for use in later))
    try:
        with observe_work(spec.name, ids, registry, run_id) as status:
            yield status
    except AnonloomError as error:
        # Methods speak of persons, in what they refuse, too.
        error.what = wording_for(error.what, spec.data.unit)
        error.hint = wording_for(error.hint, spec.data.unit)
        raise


@contextmanager
def observe_work(
    name: str, ids: tuple[str, ...], registry: Registry, run_id: str
) -> Iterator[RunStatus]:
    """Tell observers that work with this name and these stages starts and how it ends."""
    start = time.perf_counter()
    status = RunStatus()
    registry.observers.run_started(run_id=run_id, pipeline=name, stages=ids)
    try:
        # Core never ends a run by SystemExit: what comes with it out of a plugin's answer, an
        # array of objects with code of their own perhaps, is a plugin's, too.
        with Border("a plugin of the pipeline", marks=False):
            yield status
    except BaseException as error:
        interrupted, refused = isinstance(error, KeyboardInterrupt), isinstance(error, PrivacyError)
        status.value = "interrupted" if interrupted else "refused" if refused else "failed"
        raise
    finally:
        seconds = time.perf_counter() - start
        registry.observers.run_finished(run_id=run_id, status=status.value, seconds=seconds)


def available_cores() -> int:
    """Cores that this process may use; a container may have fewer than the machine."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
