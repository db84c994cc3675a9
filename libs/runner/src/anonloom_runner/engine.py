"""Engine local: one process, one table in memory."""

import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import attrs

from anonloom import Engine, Outcome, Registry
from anonloom.spec import PipelineSpec
from anonloom_runner.observation import observe_run

__all__ = ["LocalEngine"]


@attrs.frozen
class LocalEngine(Engine):
    """Runs a pipeline in this process, on a table that fits into memory."""

    def run(self, spec: PipelineSpec, registry: Registry, *, workers: int | None = None) -> Outcome:
        """See `Engine.run`."""
        # Imported here and below: a pipeline that is only checked handles no frames.
        from anonloom_runner.execute import execute

        run_id = secrets.token_hex(8)
        with observe_run(spec, registry, run_id) as status, _scratch() as scratch:
            outcome = execute(spec, registry, run_id=run_id, workers=workers, scratch=scratch)
            status.value = "dry-run"
        return outcome

    def publish(
        self,
        spec: PipelineSpec,
        registry: Registry,
        *,
        to: Path,
        replace: bool = False,
        workers: int | None = None,
    ) -> Outcome:
        """See `Engine.publish`."""
        from anonloom_runner import outputs
        from anonloom_runner.execute import execute

        outputs.refuse_existing(to, replace)
        if spec.publish.integrity is not None:
            spec.publish.integrity.ready()
        run_id = secrets.token_hex(8)
        with (
            observe_run(spec, registry, run_id),
            _scratch() as scratch,
            outputs.atomic_folder(to, replace) as aside,
        ):
            outcome = execute(spec, registry, run_id=run_id, workers=workers, scratch=scratch)
            outputs.write(outcome, spec, registry, aside)
        return attrs.evolve(outcome, folder=to)


@contextmanager
def _scratch() -> Iterator[Path]:
    """Give a private folder that is gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="anonloom-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
