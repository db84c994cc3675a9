"""Parameters of methods: declared once, with help, exact types and checks."""

from anonloom.params._build import REDACTED, ParameterDescription, as_values, build, describe
from anonloom.params._checks import (
    Check,
    above,
    all_of,
    at_least,
    at_most,
    below,
    between,
    distinct,
    each,
    not_empty,
    one_of,
)
from anonloom.params._declare import Param, param, params_of
from anonloom.params._type_specs import FieldError, InvalidValue, ParameterGroup, shorten

__all__ = [
    "param",
    "Check",
    "above",
    "all_of",
    "at_least",
    "at_most",
    "below",
    "between",
    "distinct",
    "each",
    "not_empty",
    "one_of",
    "build",
    "as_values",
    "describe",
    "ParameterDescription",
    "InvalidValue",
    "Param",
    "ParameterGroup",
    "REDACTED",
    "FieldError",
    "params_of",
    "shorten",
]
