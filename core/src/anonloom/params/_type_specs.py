"""What an annotation allows: exact types, read from Python or from YAML values.

``True`` is no integer and ``"3"`` is no number, because a pipeline that means something else than
it says must not run. An integer is taken for a number, a list for a tuple, a text for a path.
"""

import math
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import attrs

from anonloom._spec.scalars import meaning
from anonloom._spelling import did_you_mean
from anonloom.api import Kind

#: Finds the class of a method from its kind's key and its name.
Load = Callable[[str, str], type]

Step = str | int


@attrs.frozen
class FieldError:
    """One thing that is wrong with a value, at a path below it.

    Parameters
    ----------
    path : tuple of str and int
        Keys and indices that lead to the part that is wrong.
    what, hint : str
        As in `anonloom.errors.Problem`.
    at_key : bool
        Whether the key itself is wrong, not what it holds.
    secret : bool
        Whether the line that holds the value must not be shown.
    """

    path: tuple[Step, ...]
    what: str
    hint: str = ""
    at_key: bool = False
    secret: bool = False

    def below(self, *steps: Step) -> "FieldError":
        """Return the same error, seen from further above."""
        return attrs.evolve(self, path=(*steps, *self.path))


class InvalidValue(Exception):
    """A value is not what its spec allows."""

    def __init__(self, errors: list[FieldError]) -> None:
        super().__init__("; ".join(error.what for error in errors))
        self.errors = errors


@attrs.frozen
class ParseContext:
    """How values are read.

    Parameters
    ----------
    load : callable or None
        Finds nested methods by name; None when the values come from Python.
    folder : Path or None
        What relative paths are relative to; None leaves them as they are.
    build : callable
        Builds a nested method from its class, its YAML values and its name.
    """

    load: Load | None = None
    folder: Path | None = None
    build: Callable[[type, Mapping[str, object], "ParseContext", str], object] | None = None

    @property
    def null(self) -> str:
        """What the absent value is called where the values come from."""
        return "None" if self.load is None else "null"

    def show(self, value: object) -> str:
        """Return a value as its writer would have written it."""
        if self.load is None:
            return shorten(repr(value))
        if value is None:
            return "null"
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, Mapping):
            return "a mapping"
        if isinstance(value, list | tuple):
            text = repr(list(value))
            return text if value and len(text) <= 60 else "a list" if value else "an empty list"
        return shorten(repr(value))


def shorten(text: str) -> str:
    """Return a text that fits into a message: its beginning, if it is long."""
    return text if len(text) <= 80 else f"{text[:77]}..."


@attrs.frozen
class TypeSpec:
    """Any value: the spec of ``object`` and ``Any``."""

    def words(self, context: ParseContext) -> str:
        """Return what messages call such a value: 'an integer'."""
        return "a value"

    def plural(self) -> str:
        """Return what messages call several of them: 'integers'."""
        return "values"

    def fits(self, value: object) -> bool:
        """Return whether the value is of this type, whatever is inside it."""
        return True

    def read(self, value: object, context: ParseContext) -> object:
        """Return the value as the method will see it, or raise `InvalidValue`."""
        return value

    def choices(self) -> tuple[str, ...]:
        """Return the texts that can be misspelt."""
        return ()

    def schema(self, of_kind: Callable[[Kind], dict[str, object]]) -> dict[str, object]:
        """Return the JSON schema; `of_kind` gives that of a nested method."""
        return {}


SCALARS: dict[type, tuple[str, str, str]] = {
    bool: ("true or false", "truth values", "boolean"),
    int: ("an integer", "integers", "integer"),
    float: ("a number", "numbers", "number"),
    str: ("text", "texts", "string"),
    Path: ("a path", "paths", "string"),
}


@attrs.frozen
class Scalar(TypeSpec):
    """One of the simple types."""

    type: type

    def words(self, context: ParseContext) -> str:
        """Return the type's name."""
        return SCALARS[self.type][0]

    def plural(self) -> str:
        """Return the type's name for several."""
        return SCALARS[self.type][1]

    def fits(self, value: object) -> bool:
        """Return whether the value has exactly this type."""
        if self.type is float:
            # Neither NaN nor infinity: no parameter means anything by them, and JSON lacks them.
            return _is_finite(value)
        if self.type is int:
            return _is_counted(value)
        if self.type is Path:
            # No system has paths with NUL, and every call that meets one fails in its own way.
            return isinstance(value, str | Path) and str(value) != "" and "\0" not in str(value)
        if self.type is str:
            return isinstance(value, str)
        return type(value) is self.type

    def read(self, value: object, context: ParseContext) -> object:
        """Return the value; a text becomes a path, an integer a number."""
        if self.type is float:
            return float(value)  # type: ignore[arg-type]  # `fits` came first
        if self.type is Path:
            path = Path(value)  # type: ignore[arg-type]  # `fits` came first
            return path if context.folder is None else context.folder / path
        return value

    def schema(self, of_kind: Callable[[Kind], dict[str, object]]) -> dict[str, object]:
        """Return the type."""
        return {"type": SCALARS[self.type][2]}


def _is_finite(value: object) -> bool:
    if type(value) is int:
        # Python's integers know no end, floats do.
        return abs(value) <= sys.float_info.max
    return isinstance(value, float) and math.isfinite(value)


def _is_counted(value: object) -> bool:
    """Whether a value is an integer that arrays and other programs can hold."""
    return type(value) is int and -(2**63) <= value < 2**63


@attrs.frozen
class Nothing(TypeSpec):
    """The absent value."""

    def words(self, context: ParseContext) -> str:
        """Return the word for it in YAML or in Python."""
        return context.null

    def fits(self, value: object) -> bool:
        """Return whether the value is absent."""
        return value is None

    def schema(self, of_kind: Callable[[Kind], dict[str, object]]) -> dict[str, object]:
        """Return the type."""
        return {"type": "null"}


@attrs.frozen
class Choice(TypeSpec):
    """One of the values of a `Literal`."""

    values: tuple[object, ...]

    def words(self, context: ParseContext) -> str:
        """Return the values in a row."""
        shown = ", ".join(context.show(value) for value in self.values)
        return shown if len(self.values) == 1 else f"one of {shown}"

    def plural(self) -> str:
        """Return the values in a row."""
        return ", ".join(map(repr, self.values))

    def fits(self, value: object) -> bool:
        """Return whether the value is one of them; 1 and True are different."""
        return any(value == choice and type(value) is type(choice) for choice in self.values)

    def choices(self) -> tuple[str, ...]:
        """Return the texts among the values."""
        return tuple(value for value in self.values if isinstance(value, str))

    def schema(self, of_kind: Callable[[Kind], dict[str, object]]) -> dict[str, object]:
        """Return the values."""
        return {"enum": list(self.values)}


@attrs.frozen
class Row(TypeSpec):
    """A list of equals, ``tuple[X, ...]``, or one with fixed places, ``tuple[X, Y]``."""

    elements: tuple[TypeSpec, ...]
    endless: bool

    def words(self, context: ParseContext) -> str:
        """Return what the list holds."""
        if self.endless:
            return f"a list of {self.elements[0].plural()}"
        return f"a list of {' and '.join(spec.words(context) for spec in self.elements)}"

    def plural(self) -> str:
        """Return what messages call several lists."""
        return "lists"

    def fits(self, value: object) -> bool:
        """Return whether the value is a list of the right length."""
        if not isinstance(value, list | tuple):
            return False
        return self.endless or len(value) == len(self.elements)

    def read(self, value: object, context: ParseContext) -> object:
        """Return the list as a tuple."""
        assert isinstance(value, list | tuple)
        specs = self.elements * len(value) if self.endless else self.elements
        result, errors = [], []
        for index, (spec, element) in enumerate(zip(specs, value, strict=True)):
            try:
                result.append(read(spec, element, context))
            except InvalidValue as invalid:
                errors += [error.below(index) for error in invalid.errors]
        if errors:
            raise InvalidValue(errors)
        return tuple(result)

    def schema(self, of_kind: Callable[[Kind], dict[str, object]]) -> dict[str, object]:
        """Return the list and its elements."""
        if self.endless:
            return {"type": "array", "items": self.elements[0].schema(of_kind)}
        size = len(self.elements)
        items = [spec.schema(of_kind) for spec in self.elements]
        return {"type": "array", "prefixItems": items, "minItems": size, "maxItems": size}


@attrs.frozen
class MappingSpec(TypeSpec):
    """A mapping from texts, ``dict[str, X]``."""

    element: TypeSpec

    def words(self, context: ParseContext) -> str:
        """Return what the mapping holds."""
        return f"a mapping of names to {self.element.plural()}"

    def plural(self) -> str:
        """Return what messages call several mappings."""
        return "mappings"

    def fits(self, value: object) -> bool:
        """Return whether the value is a mapping with texts as keys."""
        return isinstance(value, Mapping) and all(isinstance(key, str) for key in value)

    def read(self, value: object, context: ParseContext) -> object:
        """Return a copy with every element read."""
        assert isinstance(value, Mapping)
        result, errors = {}, []
        for key, element in value.items():
            try:
                result[key] = read(self.element, element, context)
            except InvalidValue as invalid:
                errors += [error.below(key) for error in invalid.errors]
        if errors:
            raise InvalidValue(errors)
        return result

    def schema(self, of_kind: Callable[[Kind], dict[str, object]]) -> dict[str, object]:
        """Return the mapping and its elements."""
        return {"type": "object", "additionalProperties": self.element.schema(of_kind)}


@attrs.frozen
class Either(TypeSpec):
    """A union; the first member that fits reads the value."""

    members: tuple[TypeSpec, ...]

    def words(self, context: ParseContext) -> str:
        """Return the members' words."""
        return " or ".join(member.words(context) for member in self.members)

    def plural(self) -> str:
        """Return the members' words for several."""
        return " or ".join(member.plural() for member in self.members)

    def fits(self, value: object) -> bool:
        """Return whether any member fits."""
        return any(member.fits(value) for member in self.members)

    def read(self, value: object, context: ParseContext) -> object:
        """Return what the first member that fits makes of the value."""
        return next(m for m in self.members if m.fits(value)).read(value, context)

    def choices(self) -> tuple[str, ...]:
        """Return the choices of all members."""
        return tuple(choice for member in self.members for choice in member.choices())

    def schema(self, of_kind: Callable[[Kind], dict[str, object]]) -> dict[str, object]:
        """Return the members."""
        return {"anyOf": [member.schema(of_kind) for member in self.members]}


@attrs.frozen
class Instance(TypeSpec):
    """An object of some class, which YAML cannot write."""

    cls: type

    def words(self, context: ParseContext) -> str:
        """Return the class's name."""
        name = self.cls.__name__
        return f"{'an' if name[0] in 'AEIOU' else 'a'} {name}"

    def plural(self) -> str:
        """Return the class's name for several."""
        return f"{self.cls.__name__} objects"

    def fits(self, value: object) -> bool:
        """Return whether the value is such an object."""
        return isinstance(value, self.cls)


class ParameterGroup:
    """Base of parameters that a method takes together: in YAML a mapping.

    A group is a frozen attrs class whose fields are made by `param()`; a method has a parameter
    with the group as its annotation.
    """


@attrs.frozen
class Group(Instance):
    """Parameters that belong together: an instance in Python, a mapping in YAML.

    Attributes
    ----------
    names
        What the mapping may have.
    """

    names: tuple[str, ...]

    def words(self, context: ParseContext) -> str:
        """Return what the mapping may have."""
        if context.load is None:
            return super().words(context)
        return f"a mapping with any of {', '.join(self.names)}"

    def fits(self, value: object) -> bool:
        """Return whether the value is such a group, or can be made one."""
        return isinstance(value, (Mapping, self.cls))

    def read(self, value: object, context: ParseContext) -> object:
        """Return the group, built when it is given as a mapping."""
        if isinstance(value, self.cls):
            return value
        if context.load is None or context.build is None:
            raise InvalidValue([mismatch(self, value, context)])
        assert isinstance(value, Mapping)
        return context.build(self.cls, value, context, "this group")


def _takes_text(spec: TypeSpec) -> bool:
    members = spec.members if isinstance(spec, Either) else (spec,)
    return Scalar(str) in members


def _is_quoted(spec: TypeSpec, text: str) -> bool:
    """Return whether the text would fit if it were written without quotes."""
    try:
        plain = meaning(text)
    except ValueError:
        return False
    return plain is not None and not isinstance(plain, str) and spec.fits(plain)


def mismatch(spec: TypeSpec, value: object, context: ParseContext, words: str = "") -> FieldError:
    """Return the sentence "must be ... Got ... instead."."""
    hint = ""
    if isinstance(value, str):
        hint = did_you_mean(value, spec.choices())
        if not hint and context.load is not None and _is_quoted(spec, value):
            hint = f"write it without quotes: {value}"
    elif type(value) is int and not _is_counted(value):
        hint = "an integer has at most 64 bits"
    elif context.load is not None and isinstance(value, int | float) and _takes_text(spec):
        hint = f"write it in quotes: '{context.show(value)}'"
    what = f"must be {words or spec.words(context)}. Got {context.show(value)} instead."
    return FieldError((), what, hint)


def read(spec: TypeSpec, value: object, context: ParseContext) -> object:
    """Return `value` as its spec has it, or raise `InvalidValue`."""
    if not spec.fits(value):
        raise InvalidValue([mismatch(spec, value, context)])
    return spec.read(value, context)
