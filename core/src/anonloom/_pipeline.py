"""Pipelines from Python: load, run, publish."""

from collections.abc import Sequence
from pathlib import Path

import attrs

from anonloom._outcome import Outcome
from anonloom._registry.registry import Registry
from anonloom._representation import short_repr
from anonloom._spec.model import PipelineSpec
from anonloom._spec.pipeline import load_pipeline
from anonloom.errors import UsageError
from anonloom.kinds._engine import Engine
from anonloom.lazy import pd
from anonloom.sources import Frame


@short_repr
@attrs.frozen(eq=False)
class Pipeline:
    """A checked pipeline, ready to run.

    Examples
    --------
    >>> outcome = Pipeline.load("pipeline.yaml").run(frame)  # doctest: +SKIP
    >>> outcome.release.frame, outcome.findings  # doctest: +SKIP
    """

    spec: PipelineSpec
    registry: Registry

    @classmethod
    def load(
        cls,
        file: Path | str,
        *,
        settings: Sequence[str] = (),
        allow_local_code: bool = False,
        registry: Registry | None = None,
    ) -> "Pipeline":
        """Read and check a pipeline file; see `load_pipeline`."""
        registry = registry or Registry.installed()
        spec = load_pipeline(file, registry, settings=settings, allow_local_code=allow_local_code)
        return cls(spec, registry)

    def run(self, frame: "pd.DataFrame | None" = None, *, workers: int | None = None) -> Outcome:
        """Run everything, all checks included, and write nothing.

        Parameters
        ----------
        frame
            The data, instead of what the pipeline's source would load.
        workers
            Threads that methods may use; by default one per core. Results do not depend on it.

        Raises
        ------
        PrivacyError
            When the release would break its own declared privacy, suppression or `fail_if`.
        """
        return self._engine().run(self._spec_for(frame), self.registry, workers=workers)

    def publish(
        self,
        frame: "pd.DataFrame | None" = None,
        *,
        to: Path | str | None = None,
        replace: bool = False,
        workers: int | None = None,
    ) -> Outcome:
        """Run everything and write the outputs, or nothing at all.

        Parameters
        ----------
        to
            The output folder, instead of the pipeline's `publish: to`.
        replace
            Whether an existing output folder is replaced.
        """
        return self._engine().publish(
            self._spec_for(frame),
            self.registry,
            to=self.target(to),
            replace=replace,
            workers=workers,
        )

    def target(self, to: Path | str | None = None) -> Path:
        """Return the output folder.

        Raises
        ------
        UsageError
            When neither the caller nor the pipeline names one.
        """
        target = Path(to) if to is not None else self.spec.publish.to
        if target is None:
            raise UsageError(
                "the pipeline does not say where to publish", hint="publish: {to: out/name}"
            )
        return target

    def _engine(self) -> Engine:
        """Return the engine that the pipeline names, or else the installed default.

        Raises
        ------
        PluginError
            When none is named, and none is installed or several want to be the default.
        """
        if self.spec.engine is not None:
            named: Engine = self.spec.engine.method
            return named
        engine: Engine = self.registry.load_entry(self.registry.default("engine"))()
        return engine

    def _spec_for(self, frame: "pd.DataFrame | None") -> PipelineSpec:
        if self.spec.grid:
            raise UsageError(
                f"the pipeline is an experiment of {len(self.spec.grid)} runs",
                hint="`anonloom run` runs all of them.",
            )
        if frame is None:
            return self.spec
        entry = self.registry.find("source", "frame")
        source = attrs.evolve(self.spec.data.source, entry=entry, method=Frame.of(frame))
        return attrs.evolve(self.spec, data=attrs.evolve(self.spec.data, source=source))
