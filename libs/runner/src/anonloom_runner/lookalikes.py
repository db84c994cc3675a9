"""Values that people take for one another: told apart by capitals and blanks, or by look-alikes.

They stay different values, since they may be; but whoever publishes should know. A person who
stands in the table as 'Anna', 'ANNA ' and once with a Cyrillic letter may be counted as more than
one, and a rare value may be a common one in another spelling.

The look-alikes are the idea of Unicode's confusables (UTS #39) with a small part of their table:
letters of Latin, Greek, Cyrillic and Armenian that have one shape, 0 and O, 1, l, I and |, Arabic
letters and digits of which Persian and Urdu have their own, and the sorts of hyphens, apostrophes,
quotation marks and slashes. Wide, circled or mathematical letters are folded by NFKC.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any
from unicodedata import normalize

import numpy as np
import pandas as pd

from anonloom import Column, Table
from anonloom.cells import cell_text
from anonloom.data import visible_form

__all__ = [
    "lookalike_warnings",
]

#: A shape, as a character or its code point, and the code points of the others that have it. That
#: of l is a bar, so that folding capitals afterwards does not make an L of it.
_SHAPES = """
    A:0391,0410 B:0392,0412 C:0421 E:0395,0415 F:03DC G:050C H:0397,041D J:0408,037F
    K:039A,041A M:039C,041C,03FA N:039D O:0030,039F,041E,0555 P:03A1,0420 S:0405,054F
    T:03A4,0422 U:054D V:0474 W:051C X:03A7,0425 Y:03A5,0423,04AE Z:0396 a:03B1,0430,0251
    b:042C,0184 c:0441 d:0501 e:0435,04BD g:0581,0261 h:04BB,0570 i:03B9,0456,0131
    j:0458,03F3 |:0031,0049,006C,0399,0406,04C0,04CF,01C0 n:0578,057C o:03BF,043E,0585,03C3
    p:03C1,0440 q:051B,0566,0563 r:0433 s:0455 u:03C5,057D v:03BD,0475 w:051D,0561
    x:0445,00D7 y:0443,03B3,04AF 3:0417,01B7 6:0431 -:2010,2012,2013,2014,2212,2043
    ':2018,2019,201B,2032,02B9,02BB,02BC,02BD,055A,0060 ":201C,201D,201F
    /:2044,2215 06CC:064A,0649 06A9:0643,06AA 0647:06C1,06D5 0660:06F0 0661:06F1 0662:06F2
    0663:06F3 0664:06F4 0665:06F5 0666:06F6 0667:06F7 0668:06F8 0669:06F9
"""


def _table(shapes: str) -> dict[int, str]:
    entries = (entry.rpartition(":") for entry in shapes.split())
    return {
        int(alike, 16): shape if len(shape) == 1 else chr(int(shape, 16))
        for shape, _, all_alike in entries
        for alike in all_alike.split(",")
    }


_PROTOTYPE = _table(_SHAPES)


def skeleton(text: str) -> str:
    """Write a text in the shapes of its letters: equal for texts that look alike."""
    if not text.isascii():
        # Accents apart, so that a letter with one is found by its shape.
        text = normalize("NFD", normalize("NFKC", text))
    return visible_form(text.translate(_PROTOTYPE))


def lookalike_warnings(table: Table) -> list[str]:
    """Say where values of quasi-identifiers, sensitive columns and persons may be the same.

    Returns
    -------
    list of str
        Columns and counts of values, never a value.
    """
    results = []
    for column in table.schema:
        if column.type != "category" or column.role not in ("quasi", "sensitive", "person"):
            continue
        values = _values(table, column)
        folded = [visible_form(value) for value in values]
        spelt = _count_shared(folded, values)
        if spelt:
            counted = ""
            if column.role != "quasi" and column.generalization is None:
                counted = " Models count them as one."
            results.append(
                f"Column '{column.name}': {spelt} of {len(values)} values differ from another one "
                f"only by capitals, blanks or the form of Unicode.{counted}"
            )
        like = _count_shared([skeleton(value) for value in values], folded)
        if like:
            results.append(
                f"Column '{column.name}': {like} of {len(values)} values look like another one, "
                "with letters of different alphabets, 0 and O, or 1, l and I."
            )
    return results


def _values(table: Table, column: Column) -> list[str]:
    """Return the distinct texts of a column."""
    if column.role == "quasi":
        return [str(value) for value in table.encode_column(column.name).axis.values]
    series: Any = table.column(column.name)
    if isinstance(series.dtype, pd.CategoricalDtype):
        occurring = np.bincount(series.cat.codes.to_numpy() + 1, minlength=1)[1:] > 0
        distinct = series.cat.categories[: len(occurring)][occurring]
    else:
        distinct = series.dropna().unique()
    return list({cell_text(value): None for value in distinct})


def _count_shared(keys: Sequence[str], values: Sequence[str]) -> int:
    """Count the entries whose key belongs to more than one value."""
    if len(set(keys)) == len(set(values)):
        # Equal values have equal keys, so that each value has a key of its own.
        return 0
    of_key: dict[str, set[str]] = defaultdict(set)
    for key, value in zip(keys, values, strict=True):
        of_key[key].add(value)
    return sum(len(of_key[key]) > 1 for key in keys)
