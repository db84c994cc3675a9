"""The declared stages, executed in order; what a collector drives."""

import json
from collections.abc import Sequence

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom import Classes, Collection, Guard, Release, Table, short_repr
from anonloom.data import Draw, on_own_axes
from anonloom.errors import PluginError, UsageError
from anonloom.kinds import SamplingRecord
from anonloom_loss import merge_until_admitted
from anonloom_runner.declared import wrong_release, wrong_rows, wrong_table
from anonloom_runner.stage_log import StageLog, Step

__all__ = [
    "PipelineStages",
]

_MAKE_CLASSES = ("partitioner", "outliers")


@short_repr
@attrs.frozen(eq=False)
class PipelineStages:
    """Runs the stages of a pipeline; see `anonloom.kinds._stages.Stages`.

    Attributes
    ----------
    privacy
        The declared privacy models, which must still make sense after the mechanisms.
    """

    steps: Sequence[Step]
    journal: StageLog
    privacy: Sequence[Step] = ()

    def _before_classes(self) -> list[Step]:
        """Steps that turn a table into a table."""
        first = [
            index for index, step in enumerate(self.steps) if step.entry.runs_as in _MAKE_CLASSES
        ]
        stop = first[0] if first else len(self.steps)
        return [s for s in self.steps[:stop] if s.entry.runs_as in ("mechanism", "sampler")]

    def sampler(self) -> Step | None:
        """Return the sampler that follows the generalizer, if any."""
        before = self._before_classes()
        later = [s for s in self.steps if s.entry.runs_as == "sampler" and s not in before]
        return later[0] if later else None

    @property
    def partitions(self) -> bool:
        """Whether any stage makes classes."""
        return any(step.entry.runs_as in _MAKE_CLASSES for step in self.steps)

    def _last_partitioner(self) -> Step | None:
        """Return the step whose classes no other partitioner refines."""
        partitioners = [step for step in self.steps if step.entry.runs_as == "partitioner"]
        return partitioners[-1] if partitioners else None

    def fingerprint(self) -> str:
        """See `Stages.fingerprint`."""
        uses = [*self.privacy, *self.steps]
        described = [
            [
                use.entry.kind,
                use.entry.name,
                use.entry.owner,
                self.journal.parameters(use.method, redact=False),
            ]
            for use in uses
        ]
        return json.dumps(described, sort_keys=True, default=str)

    def with_seed(self, seed: int) -> "PipelineStages":
        """See `Stages.with_seed`; findings and times go into the journal of the run."""
        return attrs.evolve(self, journal=attrs.evolve(self.journal, seed=seed))

    def for_server(self, seed: int) -> "PipelineStages":
        """See `Stages.for_server`."""
        return attrs.evolve(self, journal=self.journal.aside(seed))

    def run(self, table: Table, guard: Guard) -> Collection:
        """See `Stages.run`."""
        prepared, presample = self._prepare(table)
        classes = self.partition(prepared, guard)
        release = self.generalize(prepared, classes)
        if self.sampler() is None:
            sampling = SamplingRecord(presample=presample)
            return Collection(release, sampling, prepared, classes)
        labels = release.classes
        if labels is None:
            labels = np.zeros(len(release), np.int64)
        kept = release.take(self.sample_mask(labels))
        return Collection(kept, SamplingRecord(release, presample), prepared, classes)

    def prepare(self, table: Table) -> Table:
        """See `Stages.prepare`."""
        return self._prepare(table)[0]

    def _prepare(self, table: Table) -> tuple[Table, Draw | None]:
        """Return the table that classes are made of, and which rows were drawn for it."""
        presample: Draw | None = None
        for step in self._before_classes():
            with self.journal.stage(step) as (run, count):
                if step.entry.runs_as == "mechanism":
                    after = step.method.protect(_restrict(table, step), run).with_all_columns()
                    _hold(step, wrong_table(table, after))
                    table = after
                else:
                    rows = np.arange(len(table), dtype=np.int64)
                    kept = step.method.sample(Classes.whole(rows), run)
                    after = table.take(rows[_mask(kept, len(rows), step)])
                    presample = _draw(presample, table, after)
                    # Rows that were left out must not show in what the others publish.
                    table = on_own_axes(after)
                count.rows, count.suppressed = len(table), int(table.incomplete.sum())
        self._still_judged(table)
        self._still_suited(table)
        return table, presample

    def _still_judged(self, table: Table) -> None:
        """Refuse a mechanism that took away what a privacy model looks at."""
        for use in self.privacy:
            problem = use.method.problem(table.schema)
            if problem is not None:
                raise UsageError(
                    f"{use.entry.name} cannot be judged after the mechanisms: {problem}",
                    hint="Keep the columns that a privacy model names.",
                )

    def _still_suited(self, table: Table) -> None:
        """Refuse a method that does not fit the columns that the mechanisms left."""
        for step in self.steps:
            if step.entry.runs_as in _MAKE_CLASSES:
                problem = step.method.problem(table.schema)
                if problem is not None:
                    raise UsageError(f"{step.entry.name} cannot be used: {problem}")

    def partition(self, table: Table, guard: Guard) -> Classes | None:
        """See `Stages.partition`."""
        if not self.partitions:
            return None
        classes = table.whole()
        for step in self.steps:
            if step.entry.runs_as not in _MAKE_CLASSES:
                continue
            with self.journal.stage(step) as (run, count):
                before = classes
                method = step.method
                work = method.partition if step.entry.runs_as == "partitioner" else method.handle
                classes = work(_restrict(table, step), classes, guard, run)
                _check_rows(step, table, before, classes)
                if method.guard_use == "size" and method.sound:
                    parents = before if step.entry.runs_as == "partitioner" else None
                    classes = merge_until_admitted(table, classes, guard, parents)
                if step is self._last_partitioner() and method.unrefined is not None:
                    run.warn(method.unrefined)
                count.rows, count.classes = classes.total, len(classes)
                count.suppressed = len(classes.suppressed)
        return classes

    def generalize(self, table: Table, classes: Classes | None) -> Release:
        """See `Stages.generalize`."""
        before = [step for step in self._before_classes() if step.entry.runs_as == "mechanism"]
        truthful = all(step.method.truthful for step in before)
        if classes is None:
            return attrs.evolve(Release.as_it_is(table), truthful=truthful)
        step = next(step for step in self.steps if step.entry.runs_as == "generalizer")
        with self.journal.stage(step) as (run, count):
            release: Release = step.method.generalize(_restrict(table, step), classes, run)
            _hold(step, wrong_rows(table, classes, release))
            _hold(step, wrong_release(table.schema, release))
            count.rows, count.classes = len(release), len(classes)
            count.suppressed = len(classes.suppressed)
        return attrs.evolve(release, truthful=truthful and release.truthful)

    def sample_mask(self, labels: NDArray[np.int64]) -> NDArray[np.bool_]:
        """See `Stages.sample_mask`."""
        kept = np.ones(len(labels), bool)
        step = self.sampler()
        if step is None:
            return kept
        with self.journal.stage(step) as (run, count):
            # Suppressed rows are sampled like a class of their own: the last one.
            of = np.where(labels < 0, labels.max(initial=-1) + 1, labels)
            classes = Classes.from_labels(of)
            kept[classes.rows] = _mask(step.method.sample(classes, run), len(classes.rows), step)
            count.rows, count.suppressed = int(kept.sum()), int((labels[kept] < 0).sum())
            count.classes = len(classes)
        return kept

    def record_sampling(
        self, before: Release, among: NDArray[np.int64] | None = None
    ) -> SamplingRecord:
        """See `Stages.record_sampling`."""
        presampled = any(step.entry.kind == "sampler" for step in self._before_classes())
        presample = None
        if presampled and among is not None and before.origin is not None:
            presample = Draw(among, before.origin)
        return SamplingRecord(None if self.sampler() is None else before, presample)


def _draw(earlier: Draw | None, before: Table, after: Table) -> Draw | None:
    """Return, for audits, among whom those hide who were drawn; several draws are one."""
    if before.origin is None or after.origin is None:
        return earlier
    return Draw(before.origin if earlier is None else earlier.among, after.origin)


def _restrict(table: Table, step: Step) -> Table:
    """Return the table with only the roles that the method declared to read."""
    return table.restricted_to(step.entry.method.reads)


def _mask(mask: object, n: int, step: Step) -> NDArray[np.bool_]:
    result = np.asarray(mask)
    if result.dtype != bool or result.shape != (n,):
        raise _broken_promise(step, f"must return a mask over {n} rows")
    return result


def _check_rows(step: Step, table: Table, before: Classes, after: Classes) -> None:
    """Refuse a method that lost, doubled or invented rows: a release must not hide that."""
    given = np.zeros(len(table), bool)
    given[before.rows] = given[before.suppressed] = True
    returned = np.zeros(len(table), bool)
    returned[after.rows] = returned[after.suppressed] = True
    if after.total != returned.sum() or not np.array_equal(given, returned):
        raise _broken_promise(
            step, f"was given {before.total} rows and returned {after.total}, not the same ones"
        )
    # An outlier handler may find a place for a suppressed row, but not for an incomplete one.
    stay = before.suppressed if step.entry.runs_as == "partitioner" else table.whole().suppressed
    returned[after.rows] = False
    if not returned[stay].all():
        raise _broken_promise(step, "put suppressed rows back into a class")


def _hold(step: Step, wrong: str | None) -> None:
    if wrong is not None:
        raise _broken_promise(step, wrong)


def _broken_promise(step: Step, what: str) -> PluginError:
    owner = step.entry.distribution or "local code"
    return PluginError(
        f"{step.entry.kind} '{step.entry.name}' of {owner} broke its promise: it {what}",
        hint=f"Report it to its author; `anonloom plugins check {step.entry.name}` shows more.",
    )
