"""Runs a pipeline on the people of one shadow release."""

import time
from collections.abc import Callable
from typing import Any

import attrs

from anonloom import Pipeline, Registry, Schema, Source, StageContext, Table, short_repr
from anonloom.data import on_own_axes
from anonloom.errors import PrivacyError
from anonloom.kinds import stream
from anonloom.spec import PipelineSpec
from anonloom_membership.shadow.plan import ShadowPlan
from anonloom_membership.shadow.statistics import target_statistics

__all__ = ["ShadowRunner", "load_table"]


@short_repr
@attrs.frozen(kw_only=True, eq=False)
class SomePeople(Source):
    """Gives some rows of what a pipeline's own source loads."""

    # No parameter: a pipeline file cannot write it, and records must not hold rows.
    _take: Any = attrs.field(init=False, default=None, repr=False)

    @classmethod
    def of(cls, take: Callable[[Schema], Table]) -> "SomePeople":
        """Return the source of what a function returns."""
        source = cls()
        object.__setattr__(source, "_take", take)  # frozen for everybody else
        return source

    def load(self, schema: Schema, context: StageContext) -> Table:
        """Return these rows, with axes that know of no others."""
        return on_own_axes(self._take(schema))


def load_table(spec: PipelineSpec, seed: int, schema: Schema | None = None) -> Table:
    """Load the whole table of a pipeline; always the same one, also from a source that draws."""
    source = spec.data.source
    context = StageContext(stage=source.id, seed=seed)
    table: Table = source.method.load(schema or spec.data.schema, context)
    return table


@short_repr
@attrs.frozen(eq=False)
class ShadowRunner:
    """Makes shadow releases of one pipeline, and forgets all but what they say of the targets."""

    spec: PipelineSpec
    registry: Registry
    table: Table
    plan: ShadowPlan
    #: What was loaded, by the quasi-identifiers that the run declares; shared by all releases.
    loaded: dict[tuple[str, ...], Table] = attrs.field(factory=dict)

    def run(self, release: int) -> dict[str, Any]:
        """Run the pipeline on the people of one release.

        Audits, holdout and further sections are left out: they change no release.

        Returns
        -------
        dict
            Whether it was published, what it says of every target, and the CPU seconds.
        """
        begun = time.process_time()
        result: dict[str, Any] = {"release": release, "status": "published", "statistics": None}
        try:
            outcome = Pipeline(self._spec_of(release), self.registry).run(workers=1)
        except PrivacyError:
            # A refusal tells, too; but nothing is there to measure.
            result["status"] = "refused"
        else:
            statistics = target_statistics(self.table, outcome.release, self.plan)
            result["statistics"] = statistics.tolist()
        return result | {"cpu_seconds": time.process_time() - begun}

    def _spec_of(self, release: int) -> PipelineSpec:
        rows = self.plan.rows_of(release)

        def take(schema: Schema) -> Table:
            if schema.quasi not in self.loaded:
                self.loaded[schema.quasi] = load_table(self.spec, self.plan.seed, schema)
            return self.loaded[schema.quasi].take(rows)

        source = attrs.evolve(self.spec.data.source, method=SomePeople.of(take))
        data = attrs.evolve(self.spec.data, source=source, holdout=0.0, other_releases=())
        seed = self.plan.seed_of(release)
        return attrs.evolve(self.spec, data=data, seed=seed, audit=(), sections=())


def seed_of_pipeline(spec: PipelineSpec, drawn: int) -> int:
    """Return the seed that targets, people and shadow seeds come from; never a release's own."""
    if spec.seed is None:
        return drawn
    return int(stream(spec.seed, "shadow releases").integers(1 << 62))
