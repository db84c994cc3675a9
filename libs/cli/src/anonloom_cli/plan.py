"""`anonloom plan`: what a pipeline would do, defaults included, without doing it."""

import argparse
import json
from collections.abc import Iterator
from itertools import groupby
from os.path import normpath

import attrs

from anonloom import Registry
from anonloom.errors import comma_list
from anonloom.params import as_values
from anonloom.spec import MethodUse, PipelineSpec
from anonloom_cli.pipeline_file import add_pipeline_arguments, load
from anonloom_cli.survey import survey

__all__ = [
    "plan",
]


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_pipeline_arguments(parser)


def execute(arguments: argparse.Namespace) -> int:
    """Print the plan."""
    for line in plan(load(arguments), Registry.installed()):
        print(line)
    return 0


def plan(spec: PipelineSpec, registry: Registry) -> Iterator[str]:
    """Return the lines of the plan."""
    yield f"pipeline {spec.name}"
    seed = "drawn for each run" if spec.seed is None else str(spec.seed)
    yield f"  seed: {seed}"
    if spec.local_code:
        yield "  runs local code that belongs to no package"
    yield from _data(spec, registry)
    yield from _privacy(spec, registry)
    yield "collect"
    yield from _use(spec.collect, registry)
    yield from (f"    {line}" for line in spec.collect.method.plan(None, spec.data.schema))
    yield "stages"
    for use in spec.stages:
        yield from _use(use, registry, show_id=True)
    if not spec.stages:
        yield "  none: the table is published as it is, if privacy allows"
    if spec.audit:
        yield "audit"
    for audit in spec.audit:
        yield from _use(audit, registry, show_id=True)
        yield from (f"    refuses the release if {condition}" for condition in audit.fail_if)
    for key, uses in groupby(spec.sections, key=lambda use: use.kind):
        yield key
        for use in uses:
            yield from _use(use, registry, show_id=True)
    yield from _publish(spec, registry)
    if spec.engine is not None:
        yield "engine"
        yield from _use(spec.engine, registry)
    if spec.grid:
        yield f"vary: {len(spec.grid)} runs"
        yield from (f"  {case.label}" for case in spec.grid[:10])
        if len(spec.grid) > 10:
            yield f"  and {len(spec.grid) - 10} more"


def _data(spec: PipelineSpec, registry: Registry) -> Iterator[str]:
    yield "data"
    yield from _use(spec.data.source, registry)
    if spec.data.holdout:
        yield f"  holdout: {spec.data.holdout:g} of the rows"
    width = max(len(name) for name in spec.data.schema.names)
    for column in spec.data.schema:
        if column.role == "quasi":
            becomes = f"published as {column.form}"
        elif column.pseudonymize:
            becomes = "published as a pseudonym"
        else:
            becomes = "published as it is" if column.is_published else "not published"
        yield f"  {column.name:<{width}}  {column.role}, {column.type}, {becomes}"
    seen = survey(spec.data)
    if seen.note:
        yield f"  the data were not looked at: {seen.note}"
    undeclared = seen.undeclared_columns(spec.data)
    if undeclared:
        yield f"  not declared, therefore not published: {comma_list(undeclared)}"
    absent = seen.absent_columns(spec.data)
    if absent:
        yield f"  declared, but not in the source: {comma_list(absent)}"


def _privacy(spec: PipelineSpec, registry: Registry) -> Iterator[str]:
    yield "privacy"
    for use in spec.privacy:
        yield from _use(use, registry)
    if not spec.privacy:
        yield "  none: the release is not protected by any model"
    kept = "kept as '*'" if spec.suppression.rows == "star" else "left out"
    if spec.suppression.keep:
        kept += f" with their {comma_list(spec.suppression.keep)}"
    yield f"  suppression: at most {spec.suppression.at_most:g} of the rows, {kept}"


def _publish(spec: PipelineSpec, registry: Registry) -> Iterator[str]:
    publish = spec.publish
    yield "publish"
    # Tidied for reading only: '..' behind a link would mean another folder.
    yield f"  to: {normpath(publish.to) if publish.to else 'nowhere: publish.to is not set'}"
    yield f"  formats: {comma_list(publish.formats)}"
    if publish.integrity is not None:
        name = registry.name_of(type(publish.integrity))
        yield f"  integrity: {name}{_parameters(publish.integrity, registry)}"
    names = [registry.name_of(type(reporter)) for reporter in publish.reporters or ()]
    yield f"  reporters: {comma_list(names)}"
    yield f"  rows: {'shuffled' if publish.shuffle else 'in the order of the input'}"
    yield f"  transformation: {'public' if publish.transformation else 'private'}"


def _use(use: MethodUse, registry: Registry, show_id: bool = False) -> Iterator[str]:
    name = f"  {use.kind}: {use.name}" + (
        f" (id {use.id})" if show_id and use.id != use.kind else ""
    )
    yield f"{name}{_parameters(use.method, registry)}  [{use.entry.owner}]"


def _parameters(method: object, registry: Registry) -> str:
    values = as_values(method, registry.name_of, redact=True) if attrs.has(type(method)) else {}
    if not values:
        return ""
    return f" {_flow(values)}"


def _flow(value: object) -> str:
    """Return a value as YAML in one line, near enough for reading."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key}: {_flow(below)}' for key, below in value.items())}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(_flow(below) for below in value)}]"
    plain = isinstance(value, str) and value.replace("-", "_").isidentifier()
    return str(value) if plain else json.dumps(value)
