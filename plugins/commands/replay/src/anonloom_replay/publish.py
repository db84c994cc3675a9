"""Publishing new rows by an earlier release's regions, under the same final check."""

import hashlib
import secrets
from pathlib import Path
from typing import Any

import attrs
import numpy as np

from anonloom import (
    Findings,
    Guard,
    PrivacyModel,
    Registry,
    Release,
    Schema,
    StageContext,
    Table,
)
from anonloom.errors import DataError
from anonloom.files import read_json
from anonloom.params import InvalidValue, as_values, build
from anonloom.spec import Suppression
from anonloom_replay.transformation import Replay, Transformation
from anonloom_runner.check import (
    ModelVerdicts,
    judge_models,
    refuse_broken_models,
    refuse_telling_stars,
)
from anonloom_runner.declared import persons_behind
from anonloom_runner.execute import refuse_hopeless
from anonloom_runner.exposure import examine_exposures, exposure_notices
from anonloom_runner.lookalikes import lookalike_warnings
from anonloom_runner.outputs import MANIFEST, atomic_folder, digests, refuse_existing, write_json
from anonloom_runner.persons import refuse_shared_identifiers, warn_of_person_numbers
from anonloom_runner.provenance import package_versions
from anonloom_runner.reporting import NO_PRIVACY, record_text, report_outline, suppression_data
from anonloom_runner.sanitize import sanitize
from anonloom_runner.suppression import refuse_excess_suppression, withhold_failing
from anonloom_runner.table_files import write_csv, write_parquet
from anonloom_tables import Csv, Parquet


def load_file(path: Path) -> Csv | Parquet:
    """Return the source that reads a file, by its ending."""
    return Parquet(path=path) if path.suffix == ".parquet" else Csv(path=path)


def apply_file(
    transformation: Path,
    data: Path,
    target: Path,
    registry: Registry,
    *,
    replace: bool = False,
    at_most: float | None = None,
) -> dict[str, Any]:
    """Replay a transformation on a file and publish the result, or nothing at all.

    Parameters
    ----------
    at_most
        Share of rows that may be suppressed, instead of the earlier run's.

    Returns
    -------
    dict
        The content of `report.json`.

    Raises
    ------
    PrivacyError
        When the new rows do not satisfy what the earlier release promised.
    """
    refuse_existing(target, replace)
    replay = _read(transformation)
    rule = replay.suppression
    if at_most is not None:
        rule = attrs.evolve(rule, at_most=at_most)
    context = StageContext(stage="source")
    table = _load(replay, load_file(data), context)
    replayed, release, verdicts = _replay_and_check(replay, table, registry, rule)
    owners = persons_behind(release, replayed.table)
    exposures = examine_exposures(release, owners)
    notices = [("", NO_PRIVACY)] if not verdicts else []
    exposed = exposure_notices(release, exposures, owners, privacy=bool(verdicts))
    notices += [("", notice) for notice in exposed]
    notices += [(context.stage, notice) for notice in Findings.of(context.found).notices]
    # Nothing here is meant to be repeated: the shuffle comes from the system's randomness.
    release = sanitize(release, np.random.default_rng(secrets.randbits(128)))
    report = {
        # Named after what is published: the name of the input is nobody's business.
        **report_outline(
            target.name,
            replay.schema,
            replayed.table,
            release,
            verdicts,
            as_values,
            notices,
            exposures,
            unit=replay.unit,
        ),
        "privacy_none": not verdicts,
        "suppression": suppression_data(rule, release),
        **_replay_fields(replayed),
    }
    with atomic_folder(target, replace) as folder:
        _write(release, report, hashlib.sha256(transformation.read_bytes()).hexdigest(), folder)
    return report


def _replay_fields(replayed: Replay) -> dict[str, Any]:
    """Return what a report says of a replay, and what it says of stages that did not run."""
    return {
        "replay": {
            "regions": replayed.regions,
            "regions_reached": replayed.reached,
            "classes": replayed.merged,
            "rows_outside": replayed.outside,
            "rows_joined": replayed.joined,
        },
        "stages": [],
        "audits": [],
        "collection": {"collector": "curator", "guarantees": None, "simulated": False},
        "integrity": None,
    }


def _load(replay: Transformation, source: Csv | Parquet, context: StageContext) -> Table:
    """Load the new rows; rows are not taken for persons where they are none.

    An identifier is not published, and new rows may lack it.
    """
    there = source.columns()
    schema = Schema(
        tuple(
            column
            for column in replay.schema
            if column.is_published or column.role != "identifier" or column.name in there
        )
    )
    table = source.load(schema, context)
    for text in lookalike_warnings(table):
        context.warn(text, privacy=True)
    refuse_shared_identifiers(table, replay.unit)
    warn_of_person_numbers(source, schema, len(table), replay.unit, context)
    return table


def _replay_and_check(
    replay: Transformation, table: Table, registry: Registry, rule: Suppression
) -> tuple[Replay, Release, ModelVerdicts]:
    """Publish the rows by the regions, and judge the result as the earlier run was judged.

    Regions that too few new rows fall into were merged. Where a class still does not hold, it is
    withheld whole if the limit allows suppression at all.
    """
    models = tuple(
        (item["model"], _model(registry, item["model"], item["parameters"]))
        for item in replay.privacy
    )
    if not set(rule.keep).isdisjoint(name for _, model in models for name in model.judged):
        raise DataError("the transformation is damaged: starred rows would keep what is judged")
    guard = Guard(tuple(model for _, model in models))
    refuse_hopeless(models, guard, table)
    replayed = replay.apply(table, guard)

    def judge(release: Release) -> ModelVerdicts:
        return judge_models(release, models, persons_behind(release, replayed.table))

    release, verdicts = withhold_failing(replayed.release, rule, judge, lambda: rule.at_most > 0)
    refuse_broken_models(verdicts)
    refuse_telling_stars(release, rule.keep)
    refuse_excess_suppression(release, rule.at_most)
    return replayed, release, verdicts


def _write(release: Release, report: dict[str, Any], transformation: str, folder: Path) -> None:
    public, private = folder / "public", folder / "private"
    public.mkdir()
    private.mkdir(mode=0o700)
    # Without a salt a digest of something private could be guessed and tried: it stays private.
    write_json(private / "run.json", {"transformation_digest": transformation})
    write_csv(release.frame, public / "release.csv", release.schema.of_type("time"))
    write_parquet(release, public / "release.parquet")
    manifest = {
        "format": 1,
        "name": report["name"],
        "created": report["created"],
        "versions": package_versions(),
        "outputs": digests(public),
    }
    write_json(public / MANIFEST, manifest)
    write_json(public / "report.json", {**report, "manifest": manifest})
    (public / "report.txt").write_text(record_text(report), encoding="utf-8")


def _read(path: Path) -> Transformation:
    try:
        content = read_json(path)
    except FileNotFoundError:
        raise DataError(f"{path}: there is no such file") from None
    except (OSError, ValueError):
        raise DataError(f"{path}: cannot be read as JSON") from None
    try:
        return Transformation.read(content)
    except DataError as error:
        raise DataError(f"{path}: {error}") from None


def _model(registry: Registry, name: str, parameters: dict[str, Any]) -> PrivacyModel:
    given = {key: value for key, value in parameters.items() if value is not None}
    try:
        model: PrivacyModel = build(registry.load("privacy", name), given)
    except InvalidValue:
        raise DataError(
            f"the transformation is damaged: these are no parameters of {name}"
        ) from None
    return model
