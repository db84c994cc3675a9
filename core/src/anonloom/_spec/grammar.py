"""The grammar of a pipeline file: one function per section."""

import re
from collections.abc import Collection
from pathlib import Path
from typing import Literal, TypeVar

import attrs

from anonloom._registry.registry import Registry
from anonloom._spec.columns import check_bounds, read_columns
from anonloom._spec.conditions import read_conditions
from anonloom._spec.cursor import Cursor
from anonloom._spec.document import Node
from anonloom._spec.methods import MethodBuilder
from anonloom._spec.model import (
    Audit,
    Data,
    MethodUse,
    PipelineSpec,
    Publish,
    Suppression,
    Unit,
)
from anonloom._spec.order import check_order, check_quasi
from anonloom._spec.requirements import (
    check_collector,
    check_kept,
    check_needs,
    check_partitioned,
    check_seal,
)
from anonloom._spelling import comma_list
from anonloom.data._audit_input import Need
from anonloom.data._schema import Schema
from anonloom.errors import Problem, SpecError
from anonloom.kinds._guard import Guard
from anonloom.params import at_least, between, not_empty, param

T = TypeVar("T")

#: The keys of a pipeline file and what each is for.
SECTIONS: dict[str, str] = {
    "version": "The version of the file's format; this core reads 1.",
    "name": "The pipeline's name; by default that of the file.",
    "seed": "Seed of the algorithms. Keys and coins always use the system's randomness.",
    "data": "The source of the table and the role of every column that may be published.",
    "privacy": "The privacy models that the release must satisfy, or 'none', written out.",
    "suppression": "How many rows may be suppressed, and what becomes of them.",
    "collect": "How rows reach the one who runs the stages; by default a trusted curator.",
    "stages": "The methods that make the release, in order.",
    "audit": "What is measured on the release before it is published, and what stops it.",
    "publish": "What is written, where and how.",
    "engine": "What runs the pipeline; by default the installed engine that offers to.",
    "vary": "An experiment: a product of paths, a list of cases, or both.",
}


def sections_of(registry: Registry) -> dict[str, str]:
    """Return the keys of a pipeline file and what each is for, those of plugins' kinds included."""
    own = {
        kind.key: f"The {kind.plural}, which examine the release before it is written."
        for kind in registry.kinds.sections()
    }
    return SECTIONS | own


_NEEDED = ("version", "data", "privacy")
_ID = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
# Names of what a run announces beside its stages and audits.
_TAKEN = ("source", "collector", "engine")


@attrs.frozen
class Header:
    """The simple keys of a pipeline file."""

    version: Literal[1] = param(help=SECTIONS["version"])
    name: str | None = param(help=SECTIONS["name"], default=None, check=not_empty())
    seed: int | None = param(help=SECTIONS["seed"], default=None, check=at_least(0))

    def __repr__(self) -> str:
        # A message about a wrong seed may show it; what was accepted is a secret.
        return f"Header(version={self.version}, name={self.name!r})"


@attrs.frozen
class DataOptions:
    """The simple keys of `data`."""

    unit: Unit = param(
        help="What is counted: `person`, by the column with that role or else by rows; or "
        "`record`, and nothing is said of persons.",
        default="person",
    )
    holdout: float = param(
        help="The share of rows that is taken out before any stage, for audits that need people "
        "who are not in the release.",
        default=0.0,
        check=between(0, 1, most_open=True),
    )
    other_releases: tuple[Path, ...] = param(
        help="Files (CSV or Parquet) of other releases of the same population, for audits of what "
        "several releases reveal together.",
        default=(),
        private=True,
    )


def read_pipeline(
    document: Node,
    registry: Registry,
    *,
    folder: Path,
    file: Path | None = None,
    allow_local_code: bool = False,
    evidence: Collection[Need] = (),
) -> PipelineSpec:
    """Read a document that varies nothing.

    Raises
    ------
    SpecError
        With every problem of the document.
    """
    problems: list[Problem] = []
    root = Cursor(document, (), problems)
    builder = MethodBuilder(registry, folder, allow_local_code, frozenset(evidence))
    fields = root.fields(sections_of(registry), "a pipeline")
    if fields is None:
        raise SpecError(problems)
    header = _header(root, fields, builder)
    for key in _NEEDED[1:]:
        if key not in fields:
            root.error(f"a pipeline needs '{key}'", SECTIONS[key])
    data = _data(fields["data"], builder) if "data" in fields else None
    taken = set(_TAKEN)
    privacy = _privacy(fields["privacy"], builder, data, taken) if "privacy" in fields else ()
    suppression = _section(root, fields, "suppression", Suppression, builder)
    if suppression and data:
        check_kept(fields.get("suppression", root), suppression, data, privacy)
    collect = _collect(root, fields.get("collect"), builder)
    check_collector(fields.get("collect", root), collect, data)
    judged = _columns_for_stages(data, privacy) if not problems else None
    stages = _stages(fields.get("stages"), builder, data, judged, taken)
    if not problems:
        check_partitioned(fields.get("collect", root), collect, privacy, stages)
    audit = _audits(fields.get("audit"), builder, data, stages, collect, taken)
    sections = _own_sections(fields, builder, data, taken)
    publish = _publish(root, fields, builder)
    engine = builder.reference(fields["engine"], "engine") if "engine" in fields else None
    if publish and data and publish.intervals == "bounds":
        check_bounds(fields["publish"], data.schema)
    if publish:
        check_seal(fields.get("publish", root), publish.integrity, data, stages)
    if problems or not (header and data and suppression and collect and publish):
        raise SpecError(problems)
    return PipelineSpec(
        name=header.name or (file.stem if file else "pipeline"),
        seed=header.seed,
        data=data,
        privacy=privacy,
        suppression=suppression,
        collect=collect,
        stages=stages,
        audit=audit,
        publish=publish,
        document=document,
        file=file,
        local_code=builder.local_code,
        sections=sections,
        engine=engine and attrs.evolve(engine, id="engine"),
    )


def read_schema(document: Node, registry: Registry, *, folder: Path) -> Schema:
    """Read a document that only says what columns are.

    Raises
    ------
    SpecError
        With every problem of the document.
    """
    problems: list[Problem] = []
    root = Cursor(document, (), problems)
    fields = root.fields(("columns",), "a schema")
    if fields is not None and "columns" not in fields:
        root.error("a schema needs 'columns'", "the same as in 'data' of a pipeline")
    schema = None
    if fields is not None and "columns" in fields:
        schema = read_columns(fields["columns"], MethodBuilder(registry, folder))
    if problems or schema is None:
        raise SpecError(problems)
    return schema


def _header(root: Cursor, fields: dict[str, Cursor], builder: MethodBuilder) -> Header | None:
    keys = [field.name for field in attrs.fields(Header)]
    values = {key: fields[key].plain() for key in keys if key in fields}
    return builder.section(root, Header, "a pipeline", values)


def _section(
    root: Cursor, fields: dict[str, Cursor], key: str, cls: type[T], builder: MethodBuilder
) -> T | None:
    """Read a section whose keys are declared like parameters; all of them have defaults."""
    cursor = fields.get(key)
    if cursor is None or cursor.value is None:
        return builder.section(root, cls, f"'{key}'", {})
    if cursor.node.mapping is None:
        cursor.expect("a mapping")
        return None
    values = {name: node.plain() for name, node in cursor.node.mapping.items()}
    return builder.section(cursor, cls, f"'{key}'", values)


def _data(cursor: Cursor, builder: MethodBuilder) -> Data | None:
    simple_keys = [field.name for field in attrs.fields(DataOptions)]
    fields = cursor.fields(("source", "with", "columns", *simple_keys), "'data'")
    if fields is None:
        return None
    for key in ("source", "columns"):
        if key not in fields:
            cursor.error(f"'data' needs '{key}'", _DATA_HINTS[key])
    options = {key: fields[key].plain() for key in simple_keys if key in fields}
    simple = builder.section(cursor, DataOptions, "'data'", options)
    source = None
    if "source" in fields:
        source = builder.method("source", fields["source"], fields.get("with"), "source")
    schema = read_columns(fields["columns"], builder) if "columns" in fields else None
    if simple is None or source is None or schema is None:
        return None
    if simple.unit == "record" and schema.names_with_role("person"):
        fields["unit"].error(
            "'unit: record' counts records, and a column has the role 'person'",
            f"leave 'unit' out, or give {schema.names_with_role('person')[0]!r} another role",
        )
        return None
    return Data(source, schema, simple.holdout, simple.other_releases, simple.unit)


_DATA_HINTS = {
    "source": "where the table comes from, for example 'source: csv'",
    "columns": "a column that is not declared is not published",
}


def _privacy(
    cursor: Cursor, builder: MethodBuilder, data: Data | None, taken: set[str]
) -> tuple[MethodUse, ...]:
    if cursor.value == "none":
        return ()
    elements = None
    if cursor.node.items:
        elements = cursor.elements("")
    if elements is None:
        hint = "to publish without protection, write it out: none"
        if cursor.node.mapping:
            hint = "begin each model with '- '"
        cursor.expect("a list of privacy models, or none", hint)
        return ()
    results = []
    for element in elements:
        use = _model(element, builder)
        if use is None:
            continue
        use = attrs.evolve(use, id=_free(use.id, taken))
        results.append(use)
        problem = use.method.problem(data.schema) if data else None
        if problem:
            named = next(iter((element.node.mapping or {}).values()), None)
            place = element if named is None else element.below(use.name, named)
            place.error(problem, at_key=True)
    return tuple(results)


def _model(cursor: Cursor, builder: MethodBuilder) -> MethodUse | None:
    """Read ``name``, ``name: {parameters}``, or ``{privacy: name, with: {...}}``."""
    entries = cursor.node.mapping
    if entries is None or "privacy" in entries:
        return builder.reference(cursor, "privacy")
    if len(entries) != 1:
        cursor.error(
            "must be one privacy model", "put each model on a line of its own, after a '-'"
        )
        return None
    (name, node), *_ = entries.items()
    # The name is a key here, and a key has its own place.
    named = Cursor(Node(name, node.key_place or node.place), (*cursor.path, name), cursor.problems)
    return builder.method("privacy", named, cursor.below(name, node))


def _collect(root: Cursor, cursor: Cursor | None, builder: MethodBuilder) -> MethodUse | None:
    if cursor is None:
        cursor = root.below("collect", Node("curator", root.node.place))
    use = builder.reference(cursor, "collector")
    return use and attrs.evolve(use, id="collector")


def _columns_for_stages(data: Data | None, privacy: tuple[MethodUse, ...]) -> Data | None:
    """Return the columns as stages see them: what no privacy model speaks of is not theirs."""
    if data is None or not privacy:
        return data
    schema = data.schema
    named = Guard(tuple(use.method for use in privacy)).columns(schema)
    return attrs.evolve(data, schema=schema.restrict_quasi(named))


def _stages(
    cursor: Cursor | None,
    builder: MethodBuilder,
    data: Data | None,
    judged: Data | None,
    taken: set[str],
) -> tuple[MethodUse, ...]:
    elements = cursor.elements("a list of stages") if cursor is not None else []
    placed: list[tuple[Cursor, str, MethodUse | None]] = []
    known = []
    for element in elements or []:
        fields = element.fields((*builder.registry.kinds, "with", "id"), "a stage")
        kind = _stage_kind(element, fields, builder.registry) if fields is not None else None
        if fields is None or kind is None:
            continue
        named = _id(fields.get("id"), taken)
        known.append((fields, kind, named))
    for fields, kind, named in known:
        # Ids that are written come first, so that a default never takes one of them.
        use = builder.method(kind, fields[kind], fields.get("with"), named or _free(kind, taken))
        runs_as = builder.registry.kinds[kind].runs_as
        placed.append((fields[kind], runs_as, use))
        if runs_as == "mechanism":
            if use is not None:
                _check_use(fields, kind, use, data)
            # It may change which columns there are: only the run can tell what follows.
            judged = None
        elif runs_as in ("partitioner", "outliers") and use is not None:
            _check_use(fields, kind, use, judged)
    if len(known) == len(elements or []):
        check_order(placed)
        if data is not None:
            check_quasi(placed, data.schema.quasi)
    return tuple(use for _, _, use in placed if use is not None)


def _check_use(fields: dict[str, Cursor], kind: str, use: MethodUse, data: Data | None) -> None:
    """Complain of a method that does not fit the declared columns."""
    problem = use.method.problem(data.schema) if data is not None else None
    if problem:
        fields.get("with", fields[kind]).error(problem, at_key="with" in fields)


def _stage_kind(cursor: Cursor, fields: dict[str, Cursor], registry: Registry) -> str | None:
    stages = registry.kinds.under("stages")
    kinds = [key for key in fields if key in registry.kinds]
    if len(kinds) != 1:
        names = f"names {len(kinds)} methods: {comma_list(kinds)}" if kinds else "names no method"
        cursor.error(
            f"a stage has exactly one method; this one {names}",
            f"its key is one of {comma_list(stages)}",
        )
        return None
    kind = kinds[0]
    if kind in stages:
        return kind
    home = registry.kinds[kind].home
    fields[kind].error(
        f"{registry.kinds[kind].article} is no stage",
        f"it belongs under '{home}'" if home else f"stages are {comma_list(stages)}",
        at_key=True,
    )
    return None


def _own_sections(
    fields: dict[str, Cursor], builder: MethodBuilder, data: Data | None, taken: set[str]
) -> tuple[Audit, ...]:
    """Read the sections of kinds that plugins add: one method, or a list of them."""
    results = []
    for kind in builder.registry.kinds.sections():
        cursor = fields.get(kind.key)
        if cursor is None:
            continue
        listed = cursor.node.items is not None
        for element in (cursor.elements("") or []) if listed else [cursor]:
            use = builder.reference(element, kind.key)
            if use is None:
                continue
            problem = use.method.problem(data.schema) if data is not None else None
            if problem:
                element.error(problem)
            id = _free(use.id, taken)
            results.append(Audit(id, kind.key, use.entry, use.method, use.place))
    return tuple(results)


def _audits(
    cursor: Cursor | None,
    builder: MethodBuilder,
    data: Data | None,
    stages: tuple[MethodUse, ...],
    collect: MethodUse | None,
    taken: set[str],
) -> tuple[Audit, ...]:
    elements = cursor.elements("a list of auditors") if cursor is not None else []
    keys = builder.registry.kinds.under("audit")
    read: list[tuple[dict[str, Cursor], str, str]] = []
    for element in elements or []:
        if isinstance(element.value, str):
            read.append(({"auditor": element}, "auditor", ""))
            continue
        fields = element.fields((*keys, "with", "id", "fail_if"), "an audit")
        if fields is None:
            continue
        named = [key for key in keys if key in fields]
        if not named:
            element.error("an audit needs 'auditor'", "write 'auditor: NAME'")
            continue
        if len(named) > 1:
            element.error(
                f"an audit has exactly one method; this one names {comma_list(named)}",
                "put each on a line of its own, after a '-'",
            )
            continue
        read.append((fields, named[0], _id(fields.get("id"), taken)))
    results = []
    for fields, kind, own_id in read:
        use = builder.method(kind, fields[kind], fields.get("with"))
        conditions = read_conditions(fields.get("fail_if"))
        if use is None:
            continue
        check_needs(fields[kind], use, data, stages, collect, builder)
        _check_use(fields, kind, use, data)
        id = own_id or _free(use.id, taken)
        results.append(Audit(id, kind, use.entry, use.method, use.place, conditions))
    return tuple(results)


def _publish(root: Cursor, fields: dict[str, Cursor], builder: MethodBuilder) -> Publish | None:
    publish = _section(root, fields, "publish", Publish, builder)
    if publish is None or publish.reporters is not None:
        return publish
    # Where none is installed, the text and JSON that core writes are all there is.
    reporters = []
    for entry in builder.registry.methods("reporter"):
        if entry.method.default:
            name = Node(f"{entry.distribution}:{entry.name}", root.node.place)
            use = builder.reference(root.below("publish", name), "reporter")
            if use is None:
                return None
            reporters.append(use.method)
    return attrs.evolve(publish, reporters=tuple(reporters))


def _id(cursor: Cursor | None, taken: set[str]) -> str:
    """Read an id that is written; empty if there is none."""
    if cursor is None:
        return ""
    if not isinstance(cursor.value, str) or not _ID.fullmatch(cursor.value):
        cursor.expect("a word of letters, digits, '-' and '_'")
        return ""
    if cursor.value in taken:
        cursor.error(f"the id {cursor.value!r} is already used", "ids are unique in a pipeline")
    taken.add(cursor.value)
    return cursor.value


def _free(word: str, taken: set[str]) -> str:
    """Return `word`, or `word-2`, `word-3`, ... if it is taken."""
    number, free = 1, word
    while free in taken:
        number += 1
        free = f"{word}-{number}"
    taken.add(free)
    return free
