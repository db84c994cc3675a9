"""Parameters of methods: declared once, with help, exact types and checks."""

from anonloom.params.build import REDACTED, Described, as_values, build, describe
from anonloom.params.checks import (
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
from anonloom.params.declare import Param, param, params_of
from anonloom.params.shapes import Misfit, Trouble, shortened

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
    "Described",
    "Misfit",
    "Param",
    "REDACTED",
    "Trouble",
    "params_of",
    "shortened",
]
