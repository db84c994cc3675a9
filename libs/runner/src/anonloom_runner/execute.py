"""One run: load, collect, check, audit. Nothing is written here."""

import secrets
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom import (
    AuditInput,
    Collection,
    Findings,
    Guard,
    Outcome,
    PrivacyModel,
    Registry,
    Release,
    Source,
    Table,
)
from anonloom.data import on_own_axes
from anonloom.errors import PluginError, PrivacyError
from anonloom.findings import Notice
from anonloom.kinds import SectionMethod, stream
from anonloom.spec import MethodUse, PipelineSpec
from anonloom_columns import NotationReader
from anonloom_runner import check, conditions, exposure, lookalikes, persons, suppression
from anonloom_runner.declared import persons_behind, wrong_release
from anonloom_runner.external import other_releases
from anonloom_runner.flat_categories import flat_categories
from anonloom_runner.headline import say_not_self_tested
from anonloom_runner.observation import available_cores
from anonloom_runner.provenance import input_digest, new_salt
from anonloom_runner.reporting import report_of
from anonloom_runner.sanitize import sanitize
from anonloom_runner.stage_log import StageLog
from anonloom_runner.stages import PipelineStages
from anonloom_runner.unit import findings_for_unit
from anonloom_runner.unread import Unreadable, withhold_figures

__all__ = [
    "group_codes",
    "refuse_hopeless",
]


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
    journal = StageLog(
        registry,
        run_id,
        seed,
        workers=workers or available_cores(),
        scratch=scratch,
        unit=spec.data.unit,
    )
    stages = PipelineStages(spec.stages, journal, spec.privacy)
    guard = _guard(spec, stages)
    table = _load(spec, guard, journal)
    digest = input_digest(table)
    original, control = _hold_out(table, spec.data.holdout, seed)
    original = original.with_reader(NotationReader)
    others = other_releases(spec.data.other_releases, original)
    if stages.partitions:
        refuse_hopeless(_models(spec), guard, original)
    collection = _collect(spec, stages, guard, original, journal)
    release, verdicts = _check(spec, collection, original, journal)
    exposures, notices = _examine_exposures(spec, release, original, collection)
    release = sanitize(release, stream(seed, "shuffle") if spec.publish.shuffle else None)
    journal.conclude(release)
    case = _audit_input(spec, collection, release, original, guard)
    case = attrs.evolve(case, control=control, other_releases=others)
    findings = {**journal.findings, **_audit(spec, case, journal)}
    report = report_of(
        spec, journal, case, verdicts, findings, exposures=exposures, notices=notices
    )
    return Outcome(
        run_id=run_id,
        release=release,
        original=original,
        collection=collection,
        verdicts=verdicts,
        findings=findings,
        report=report,
        private=_private_record(table, digest, seed, journal),
    )


def _models(spec: PipelineSpec) -> tuple[tuple[str, PrivacyModel], ...]:
    return tuple((use.name, use.method) for use in spec.privacy)


def _collect(
    spec: PipelineSpec,
    stages: PipelineStages,
    guard: Guard,
    original: Table,
    journal: StageLog,
) -> Collection:
    """Let the collector run the stages, and hold it to what it promised."""
    with journal.stage(spec.collect) as (context, count):
        collection: Collection = spec.collect.method.collect(original, stages, guard, context)
        _require_promised(spec, original, collection)
        release = collection.release
        count.rows, count.suppressed = len(release), int(release.suppressed_rows.sum())
    return collection


def _audit_input(
    spec: PipelineSpec, collection: Collection, release: Release, original: Table, guard: Guard
) -> AuditInput:
    """Return what auditors are given of this run."""
    return AuditInput(
        release=release,
        original=original,
        before_sampling=_as_audited(collection.sampling.before, spec),
        presample=collection.sampling.presample,
        truth=release.rows_in(original),
        groups=group_codes(original),
        trace=collection.trace,
        demanded=guard.demanded if spec.privacy else None,
    )


def _private_record(table: Table, digest: str, seed: int, journal: StageLog) -> dict[str, Any]:
    """Return what only the steward may see."""
    return {
        "seed": seed,
        "seed_salt": new_salt().hex(),
        "input_digest": digest,
        "seconds": journal.seconds,
        "pseudonym_keys": {name: key.hex() for name, key in table.pseudonym_keys.items()},
    }


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
        for text in lookalikes.lookalike_warnings(table):
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
                f"the whole table does not satisfy {name}: it has {_count_text(table, rows)}, "
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


def _count_text(table: Table, rows: NDArray[np.int64]) -> str:
    """Count rows, and the persons behind them where models count persons."""
    text = f"{len(rows)} usable {'row' if len(rows) == 1 else 'rows'}"
    if table.persons is None:
        return text
    persons = len(np.unique(table.persons[rows]))
    return f"{text} of {persons} {'person' if persons == 1 else 'persons'}"


def _check(
    spec: PipelineSpec,
    collection: Collection,
    original: Table,
    journal: StageLog,
) -> tuple[Release, check.ModelVerdicts]:
    """Judge what is to be published; withhold classes that sampling or suppression undid."""
    models = _models(spec)
    release, before = collection.release, collection.sampling.before
    made = release if before is None else before

    def judge(some: Release, *, among_starred: bool = False) -> check.ModelVerdicts:
        persons = _persons(some, original, collection, spec)
        return check.judge_models(some, models, persons, among_starred=among_starred)

    def held_as_made() -> bool:
        """Whether the stages did their work: classes that never held are a fault."""
        lost = before is not None or bool(made.suppressed_rows.any())
        return lost and all(verdict.holds for verdict in judge(made, among_starred=True))

    if before is not None:
        check.refuse_broken_models(judge(made, among_starred=True))
    release, verdicts = suppression.withhold_failing(release, spec.suppression, judge, held_as_made)
    for verdict in verdicts:
        journal.registry.observers.release_checked(
            run_id=journal.run_id,
            model=verdict.name,
            holds=verdict.holds,
            classes=verdict.failing_classes,
            rows=int(verdict.failing.sum()),
        )
    check.refuse_broken_models(verdicts)
    check.refuse_telling_stars(release, spec.suppression.keep)
    suppression.refuse_excess_suppression(release, spec.suppression.at_most)
    return release, verdicts


def _examine_exposures(
    spec: PipelineSpec, release: Release, original: Table, collection: Collection
) -> tuple[list[exposure.Exposure], list[Notice]]:
    """Look at what is published as it is; refuse what names people by itself."""
    persons = _persons(release, original, collection, spec)
    result = exposure.examine_exposures(release, persons)
    exposure.refuse_needless(result, (original.schema[name] for name in original.schema.quasi))
    return result, exposure.exposure_notices(release, result, persons, privacy=bool(spec.privacy))


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


def group_codes(original: Table) -> NDArray[np.int32] | None:
    """Number of every row's group, where a column says it."""
    names = original.schema.names_with_role("group")
    return original.encode_column(names[0]).codes if names else None


def _audit(spec: PipelineSpec, case: AuditInput, journal: StageLog) -> dict[str, Findings]:
    """Run the auditors, and refuse the release when a condition is met."""
    audits: dict[str, Findings] = {}
    met = []
    unreadable = Unreadable.of(case)
    for audit in spec.audit:
        audits[audit.id] = run_auditor(audit, case, journal, unreadable)
        met += conditions.failures(audit.id, audit.fail_if, audits[audit.id])
    conditions.refuse(met)
    sections = {use.id: run_auditor(use, case, journal, unreadable) for use in spec.sections}
    return audits | sections


def run_auditor(
    audit: MethodUse, case: AuditInput, journal: StageLog, unreadable: Unreadable
) -> Findings:
    """Return what one auditor, or a method with a section of its own, finds.

    It sees the roles that it reads. Of columns that cannot be read there are no figures.
    """
    with journal.stage(audit) as (run, count):
        seen = case.original.restricted_to(audit.entry.method.reads) if case.original else None
        # A frame of its own: what an auditor notes down in it must not be published.
        shown = attrs.evolve(case.release, frame=case.release.frame.copy(deep=False))
        method = audit.method
        look = method.examine if isinstance(method, SectionMethod) else method.audit
        findings = look(attrs.evolve(case, original=seen, release=shown), run)
        count.rows = len(case.release)
    readable = withhold_figures(Findings.of(findings, run.found), unreadable)
    found = say_not_self_tested(readable, getattr(method, "measures", ""))
    return findings_for_unit(found, journal.unit)
