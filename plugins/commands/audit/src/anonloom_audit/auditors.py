"""Who judges: auditors that are named, those of a pipeline, or all that can."""

from collections.abc import Iterable, Sequence

from anonloom import AuditInput, Registry, Schema
from anonloom.errors import FaultyPluginError, PluginError, UsageError, comma_list
from anonloom.registry import Entry
from anonloom.spec import MethodUse

#: How evidence is given that two tables lack.
_GIVEN = {
    "control": "give it with --control FILE",
    "other_releases": "give them with --also FILE",
    "truth": "say which column tells whose a row is: --truth COLUMN",
    "groups": "declare a column with the role 'group': --pipeline FILE or --schema FILE",
}


def auditors_named(names: Sequence[str], registry: Registry) -> tuple[MethodUse, ...]:
    """Make the named auditors.

    Raises
    ------
    UsageError
        When one has a parameter without a default.
    """
    uses = []
    for name in dict.fromkeys(names):
        use = _with_defaults(registry.find("auditor", name), registry)
        if use is None:
            raise UsageError(
                f"auditor '{name}' has a parameter without a default",
                hint="Say what it is in a pipeline: --pipeline FILE.",
            )
        uses.append(use)
    return tuple(uses)


def all_auditors(registry: Registry) -> tuple[tuple[MethodUse, ...], dict[str, str]]:
    """Make all auditors that need no parameter; a broken one must not keep others from judging."""
    uses, skipped = [], {}
    for entry in registry.methods("auditor"):
        try:
            use = _with_defaults(entry, registry)
        except FaultyPluginError:
            raise
        except PluginError as error:
            skipped[entry.name] = error.what
            continue
        if use is not None and use.method.measures == "cost":
            skipped[entry.name] = (
                f"it measures what something costs, not the release; --auditor {entry.name} runs it"
            )
        # One that needs parameters can be used through a pipeline.
        elif use is not None:
            uses.append(use)
    return tuple(uses), skipped


def _with_defaults(entry: Entry, registry: Registry) -> MethodUse | None:
    cls = registry.load_entry(entry)
    try:
        return MethodUse(entry.name, "auditor", entry, cls())
    except TypeError:
        return None


def able_auditors(
    auditors: Iterable[MethodUse], schema: Schema, case: AuditInput, named: Sequence[str]
) -> tuple[tuple[MethodUse, ...], dict[str, str]]:
    """Divide auditors into those that can judge the case, and the others with the reason.

    Raises
    ------
    UsageError
        When one that was named is not able to, or none is.
    """
    able, skipped = [], {}
    for use in auditors:
        missing = sorted(need for need in use.method.needs if not case.has(need))
        hint = "; ".join(_GIVEN[need] for need in missing if need in _GIVEN)
        wrong = use.method.problem(schema)
        if missing:
            wrong = f"it needs {comma_list(missing)}, which two tables lack"
        if wrong and use.name in named:
            raise UsageError(f"auditor '{use.name}' cannot be used: {wrong}", hint=hint)
        if wrong:
            skipped[use.id] = f"{wrong}; {hint}" if hint else wrong
        else:
            able.append(use)
    if not able:
        raise UsageError("no installed auditor can judge two tables alone")
    return tuple(able), skipped
