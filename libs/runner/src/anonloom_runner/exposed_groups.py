"""Who is exposed: counts by groups of the declared columns, none so small that it names somebody.

Groups are named by their place, such as the lowest quarter of a number or the most frequent value
of a category, because a report holds no cell. What they stand for is the steward's to see.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anonloom import Column, Table, short_repr
from anonloom.cells import MOMENTS

__all__ = [
    "ColumnGroups",
    "exposed_groups",
    "group_data",
    "most_exposed",
    "suppress_small",
]

#: No count of people below this is said, nor one that others would give away.
LEAST = 5
#: Groups have at least so many people attacked, and columns at most so many values of their own.
SMALLEST_GROUP, MOST_VALUES = 20, 5
PARTS = 4
#: A group stands out where so many standard errors more of it are exposed than of all.
STANDS_OUT = 3.0

_QUARTERS = ("lowest quarter", "second quarter", "third quarter", "highest quarter")


@short_repr
@attrs.frozen
class Group:
    """People who are alike in one column.

    Attributes
    ----------
    label
        By its place; no cell.
    values
        What it stands for, for the steward only.
    people, exposed
        How many were attacked, and how many of these are exposed.
    """

    label: str
    values: str
    people: int
    exposed: int


@short_repr
@attrs.frozen
class ColumnGroups:
    """All groups of one column."""

    column: str
    groups: tuple[Group, ...]

    def counts(self) -> list[int | None]:
        """Return the counts that can be said; None for what must not be."""
        sizes = [group.people for group in self.groups]
        return suppress_small([group.exposed for group in self.groups], sizes)


def exposed_groups(
    original: Table, people: NDArray[np.int64], exposed: NDArray[np.int64]
) -> tuple[ColumnGroups, ...]:
    """Count exposed people by groups of every column that is published, or says groups.

    Parameters
    ----------
    people
        Rows of the original that were attacked.
    exposed
        Those of them that were found because of the release.
    """
    marked = np.isin(people, exposed)
    results = []
    for column in original.schema:
        if not (column.is_published or column.role == "group") or column.role == "identifier":
            continue
        values = original.column(column.name).iloc[people].reset_index(drop=True)
        groups = tuple(
            Group(label, words, int(members.sum()), int((members & marked).sum()))
            for label, words, members in _groups_of(column, values)
        )
        if len(groups) > 1:
            results.append(ColumnGroups(column.name, groups))
    return tuple(results)


def suppress_small(counts: Sequence[int], sizes: Sequence[int]) -> list[int | None]:
    """Leave out small counts, and as many others as would give them away by their sum.

    A count is small where it is, or where it leaves few people of the group over. The sum of all is
    known; so what is left out has at least two parts, and at least `LEAST` people on either side.
    """
    pairs = list(zip(counts, sizes, strict=True))
    hidden = {
        index
        for index, (count, size) in enumerate(pairs)
        if count < LEAST or 0 < size - count < LEAST
    }

    def gives_away() -> bool:
        inside = sum(counts[index] for index in hidden)
        outside = sum(sizes[index] - counts[index] for index in hidden)
        return len(hidden) == 1 or 0 < inside < LEAST or 0 < outside < LEAST

    # The smallest of the others tells least when it is left out.
    for index in sorted(range(len(pairs)), key=lambda index: pairs[index]):
        if not hidden or not gives_away():
            break
        hidden.add(index)
    return [None if index in hidden else count for index, count in enumerate(counts)]


def group_data(columns: Iterable[ColumnGroups]) -> list[dict[str, Any]]:
    """Return what can be said of all groups as plain data."""
    return [
        {
            "column": column.column,
            "groups": [
                {"group": group.label, "people": group.people, "exposed": count}
                for group, count in zip(column.groups, column.counts(), strict=True)
            ],
        }
        for column in columns
    ]


def most_exposed(
    data: Iterable[dict[str, Any]], share: float, most: int = 3
) -> list[dict[str, Any]]:
    """Return the groups that stand out, at most one of a column, the most exposed first.

    Parameters
    ----------
    data
        What `group_data` returns.
    share
        Share of all people attacked who are exposed.
    """
    best: dict[str, dict[str, Any]] = {}
    for column in data:
        for group in column["groups"]:
            if group["exposed"] is None:
                continue
            own = group["exposed"] / group["people"]
            error = np.sqrt(max(share * (1 - share), 0.0) / group["people"])
            if own - share > STANDS_OUT * error and own > best.get(column["column"], {}).get(
                "share", 0.0
            ):
                best[column["column"]] = {"column": column["column"], **group, "share": own}
    return sorted(best.values(), key=lambda group: -group["share"])[:most]


def _groups_of(
    column: Column, values: "pd.Series[Any]"
) -> Iterable[tuple[str, str, NDArray[np.bool_]]]:
    """Yield label, values and members of every group of one column."""
    missing = values.isna().to_numpy(bool)
    number = column.type == "number" or column.type in MOMENTS
    if number and values.nunique() > MOST_VALUES:
        yield from _parts(values, ~missing)
    else:
        yield from _frequent(values, ~missing)
    if missing.sum() >= SMALLEST_GROUP:
        yield "missing", "missing", missing


def _parts(
    values: "pd.Series[Any]", there: NDArray[np.bool_]
) -> Iterable[tuple[str, str, NDArray[np.bool_]]]:
    ranks = np.full(len(values), -1)
    codes = pd.factorize(values[there], sort=True)[0]
    edges = np.unique(np.quantile(codes, np.arange(1, PARTS) / PARTS, method="lower"))
    ranks[there] = np.searchsorted(edges, codes, side="left")
    number = int(ranks.max(initial=-1)) + 1
    for part in range(number):
        members = ranks == part
        if members.sum() < SMALLEST_GROUP:
            continue
        own = values[members]
        label = _QUARTERS[part] if number == PARTS else f"part {part + 1} of {number}, ascending"
        yield label, f"{own.min()} to {own.max()}", members


def _frequent(
    values: "pd.Series[Any]", there: NDArray[np.bool_]
) -> Iterable[tuple[str, str, NDArray[np.bool_]]]:
    counts = values[there].value_counts()
    frequent = counts[counts >= SMALLEST_GROUP].index[:MOST_VALUES]
    rest = there.copy()
    for rank, value in enumerate(frequent, start=1):
        members = (values == value).to_numpy(bool, na_value=False)
        rest &= ~members
        yield f"{_ordinal(rank)} most frequent value", str(value), members
    if rest.sum() >= SMALLEST_GROUP:
        yield "rarer values", "all others", rest


def _ordinal(rank: int) -> str:
    return {1: "the", 2: "2nd", 3: "3rd"}.get(rank, f"{rank}th")
