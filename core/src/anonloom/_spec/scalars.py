"""What a plain word in a YAML file means: the scalars of YAML 1.2.

YAML 1.1, which PyYAML speaks, turns ``no`` into false, ``12:30`` into 750, ``01234`` into 668 and
``2024-01-01`` into a date, and leaves ``1e-3`` a text. A country code, a time, a postal code and a
date are texts here, and ``1e-3`` is a number.
"""

import re

_NULL = re.compile(r"~|null|Null|NULL|")
_TRUE = re.compile(r"true|True|TRUE")
_FALSE = re.compile(r"false|False|FALSE")
# A leading zero makes a code, not a number: it would be lost on the way.
_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_BASED = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_INFINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)")
_NAN = re.compile(r"\.(?:nan|NaN|NAN)")

#: A longer number is a mistake or an attack; Python itself refuses to read many more digits.
LONGEST_NUMBER = 400

Scalar = str | int | float | bool | None


def meaning(word: str) -> Scalar:
    """Return what a word without quotes stands for.

    Raises
    ------
    ValueError
        If it is a number with more digits than anyone can mean.
    """
    if _NULL.fullmatch(word):
        return None
    if _TRUE.fullmatch(word):
        return True
    if _FALSE.fullmatch(word):
        return False
    if _INFINITE.fullmatch(word):
        return float(word.lower().replace(".inf", "inf"))
    if _NAN.fullmatch(word):
        return float("nan")
    whole, broken = _INTEGER.fullmatch(word), _FLOAT.fullmatch(word)
    if (whole or broken) and len(word) > LONGEST_NUMBER:
        raise ValueError(f"this is a number of {len(word)} characters")
    if whole:
        return int(word)
    if _BASED.fullmatch(word):
        if len(word) > LONGEST_NUMBER:
            raise ValueError(f"this is a number of {len(word)} characters")
        return int(word, 0)
    if broken:
        return float(word)
    return word
