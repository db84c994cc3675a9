"""Building a method from YAML values with all problems at once, and writing it back."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import attrs

from anonloom._registry.boundary import around
from anonloom._registry.kinds import kind_of_class
from anonloom._spelling import closest, did_you_mean
from anonloom.api import Kind
from anonloom.params._declare import Param, params_of
from anonloom.params._type_specs import FieldError, Group, InvalidValue, Load, ParseContext

T = TypeVar("T")

#: What stands for a private value in everything that is shown or recorded.
REDACTED = "<private>"


def build(
    cls: type[T],
    values: Mapping[str, object],
    *,
    load: Load | None = None,
    folder: Path | None = None,
    section: str = "",
    name: str = "",
) -> T:
    """Build a method from plain values.

    Parameters
    ----------
    cls : type
        The method's class.
    values : mapping
        Its parameters as YAML gives them: texts, numbers, lists, mappings.
    load : callable or None
        Finds the class of a nested method, ``load(kind, name)``; `Registry.load` does.
    folder : Path or None
        What relative paths are relative to.
    section : str
        What messages call the values if `cls` is no method but a part of a pipeline file.
    name : str
        What messages call the method: the name by which it was asked for. By default its class's.

    Raises
    ------
    InvalidValue
        With every error: unknown and missing names, wrong types, failed checks, and, if there
        are none of these, what the class itself says about the combination.
    FaultyPluginError
        If a check or a default of the method ends as no code may.
    """
    return _build(cls, values, ParseContext(load or _no_methods, folder, _build), name, section)


def _no_methods(kind: str, name: str) -> type:
    from anonloom.errors import PluginError

    raise PluginError(f"no {kind} can be named here: there is no registry to look it up in")


def _build(
    cls: type[T],
    values: Mapping[str, object],
    context: ParseContext,
    called: str = "",
    section: str = "",
) -> T:
    # Checks and defaults are code of the plugin, too.
    with around(cls):
        return _built(cls, values, context, called, section)


def _built(
    cls: type[T], values: Mapping[str, object], context: ParseContext, called: str, section: str
) -> T:
    declared = params_of(cls)
    called = called or cls.__name__
    unknown = [name for name in values if name not in declared]
    errors, grouped = _outside_group(called, unknown, values, declared, context)
    errors += [_unknown(called, name, declared, section) for name in unknown if name not in grouped]
    # A misspelt name is one mistake: the right one is not reported as missing as well.
    meant = {closest(name, declared) for name in unknown}
    results: dict[str, object] = {}
    for name, declaration in declared.items():
        if name not in values:
            if declaration.required and name not in meant:
                what = f"{called} needs the parameter '{name}'"
                if section:
                    what = f"{section} needs '{name}'"
                errors.append(FieldError((), what, declaration.help))
            continue
        try:
            results[name] = declaration.read(values[name], context)
        except InvalidValue as invalid:
            errors += [
                attrs.evolve(
                    error.below(name),
                    hint=error.hint or declaration.help,
                    secret=declaration.private,
                )
                for error in invalid.errors
            ]
    if errors:
        raise InvalidValue(errors)
    try:
        # attrs strips the leading underscores of private fields; methods have none.
        return cls(**results)
    except ValueError as error:
        # The class's own check of a combination, from __attrs_post_init__.
        raise InvalidValue([FieldError((), str(error))]) from None


def _outside_group(
    called: str,
    unknown: Sequence[str],
    values: Mapping[str, object],
    declared: Mapping[str, Param],
    context: ParseContext,
) -> tuple[list[FieldError], set[str]]:
    """Find names that stand beside the group that they belong to.

    All of one group are one mistake, told with the line to write.
    """
    errors, grouped = [], set[str]()
    for group, declaration in declared.items():
        spec = declaration.spec
        names = [name for name in unknown if isinstance(spec, Group) and name in spec.names]
        if not names:
            continue
        assert isinstance(spec, Group)
        grouped |= set(names)
        inner = values.get(group, {})
        whole = {**(inner if isinstance(inner, Mapping) else {}), **{n: values[n] for n in names}}
        members = params_of(spec.cls)
        line = ", ".join(
            f"{name}: {'...' if members[name].private else context.show(value)}"
            for name, value in whole.items()
            if name in members
        )
        quoted = " and ".join(f"'{name}'" for name in names)
        what = f"{called} takes {quoted} inside '{group}'"
        hint = f"write {group}: {{{line}}}"
        errors.append(FieldError((names[0],), what, hint, at_key=True))
    return errors, grouped


def _unknown(called: str, name: str, declared: Mapping[str, Param], section: str) -> FieldError:
    guess = did_you_mean(name, declared)
    if section:
        what = f"unknown key '{name}' in {section}"
        return FieldError((name,), what, guess or f"known: {', '.join(declared)}", at_key=True)
    takes = ", ".join(declared) or "no parameters"
    what = f"unknown parameter '{name}' for {called}"
    return FieldError((name,), what, guess or f"{called} takes {takes}", at_key=True)


@attrs.frozen
class ParameterDescription:
    """One parameter, ready to be shown.

    Parameters
    ----------
    name, help : str
        Its name and what it is for.
    words : str
        What it must be.
    required, private : bool
        Whether it has no default; whether its value is a secret.
    default : object
        The default as a plain value; None if there is none.
    schema : dict
        Its JSON schema.
    members : tuple of ParameterDescription
        What a group of parameters has; nothing otherwise.
    """

    name: str
    help: str
    words: str
    required: bool
    private: bool
    default: object
    schema: dict[str, object]
    members: tuple["ParameterDescription", ...] = ()

    def with_members(self) -> "Iterator[ParameterDescription]":
        """Yield the parameter, and those of a group after it, named by the path that YAML has."""
        yield self
        for member in self.members:
            for below in member.with_members():
                yield attrs.evolve(below, name=f"{self.name}.{below.name}")


def describe(
    cls: type,
    name_of: Callable[[type], str] | None = None,
    of_kind: Callable[[Kind], dict[str, object]] = lambda _: {},
) -> tuple[ParameterDescription, ...]:
    """Return what can be said about the parameters of a method.

    Parameters
    ----------
    cls : type
        The method's class.
    name_of : callable or None
        Names the class of a nested method, as in `as_values`.
    of_kind : callable
        Gives the JSON schema of a nested method.
    """
    context = ParseContext(_no_methods)
    with around(cls):
        return tuple(
            _describe(declared, name_of, of_kind, context) for declared in params_of(cls).values()
        )


def _describe(
    declared: Param,
    name_of: Callable[[type], str] | None,
    of_kind: Callable[[Kind], dict[str, object]],
    context: ParseContext,
) -> ParameterDescription:
    members: tuple[ParameterDescription, ...] = ()
    schema = declared.spec.schema(of_kind)
    if isinstance(declared.spec, Group):
        members = describe(declared.spec.cls, name_of, of_kind)
        schema = {
            "type": "object",
            "additionalProperties": False,
            "properties": {member.name: member.schema for member in members},
        }
    checks = declared.check.schema() if declared.check is not None else {}
    return ParameterDescription(
        declared.name,
        declared.help,
        declared.words(context),
        declared.required,
        declared.private,
        None if declared.required else _plain(declared.default_value(), name_of, False),
        {**schema, **checks, "description": declared.help},
        members,
    )


def as_values(
    method: object, name_of: Callable[[type], str] | None = None, *, redact: bool = False
) -> dict[str, object]:
    """Return the parameters of a method as plain values, from which `build` makes it again.

    Parameters
    ----------
    method : object
        A method, or anything else whose fields were declared with `param()`.
    name_of : callable or None
        Names the class of a nested method; `Registry.name_of` does. Without it nested methods
        are named by module and class.
    redact : bool
        Whether private parameters are replaced by a placeholder, and paths by their last part.
    """
    with around(type(method)):
        return {
            name: REDACTED
            if redact and declared.private and getattr(method, name) is not None
            else _plain(getattr(method, name), name_of, redact)
            for name, declared in params_of(type(method)).items()
        }


def _plain(value: object, name_of: Callable[[type], str] | None, redact: bool) -> object:
    if isinstance(value, tuple):
        return [_plain(element, name_of, redact) for element in value]
    if isinstance(value, Mapping):
        return {key: _plain(element, name_of, redact) for key, element in value.items()}
    if isinstance(value, Path):
        # Where a file lies says who keeps it; what it is called says what it is.
        return value.name if redact else str(value)
    cls = type(value)
    kind = kind_of_class(cls)
    if kind is not None:
        name = name_of(cls) if name_of else f"{cls.__module__}:{cls.__qualname__}"
        return {kind.key: name, "with": as_values(value, name_of, redact=redact)}
    if attrs.has(cls):
        return as_values(value, name_of, redact=redact)
    return value
