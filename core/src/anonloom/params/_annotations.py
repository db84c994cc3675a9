"""From an annotation to its spec, methods inside methods included."""

import types
import typing
from collections.abc import Callable, Mapping

import attrs

from anonloom._registry.kinds import kind_of_class
from anonloom.api import Kind
from anonloom.errors import FaultyPluginError, PluginError
from anonloom.params._type_specs import (
    SCALARS,
    Choice,
    Either,
    FieldError,
    Group,
    Instance,
    InvalidValue,
    MappingSpec,
    Nothing,
    ParameterGroup,
    ParseContext,
    Row,
    Scalar,
    Step,
    TypeSpec,
    mismatch,
)


@attrs.frozen
class MethodSpec(Instance):
    """A method of a kind: an instance in Python; in YAML a name, or kind, name and ``with``."""

    kind: Kind

    def words(self, context: ParseContext) -> str:
        """Return the kind's name."""
        return self.kind.article

    def plural(self) -> str:
        """Return the kind's name for several."""
        return self.kind.plural

    def fits(self, value: object) -> bool:
        """Return whether the value is, or can name, a method."""
        return isinstance(value, (str, Mapping, self.cls))

    def read(self, value: object, context: ParseContext) -> object:
        """Return the method, built when it is given by name."""
        if isinstance(value, self.cls):
            return value
        if context.load is None or context.build is None:
            raise InvalidValue([mismatch(self, value, context)])
        key = self.kind.key
        if isinstance(value, str):
            return self._build((), value, (), {}, context)
        assert isinstance(value, Mapping)
        unknown = [name for name in value if name not in (key, "with")]
        if unknown or not isinstance(value.get(key), str):
            raise InvalidValue([FieldError((), *self._form(value))])
        given = value.get("with", {})
        if not isinstance(given, Mapping):
            what = f"must be a mapping of parameters. Got {context.show(given)} instead."
            raise InvalidValue([FieldError(("with",), what)])
        return self._build((key,), value[key], ("with",), given, context)

    def _form(self, value: Mapping[str, object]) -> tuple[str, str]:
        return (
            f"must be {self.kind.article}: a name, or a mapping with '{self.kind.key}' and 'with'",
            f"write {{{self.kind.key}: NAME, with: {{...}}}}",
        )

    def _build(
        self,
        name_at: tuple[Step, ...],
        name: str,
        values_at: tuple[Step, ...],
        values: Mapping[str, object],
        context: ParseContext,
    ) -> object:
        assert context.load is not None
        assert context.build is not None
        try:
            cls = context.load(self.kind.key, name)
        except FaultyPluginError:
            raise
        except PluginError as error:
            raise InvalidValue([FieldError(name_at, error.what, error.hint)]) from None
        if not issubclass(cls, self.cls):
            what = f"{self.kind.name} {name!r} is not {Instance(self.cls).words(context)}"
            raise InvalidValue([FieldError(name_at, what)])
        try:
            return context.build(cls, values, context, name)
        except InvalidValue as invalid:
            # What concerns the method as a whole is said at its name.
            raise InvalidValue(
                [t.below(*(values_at if t.path else name_at)) for t in invalid.errors]
            ) from None

    def schema(self, of_kind: Callable[[Kind], dict[str, object]]) -> dict[str, object]:
        """Return the schema of the kind."""
        return of_kind(self.kind)


# Literals before texts, and texts before methods: the narrower member of a union reads first.
_ORDER = (Choice, Scalar, Row, MappingSpec, Instance, Group, MethodSpec, Nothing)


def spec_of(annotation: object) -> TypeSpec:
    """Return the spec that an annotation describes.

    Raises
    ------
    TypeError
        If parameters cannot have this annotation: a mistake of the method's author.
    """
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if annotation is None or annotation is type(None):
        return Nothing()
    if annotation is object or annotation is typing.Any:
        return TypeSpec()
    if origin is typing.Literal:
        return Choice(arguments)
    if origin in (typing.Union, types.UnionType):
        members = [spec_of(argument) for argument in arguments]
        return Either(tuple(sorted(members, key=_rank)))
    if origin is tuple and arguments:
        endless = len(arguments) == 2 and arguments[1] is Ellipsis
        return Row(tuple(spec_of(a) for a in arguments if a is not Ellipsis), endless)
    if origin is dict or (isinstance(origin, type) and issubclass(origin, Mapping)):
        if arguments[0] is not str:
            raise TypeError(f"a parameter's mapping must have text keys, not {annotation!r}")
        return MappingSpec(spec_of(arguments[1]))
    if isinstance(annotation, type) and origin is None:
        if annotation in SCALARS:
            return Scalar(annotation)
        kind = kind_of_class(annotation)
        if kind is not None:
            return MethodSpec(annotation, kind)
        if issubclass(annotation, ParameterGroup):
            fields = attrs.fields(annotation)  # type: ignore[arg-type]  # a group is an attrs class
            return Group(annotation, tuple(field.name for field in fields))
        if annotation not in (list, dict, tuple, set, frozenset):
            return Instance(annotation)
    raise TypeError(
        f"a parameter cannot have the annotation {annotation!r}: use int, float, bool, str, Path, "
        "Literal, tuple[X, ...], dict[str, X], a kind's base class, or a union of these"
    )


def _rank(spec: TypeSpec) -> int:
    return next((i for i, cls in enumerate(_ORDER) if type(spec) is cls), len(_ORDER))
