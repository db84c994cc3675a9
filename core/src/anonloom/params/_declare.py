"""Declaring a parameter: `param()`, and the rule that every value passes, however it comes.

A method is a frozen attrs class whose fields are made by `param()`. The rule sits in the field's
converter, so that a class built in Python and one built from YAML are judged by the same code.
"""

import typing
import weakref
from collections.abc import Mapping

import attrs

from anonloom._representation import of_parameter
from anonloom.errors import ParameterError
from anonloom.params._annotations import spec_of
from anonloom.params._checks import Check
from anonloom.params._type_specs import (
    Either,
    FieldError,
    InvalidValue,
    Nothing,
    ParseContext,
    TypeSpec,
    mismatch,
    read,
)

_KEY = "anonloom"


@attrs.frozen
class Param:
    """What is known of one parameter of a method.

    Parameters
    ----------
    name, help : str
        Its name and what it is for.
    spec : TypeSpec
        What its annotation allows.
    check : Check or None
        What its value must fulfil beyond its type.
    default : object
        The default, or `attrs.NOTHING` if the parameter is required.
    private : bool
        Whether the value must not be shown or recorded.
    """

    name: str
    help: str
    spec: TypeSpec
    check: Check | None
    default: object
    private: bool

    @property
    def required(self) -> bool:
        """Whether the parameter has no default."""
        return self.default is attrs.NOTHING

    def default_value(self) -> object:
        """Return the default, made anew if it comes from a factory."""
        factory = getattr(self.default, "factory", None)
        return factory() if factory is not None else self.default

    def words(self, context: ParseContext) -> str:
        """Return what the value must be: 'an integer of at least 2, or null'."""
        rule = self.check.words if self.check is not None else ""
        members = self.spec.members if isinstance(self.spec, Either) else (self.spec,)
        if rule and Nothing() in members and len(members) > 1:
            # The rule speaks of the value, not of its absence.
            some = tuple(member for member in members if member != Nothing())
            return f"{Either(some).words(context)}{rule}, or {context.null}"
        return f"{self.spec.words(context)}{rule}"

    def read(self, value: object, context: ParseContext) -> object:
        """Return the value as the method will see it.

        Raises
        ------
        InvalidValue
            With every error that the value has.
        """
        if not self.spec.fits(value):
            raise InvalidValue([self._error(value, context)])
        result = read(self.spec, value, context)
        if self.check is not None and result is not None and not self.check(result):
            raise InvalidValue([self._error(value, context)])
        return result

    def _error(self, value: object, context: ParseContext) -> FieldError:
        words = self.words(context)
        if self.private:
            what = f"must be {words}. What it got is not shown: the parameter is private."
            return attrs.evolve(mismatch(self.spec, None, context), what=what, hint="", secret=True)
        return mismatch(self.spec, value, context, words)


def param(
    *,
    help: str,
    check: Check | None = None,
    default: object = attrs.NOTHING,
    private: bool = False,
) -> typing.Any:
    """Declare a parameter of a method.

    Parameters
    ----------
    help : str
        What it is for, for listings and error messages. Required: a parameter that nobody can
        explain should not exist.
    check : Check or None
        What the value must fulfil beyond its annotation, such as ``at_least(2)``. Not applied to
        None.
    default : object
        The default; without one the parameter is required. Use `attrs.Factory` for one that has
        to be made.
    private : bool
        Whether the value is a secret: not in messages, records or ``repr``.

    Returns
    -------
    attrs field
        Keyword only.
    """
    if not help.strip():
        raise TypeError("a parameter needs a help text")
    return attrs.field(
        kw_only=True,
        default=default,
        repr=False if private else of_parameter,
        converter=attrs.Converter(_accept, takes_self=True, takes_field=True),  # type: ignore[misc, call-overload, unused-ignore]  # attrs' stubs want a converter of one type
        metadata={_KEY: (help, check, private)},
    )


def _accept(value: object, instance: object, field: "attrs.Attribute[typing.Any]") -> object:
    cls = type(instance)
    declared = params_of(cls)[field.name]
    try:
        return declared.read(value, ParseContext())
    except InvalidValue as invalid:
        error = invalid.errors[0]
        where = "".join(f"[{step!r}]" for step in error.path)
        raise ParameterError(
            f"The '{field.name}{where}' parameter of {cls.__name__} {error.what}"
        ) from None


# Weak, so that classes made by tests and notebooks can go.
_KNOWN: "weakref.WeakKeyDictionary[type, Mapping[str, Param]]" = weakref.WeakKeyDictionary()


def params_of(cls: type) -> Mapping[str, Param]:
    """Return the parameters of a method class by name, in the order of their declaration.

    Raises
    ------
    TypeError
        If `cls` is not an attrs class, a field was not made by `param()`, or an annotation is
        none that parameters can have.
    """
    if cls in _KNOWN:
        return _KNOWN[cls]
    if not attrs.has(cls):
        raise TypeError(f"{cls.__qualname__} is not an attrs class: decorate it with @attrs.frozen")
    try:
        annotations = typing.get_type_hints(cls)
    except NameError as error:
        raise TypeError(
            f"an annotation of {cls.__qualname__} cannot be read at run time ({error}): "
            "import its name outside TYPE_CHECKING"
        ) from None
    results = {}
    for field in attrs.fields(cls):
        if not field.init:
            continue
        if _KEY not in field.metadata:
            raise TypeError(f"{cls.__qualname__}.{field.name} must be declared with param()")
        text, check, private = field.metadata[_KEY]
        spec = spec_of(annotations[field.name])
        results[field.name] = Param(field.name, text, spec, check, field.default, private)
    _KNOWN[cls] = results
    return results
