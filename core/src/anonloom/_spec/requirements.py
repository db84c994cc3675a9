"""What a collector, an auditor and a seal require of the rest of a pipeline."""

from anonloom._registry.registry import Registry
from anonloom._spec.cursor import Cursor
from anonloom._spec.methods import MethodBuilder
from anonloom._spec.model import Data, MethodUse, Suppression
from anonloom.kinds._integrity import Seal


def check_collector(cursor: Cursor, collect: MethodUse | None, data: Data | None) -> None:
    """Complain of columns that a collector cannot collect."""
    problem = collect.method.problem(data.schema) if collect and data else None
    if problem:
        cursor.error(problem)


def check_seal(
    cursor: Cursor, seal: Seal | None, data: Data | None, stages: tuple[MethodUse, ...]
) -> None:
    """Complain of a seal that does not fit the columns that are published."""
    # A mechanism may change which columns there are: only the run can tell.
    if seal is None or data is None or any(use.runs_as == "mechanism" for use in stages):
        return
    problem = seal.problem(data.schema)
    if problem:
        entries = cursor.node.mapping or {}
        cursor.below("integrity", entries["integrity"]).error(problem)


def check_kept(
    cursor: Cursor, suppression: Suppression, data: Data, privacy: tuple[MethodUse, ...]
) -> None:
    """Complain of columns that a starred row must not keep."""
    if not suppression.keep:
        return
    schema = data.schema
    judged = {name: use.name for use in privacy for name in use.method.judged}
    free = [name for name in schema.names_with_role("label", "other") if name not in judged]
    can = f"a starred row can keep: {', '.join(repr(name) for name in free) or 'nothing'}"
    entries = cursor.node.mapping or {}
    place = cursor.below("keep", entries["keep"])
    elements = place.elements("") or []
    for element, name in zip(elements, suppression.keep, strict=True):
        if name not in schema:
            element.error(f"column '{name}' is not declared", can)
        elif schema[name].role not in ("label", "other"):
            role = schema[name].role
            element.error(f"a starred row cannot keep '{name}', which has role '{role}'", can)
        elif name in judged:
            element.error(
                f"a starred row cannot keep '{name}', of which {judged[name]} speaks", can
            )


def check_partitioned(
    cursor: Cursor,
    collect: MethodUse | None,
    privacy: tuple[MethodUse, ...],
    stages: tuple[MethodUse, ...],
) -> None:
    """Complain of what looks at more than a collector knows while classes are made."""
    if collect is None or collect.method.partitions_by is None:
        return
    known = collect.method.partitions_by
    before = f"with collector {collect.name!r} classes are made before"
    for use in privacy:
        unknown = sorted(use.entry.method.reads - known)
        if unknown:
            cursor.error(
                f"{before} anybody has sent {_columns(unknown)}, by which {use.name} judges them",
                "demand k-anonymity and add a sampler, which leaves open whose values are "
                "published, or write collect: curator",
            )
    for use in stages:
        unknown = sorted(use.entry.method.reads - known)
        if use.runs_as in ("partitioner", "outliers", "generalizer") and unknown:
            cursor.error(
                f"{before} anybody has sent {_columns(unknown)}, which {use.name!r} reads",
                "use another method, or write collect: curator",
            )
        elif use.runs_as == "mechanism":
            cursor.error(
                f"with collector {collect.name!r} no server ever holds a whole row, which "
                f"mechanism {use.name!r} would change",
                "leave it out, or write collect: curator",
            )
    if not any(use.runs_as == "partitioner" for use in stages):
        cursor.error(
            f"collector {collect.name!r} opens records class by class, and no stage makes classes",
            "add a partitioner and a generalizer",
        )


def _columns(roles: list[str]) -> str:
    return "columns of the role " + " and ".join(repr(role) for role in roles)


def check_needs(
    cursor: Cursor,
    use: MethodUse,
    data: Data | None,
    stages: tuple[MethodUse, ...],
    collect: MethodUse | None,
    builder: MethodBuilder,
) -> None:
    """Complain of evidence that an auditor needs and this pipeline cannot give."""
    if data is None:
        return
    ends_sampled = bool(stages) and stages[-1].runs_as == "sampler"
    missing = {
        "control": (data.holdout == 0, "rows that are held out", "write data.holdout: 0.25"),
        "other_releases": (
            not data.other_releases,
            "other releases of the same population",
            "write data.other_releases: [earlier.csv]",
        ),
        "groups": (
            not data.schema.names_with_role("group"),
            "a column with the role 'group'",
            "declare one in data.columns",
        ),
        "before_sampling": (
            not ends_sampled,
            "a sampler after the generalizer",
            "add one, or leave the auditor out",
        ),
        "trace": (
            collect is not None and not collect.method.traced,
            "a collector that keeps a trace of what its transport carried",
            _line_for("trace", builder.registry),
        ),
    }
    for need in sorted(use.method.needs - builder.evidence):
        absent, what, hint = missing.get(need, (False, "", ""))
        if absent:
            cursor.error(f"auditor {use.name!r} needs {what}", hint)


def _line_for(need: str, registry: Registry) -> str:
    """Return what to write so that a collector gives an auditor what it needs."""
    lines = (dict(entry.method.evidence).get(need) for entry in registry.methods("collector"))
    line = next(filter(None, lines), None)
    return f"write {line}" if line else "no collector that is installed can give it"
