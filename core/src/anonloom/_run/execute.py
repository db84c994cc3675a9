"""One run: load, collect, check, audit. Nothing is written here."""

import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom._registry.boundary import Border
from anonloom._registry.registry import Registry
from anonloom._run import check, conditions, exposure, persons, suppression
from anonloom._run.declared import persons_behind, wrong_release
from anonloom._run.external import other_releases
from anonloom._run.flat_categories import flat_categories
from anonloom._run.outcome import Outcome
from anonloom._run.provenance import input_digest, new_salt
from anonloom._run.reporting import report_of
from anonloom._run.sanitize import publishable
from anonloom._run.stage_log import StageLog
from anonloom._run.stages import PipelineStages
from anonloom._spec.model import MethodUse, PipelineSpec
from anonloom.data import _lookalikes as lookalikes
from anonloom.data._audit_input import AuditInput
from anonloom.data._release import Release
from anonloom.data._table import Table, on_own_axes
from anonloom.data._unit import findings_for_unit, wording_for
from anonloom.errors import AnonloomError, PluginError, PrivacyError
from anonloom.findings import Findings, Notice
from anonloom.kinds._collection import Collection
from anonloom.kinds._context import stream
from anonloom.kinds._guard import Guard
from anonloom.kinds._privacy import PrivacyModel
from anonloom.kinds._section import SectionMethod
from anonloom.kinds._source import Source


@attrs.define
class RunStatus:
    """How a run ends; whoever drives it says so, a failure says it itself."""

    status: str = "published"


@contextmanager
def observe_run(spec: PipelineSpec, registry: Registry, run_id: str) -> Iterator[RunStatus]:
    """Tell observers that a pipeline starts and how it ends, however it ends."""
    later = (*spec.stages, *spec.audit, *spec.sections)
    ids = (spec.data.source.id, spec.collect.id, *(use.id for use in later))
    try:
        with announced_as(spec.name, ids, registry, run_id) as ending:
            yield ending
    except AnonloomError as error:
        # Methods speak of persons, in what they refuse, too.
        error.what = wording_for(error.what, spec.data.unit)
        error.hint = wording_for(error.hint, spec.data.unit)
        raise


@contextmanager
def announced_as(
    name: str, ids: tuple[str, ...], registry: Registry, run_id: str
) -> Iterator[RunStatus]:
    """Tell observers that work with this name and these stages starts and how it ends."""
    start = time.perf_counter()
    ending = RunStatus()
    registry.observers.run_started(run_id=run_id, pipeline=name, stages=ids)
    try:
        # Core never ends a run by SystemExit: what comes with it out of a plugin's answer, an
        # array of objects with code of their own perhaps, is a plugin's, too.
        with Border("a plugin of the pipeline", marks=False):
            yield ending
    except BaseException as error:
        interrupted, refused = isinstance(error, KeyboardInterrupt), isinstance(error, PrivacyError)
        ending.status = "interrupted" if interrupted else "refused" if refused else "failed"
        raise
    finally:
        seconds = time.perf_counter() - start
        registry.observers.run_finished(run_id=run_id, status=ending.status, seconds=seconds)


def cores() -> int:
    """Cores that this process may use; a container may have fewer than the machine."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def execute(
    spec: PipelineSpec,
    registry: Registry,
    *,
    run_id: str,
    workers: int | None = None,
    scratch: Path | None = None,
) -> Outcome:
    """Run a pipeline up to the point where its outputs could be written.

    Parameters
    ----------
    workers
        Threads that a method may use; by default one per core that this process may use.

    Raises
    ------
    PrivacyError
        When the release would break its own declared privacy, suppression or `fail_if`.
    DataError
        When the data cannot be used.
    """
    seed = secrets.randbits(63) if spec.seed is None else spec.seed
    workers = workers or cores()
    unit = spec.data.unit
    journal = StageLog(registry, run_id, seed, workers=workers, scratch=scratch, unit=unit)
    stages = PipelineStages(spec.stages, journal, spec.privacy)
    guard = _guard(spec, stages)
    whole = _load(spec, guard, journal)
    digest = input_digest(whole)
    original, control = _hold_out(whole, spec.data.holdout, seed)
    others = other_releases(spec.data.other_releases, original)
    if stages.partitions:
        models = tuple((use.name, use.method) for use in spec.privacy)
        refuse_hopeless(models, guard, original)
    with journal.stage(spec.collect) as (context, count):
        collection: Collection = spec.collect.method.collect(original, stages, guard, context)
        _require_promised(spec, original, collection)
        release = collection.release
        count.rows, count.suppressed = len(release), int(release.suppressed_rows.sum())
    release, verdicts = _check_release(spec, collection, original, journal)
    exposures, notices = _examine_exposure(spec, release, original, collection)
    release = publishable(release, stream(seed, "shuffle") if spec.publish.shuffle else None)
    journal.conclude(release)
    demanded = guard.demanded if spec.privacy else None
    case = AuditInput(
        release=release,
        original=original,
        before_sampling=_as_audited(collection.sampling.before, spec),
        presample=collection.sampling.presample,
        truth=release.rows_in(original),
        control=control,
        other_releases=others,
        groups=groups_of(original),
        trace=collection.trace,
        demanded=demanded,
    )
    audits = _audit(spec, case, journal)
    salt = new_salt()
    results = {**journal.findings, **audits}
    return Outcome(
        run_id=run_id,
        release=release,
        original=original,
        stages=stages,
        collection=collection,
        verdicts=verdicts,
        findings=results,
        report=report_of(
            spec,
            journal,
            original,
            release,
            verdicts,
            results,
            exposures=exposures,
            notices=notices,
        ),
        private={
            "seed": seed,
            "seed_salt": salt.hex(),
            "input_digest": digest,
            "seconds": journal.seconds,
            "pseudonym_keys": {name: key.hex() for name, key in whole.pseudonym_keys.items()},
        },
    )


def _guard(spec: PipelineSpec, stages: PipelineStages) -> Guard:
    models = tuple(use.method for use in spec.privacy)
    sampler = stages.sampler()
    if sampler is None or not stages.partitions:
        return Guard(models)
    return Guard(models, sampler.method.least_kept)


def _load(spec: PipelineSpec, guard: Guard, journal: StageLog) -> Table:
    """Load the table; quasi-identifiers that no model speaks of are published as they are."""
    schema = spec.data.schema
    if spec.privacy:
        schema = schema.restrict_quasi(guard.columns(schema))
    with journal.stage(spec.data.source) as (run, count):
        source: Source = spec.data.source.method
        table = source.load(schema, run)
        for text in lookalikes.warnings_of(table):
            run.warn(text, privacy=True)
        count.rows = len(table)
        persons.refuse_shared_identifiers(table, spec.data.unit)
        persons.warn_of_person_numbers(source, spec.data.schema, len(table), spec.data.unit, run)
        if any(use.runs_as == "generalizer" for use in spec.stages):
            for text in flat_categories(table):
                run.warn(text)
    return table


def _require_promised(spec: PipelineSpec, original: Table, collection: object) -> None:
    """Refuse what is no collection, and a release with other columns than the table's."""
    wrong: str | None = f"returned a {type(collection).__name__} instead of a Collection"
    if isinstance(collection, Collection):
        wrong = wrong_release(original.schema, collection.release)
    if wrong is not None:
        entry = spec.collect.entry
        owner = entry.distribution or "local code"
        raise PluginError(
            f"collector '{entry.name}' of {owner} broke its promise: it {wrong}",
            hint=f"Report it to its author; `anonloom plugins check {entry.name}` shows more.",
        )


def _hold_out(table: Table, share: float, seed: int) -> tuple[Table, Table | None]:
    """Take the control rows out before any stage sees the table, or its axes know of them.

    A person's rows are all held out, or none.
    """
    if not share:
        return table, None
    cut = round(len(table) * share)
    order = stream(seed, "holdout").permutation(len(table))
    held = np.zeros(len(table), bool)
    held[order[:cut]] = True
    if table.persons is not None:
        held = _held_persons(table, order, cut)
    return on_own_axes(table.take(~held)), table.take(held)


def _held_persons(table: Table, order: NDArray[np.int64], cut: int) -> NDArray[np.bool_]:
    """Return the rows of whole persons, about as many as asked for.

    Whoever had a row on either side would be somebody outside the release who is in it.
    """
    assert table.persons is not None
    persons = table.persons.astype(np.int64)
    sizes = np.bincount(persons)
    # In the order in which their first rows were drawn.
    drawn = persons[order][np.sort(np.unique(persons[order], return_index=True)[1])]
    if table.unknown_persons is not None:
        # Nobody can say that they are not in the release.
        drawn = drawn[drawn != persons[table.unknown_persons][0]]
    chosen = drawn[np.cumsum(sizes[drawn]) <= cut]
    held: NDArray[np.bool_] = np.isin(persons, chosen)
    return held


def refuse_hopeless(
    models: tuple[tuple[str, PrivacyModel], ...], guard: Guard, table: Table
) -> None:
    """Refuse a table that is inadmissible as a whole, before any work is done.

    Raises
    ------
    PrivacyError
        Which model it does not satisfy, and what would pass.
    """
    whole = table.whole()
    rows, ends = whole.rows, np.array([len(whole.rows)])
    start = np.zeros(1, np.int64)
    if len(rows) and bool(guard.admits(table, rows, start, ends)[0]):
        return
    for name, model in models:
        if not len(rows) or not bool(model.admits(table, rows, start, ends)[0]):
            words = model.would_pass(table, rows, start, ends) if len(rows) else "nothing"
            raise PrivacyError(
                f"the whole table does not satisfy {name}: it has {_count_words(table, rows)}, "
                f"and {words} would pass",
                hint="Nothing was written. No partition can satisfy what the whole table does not.",
            )
    try:
        takes = f"which takes {guard.min_size} before; there are {len(rows)}"
    except ValueError:
        takes = "which this sampler never keeps"
    raise PrivacyError(
        f"the whole table is too small: after sampling a class must still have {guard.demanded} "
        f"rows, {takes}",
        hint="Nothing was written. Sample a larger share, or lower the demand.",
    )


def _count_words(table: Table, rows: NDArray[np.int64]) -> str:
    """Count rows, and the persons behind them where models count persons."""
    text = f"{len(rows)} usable {'row' if len(rows) == 1 else 'rows'}"
    if table.persons is None:
        return text
    persons = len(np.unique(table.persons[rows]))
    return f"{text} of {persons} {'person' if persons == 1 else 'persons'}"


def _check_release(
    spec: PipelineSpec,
    collection: Collection,
    original: Table,
    journal: StageLog,
) -> tuple[Release, tuple[check.Verdict, ...]]:
    """Judge what is to be published; withhold classes that sampling or suppression undid."""
    models = tuple((use.name, use.method) for use in spec.privacy)
    release, before = collection.release, collection.sampling.before
    made = release if before is None else before

    def judge(some: Release, *, among_starred: bool = False) -> check.ModelVerdicts:
        persons = _persons(some, original, collection, spec)
        return check.judge(some, models, persons, among_starred=among_starred)

    def held_as_made() -> bool:
        """Whether the stages did their work: classes that never held are a fault."""
        lost = before is not None or bool(made.suppressed_rows.any())
        return lost and all(verdict.holds for verdict in judge(made, among_starred=True))

    if before is not None:
        check.refuse(judge(made, among_starred=True))
    release, verdicts = suppression.withhold_failing(release, spec.suppression, judge, held_as_made)
    for verdict in verdicts:
        journal.registry.observers.release_checked(
            run_id=journal.run_id,
            model=verdict.name,
            holds=verdict.holds,
            classes=verdict.failing_classes,
            rows=int(verdict.failing.sum()),
        )
    check.refuse(verdicts)
    check.refuse_telling_stars(release, spec.suppression.keep)
    suppression.refuse_excess(release, spec.suppression.at_most)
    return release, verdicts


def _examine_exposure(
    spec: PipelineSpec, release: Release, original: Table, collection: Collection
) -> tuple[list[exposure.Exposure], list[Notice]]:
    """Look at what is published as it is; refuse what names people by itself."""
    persons = _persons(release, original, collection, spec)
    result = exposure.examine(release, persons)
    exposure.refuse_needless(result, (original.schema[name] for name in original.schema.quasi))
    return result, exposure.judge(release, result, persons, privacy=bool(spec.privacy))


def _persons(
    release: Release, original: Table, collection: Collection, spec: PipelineSpec
) -> NDArray[np.int32] | None:
    """Person behind every published row, where rows are not persons."""
    if not spec.privacy:
        return None
    sources = (original, collection.prepared)
    nobody = any(table is not None and table.origin is None for table in sources)
    return persons_behind(release, original, nobody=nobody)


def _as_audited(before: Release | None, spec: PipelineSpec) -> Release | None:
    """Return the release before sampling as auditors see it: its starred rows tell nothing."""
    return None if before is None else before.strip_starred_rows(spec.suppression.keep)


def groups_of(original: Table) -> NDArray[np.int32] | None:
    """Number of every row's group, where a column says it."""
    names = original.schema.names_with_role("group")
    return original.encode_column(names[0]).codes if names else None


def _audit(spec: PipelineSpec, case: AuditInput, journal: StageLog) -> dict[str, Findings]:
    """Run the auditors, and refuse the release when a condition is met."""
    audits: dict[str, Findings] = {}
    met = []
    for audit in spec.audit:
        audits[audit.id] = audited(audit, case, journal)
        met += conditions.failures(audit, audits[audit.id])
    conditions.refuse(met)
    return audits | {use.id: audited(use, case, journal) for use in spec.sections}


def audited(audit: MethodUse, case: AuditInput, journal: StageLog) -> Findings:
    """Return what one auditor, or a method with a section of its own, finds.

    It sees the roles that it reads.
    """
    with journal.stage(audit) as (run, count):
        seen = case.original.restricted_to(audit.entry.method.reads) if case.original else None
        # A frame of its own: what an auditor notes down in it must not be published.
        shown = attrs.evolve(case.release, frame=case.release.frame.copy(deep=False))
        method = audit.method
        look = method.examine if isinstance(method, SectionMethod) else method.audit
        findings = look(attrs.evolve(case, original=seen, release=shown), run)
        count.rows = len(case.release)
    return findings_for_unit(Findings.of(findings, run.found), journal.unit)
