"""Whether rows are persons: what the cells of a table tell about it."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom.cells import cell_text
from anonloom.lazy import pa, pc, pd

#: Of the values of a column that may number persons, this share is distinct: sexes and illnesses
#: repeat more often, and what hardly repeats does no harm.
_FEWEST_DISTINCT, _MOST_DISTINCT = 0.10, 0.95

#: Fewer repetitions than these may agree by chance.
_LEAST_REPETITIONS = 10

#: Share of the repetitions that must agree, beyond what any two rows do by chance.
_MOSTLY = 2 / 3

_Codes = NDArray[np.int64]


def sharing_rows(cells: Any) -> int:
    """Count the rows of a column whose value another row has, too.

    Values count as their readers take them, whatever their case and the blanks around them. A
    missing cell has no value.
    """
    if pd.api.types.is_string_dtype(cells.dtype) and cells.dtype != object:
        # Identifiers hardly repeat: to find the distinct ones first would only cost.
        counts = pc.value_counts(_plain(pa.array(cells).drop_null())).field("counts").to_numpy()
        return int(counts[counts > 1].sum())
    codes, distinct = pd.factorize(cells)
    counts = np.bincount(codes[codes >= 0], minlength=len(distinct))
    if not pd.api.types.is_numeric_dtype(distinct.dtype):
        texts = pa.array([cell_text(value) for value in distinct], pa.string())
        same = pc.dictionary_encode(_plain(texts)).indices.to_numpy()
        counts = np.bincount(same, counts).astype(np.int64)
    return int(counts[counts > 1].sum())


def _plain(texts: Any) -> Any:
    """Write Arrow's texts as their readers take them."""
    if not pc.all(pc.string_is_ascii(texts), min_count=0).as_py():
        texts = pc.utf8_normalize(texts, form="NFKC")
    return pc.utf8_lower(pc.utf8_trim_whitespace(texts))


@attrs.frozen
class LikelyPersonColumn:
    """A column that probably numbers persons.

    Attributes
    ----------
    rows
        How many rows were looked at.
    sharing
        How many of them have a value that another has, too.
    agreeing
        Share of the repetitions that agree in the quasi-identifiers, see `may_differ`.
    """

    name: str
    rows: int
    sharing: int
    agreeing: float


def numbering_persons(
    frame: "pd.DataFrame", quasi: Sequence[str], names: Iterable[str], total: int
) -> Iterator[LikelyPersonColumn]:
    """Find columns whose repeated values mostly agree in all quasi-identifiers but one.

    So does the number of a patient with several visits: age, sex and place come back with it, and
    one of them may have changed. How often any two rows agree like that is allowed for.

    Parameters
    ----------
    frame
        The first rows of a table.
    names
        The columns to judge.
    total
        Number of rows of the whole table. In a part of it, in an order that nobody knows, fewer
        values come back.
    """
    n = len(frame)
    known = [_codes(frame[name]) for name in quasi]
    if not known or n < 2:
        return
    rows = np.arange(n)
    chance = _agreement(known, rows, np.roll(rows, n // 2))
    for name in names:
        try:
            codes = _codes(frame[name])
        except TypeError:
            # Cells that hold lists, and cannot be compared, number nobody.
            continue
        present = np.flatnonzero(codes >= 0)
        counts = np.bincount(codes[present])
        values, repetitions = len(counts), len(present) - len(counts)
        least = max(_LEAST_REPETITIONS, (1 - _MOST_DISTINCT) * len(present) * min(1, n / total))
        if values < _FEWEST_DISTINCT * len(present) or repetitions < least:
            continue
        order = present[np.argsort(codes[present], kind="stable")]
        again = np.flatnonzero(codes[order[1:]] == codes[order[:-1]])
        agreeing = _agreement(known, order[again], order[again + 1])
        if agreeing - chance > _MOSTLY * (1 - chance):
            yield LikelyPersonColumn(name, n, int(counts[counts > 1].sum()), agreeing)


def _codes(cells: Any) -> _Codes:
    codes: _Codes = pd.factorize(cells)[0].astype(np.int64)
    return codes


def _agreement(known: Sequence[_Codes], one: _Codes, other: _Codes) -> float:
    """Return the share of pairs of rows that agree in as many columns as one person's rows do."""
    agreeing = np.zeros(len(one), np.int64)
    for codes in known:
        agreeing += codes[one] == codes[other]
    return float((agreeing >= len(known) - may_differ(len(known))).mean())


def may_differ(columns: int) -> int:
    """Return in how many of so many quasi-identifiers two rows of one person may differ.

    In one; but not where that would leave a single one: a date of birth has an age, an address a
    place, and neither is a person's number.
    """
    return int(columns > 2)
