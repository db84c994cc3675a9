"""Loading a pipeline: file, settings, experiment, grammar."""

from collections.abc import Collection, Sequence
from pathlib import Path

import attrs

from anonloom._registry.registry import Registry
from anonloom._spec.document import Node, read
from anonloom._spec.experiment import split
from anonloom._spec.grammar import read_pipeline, read_schema
from anonloom._spec.model import GridCase, PipelineSpec
from anonloom._spec.settings import from_command_line
from anonloom.data._audit_input import Need
from anonloom.data._schema import Schema
from anonloom.errors import Problem, SpecError, UsageError

# What files with tables are called.
_TABLES = frozenset({".csv", ".tsv", ".gz", ".parquet", ".xlsx", ".xls", ".db", ".sqlite"})
# Enough to show what is wrong with an experiment; the rest is most likely the same again.
_MOST_FAILING_RUNS = 5


def load_pipeline(
    file: Path | str,
    registry: Registry | None = None,
    *,
    settings: Sequence[str] = (),
    allow_local_code: bool = False,
    evidence: Collection[Need] = (),
) -> PipelineSpec:
    """Read and check a pipeline file.

    Parameters
    ----------
    file : Path or str
        The file; paths in it are relative to its folder.
    registry : Registry or None
        What is installed; by default that of this environment.
    settings : sequence of str
        ``path=value``, applied before anything is read.
    allow_local_code : bool
        Whether methods of the form ``./file.py:Class`` may be run.
    evidence : collection of Need
        What auditors are given beside the file.

    Raises
    ------
    SpecError
        With every problem of the file and of every run that it asks for.
    UsageError
        If the file cannot be read.
    """
    file = Path(file)
    _refuse_table(file, "a pipeline", "name the YAML file that says what is to be done with it")
    return build_pipeline(
        read(file),
        registry,
        folder=file.parent,
        file=file,
        settings=settings,
        allow_local_code=allow_local_code,
        evidence=evidence,
    )


def load_schema(file: Path | str, registry: Registry | None = None) -> Schema:
    """Read and check a file that says what columns are: `columns`, as in `data` of a pipeline.

    Raises
    ------
    SpecError
        With every problem of the file.
    UsageError
        If the file cannot be read.
    """
    file = Path(file)
    _refuse_table(file, "a schema", "name the YAML file that says what its columns are")
    return read_schema(read(file), registry or Registry.installed(), folder=file.parent)


def _refuse_table(file: Path, name: str, hint: str) -> None:
    """Refuse a table: messages about a file show its lines, and these would be cells."""
    if file.suffix.lower() in _TABLES:
        raise UsageError(f"{file}: this is a table, not {name}", hint=hint)


def build_pipeline(
    document: Node,
    registry: Registry | None = None,
    *,
    folder: Path,
    file: Path | None = None,
    settings: Sequence[str] = (),
    allow_local_code: bool = False,
    evidence: Collection[Need] = (),
) -> PipelineSpec:
    """Check a document that is already read; see `load_pipeline`."""
    registry = registry or Registry.installed()
    for text in settings:
        document = from_command_line(text).apply(document, registry.kinds)
    base, variants = split(document)

    def check(node: Node) -> PipelineSpec:
        return read_pipeline(
            node,
            registry,
            folder=folder,
            file=file,
            allow_local_code=allow_local_code,
            evidence=evidence,
        )

    if not variants:
        return check(base)
    grid: list[GridCase] = []
    problems: list[Problem] = []
    failing = 0
    for variant in variants:
        try:
            spec = check(variant.apply(base, registry.kinds))
            varied = tuple(setting.path for setting in variant.varied)
            grid.append(GridCase(variant.label, variant.values, spec, variant.name, varied))
        except SpecError as error:
            problems += error.problems
            failing += 1
        if failing == _MOST_FAILING_RUNS:
            break
    if problems:
        raise SpecError(problems)
    return attrs.evolve(grid[0].spec, grid=tuple(grid), document=document)
