"""What linking tells about the sensitive columns: values of the class that is named for a person.

Rows with equal published cells cannot be told apart, so that the most frequent value among them is
guessed. People outside the release are guessed in the same way: what is right of them is learnt
from the population, and no fault of the release. Answers are as sure as the link is; where it is
not, the value is named that is most frequent in the population. Every value of a category counts
as much as any other: who has a rare one loses more than who has what anybody would guess.
"""

from collections.abc import Sequence

import numpy as np

from anonloom import AuditInput, Table
from anonloom.data import row_keys
from anonloom.lazy import pd
from anonloom.typing import BoolArray, FloatArray, IntArray
from anonloom_cvpl.strongest_link import Link
from anonloom_linkage.aligned_columns import AlignedColumn, Cells, align_columns, shared_columns
from anonloom_risk import Answers, alike_by_value
from anonloom_risk.nearest_rows import ORIGINAL, RELEASE, TARGETS

#: A number is guessed right if it is this near, in standard deviations of the original.
NEAR = 0.1
SENSITIVE = frozenset({"sensitive"})


def inference(
    case: AuditInput, targets: Table, columns: Sequence[AlignedColumn], link: Link
) -> list[Answers]:
    """Guess every sensitive value that the release shows.

    Parameters
    ----------
    columns
        What the attacker knows, of original, release and targets.
    link
        The row that is named for every target.
    """
    assert case.original is not None
    names = shared_columns(case.original, [case.release], SENSITIVE)
    known = shared_columns(case.original, [case.release, targets], SENSITIVE)
    if not names or not columns:
        return []
    published, alike = (_groups(columns, side) for side in (RELEASE, ORIGINAL))
    aligned = {c.name: c for c in align_columns(case.original, [case.release, targets], known)}
    results = []
    for name in names:
        score = link.score
        if name in aligned:
            column = aligned[name]
            guess = _most_frequent(published, column.sides[RELEASE], len(column))
            right = _right(column, np.where(link.row >= 0, guess[published[link.row]], -1))
            attainable = _attainable(columns, column, alike)
            usual = np.bincount(column.sides[ORIGINAL], minlength=len(column)).argmax()
            otherwise = _right(column, np.full(len(link.row), usual))
            weight = None if column.is_ordered else alike_by_value(column.sides[TARGETS])
        else:
            # Of people outside nobody knows the value. All are taken to be found, in and outside
            # the release: that is not assessable, where no answer would read as safety.
            right, attainable = np.ones(len(link.row), bool), np.ones(len(link.row))
            score, otherwise, weight = np.zeros(len(link.row)), right, None
        results.append(
            Answers(
                name=f"inference.{name}",
                question="inference",
                right=right.astype(float),
                score=score,
                columns=(*(column.name for column in columns), name),
                meaning=f"'{name}' is guessed from the row that is named for a person, and those "
                "that equal it.",
                attainable=attainable,
                otherwise=otherwise.astype(float),
                weight=weight,
            )
        )
    return results


def _groups(columns: Sequence[AlignedColumn], side: int, *more: int) -> IntArray:
    """Number the rows of one or more tables by their cells; equal ones share a number."""
    sides = (side, *more)
    joined = [np.concatenate([column.sides[index] for index in sides]) for column in columns]
    keys = row_keys(
        ((cells, len(column)) for cells, column in zip(joined, columns, strict=True)),
        len(joined[0]),
    )
    groups: IntArray = pd.factorize(keys)[0].astype(np.int64)
    return groups


def _most_frequent(group: IntArray, cells: Cells, number: int) -> IntArray:
    """Return the most frequent cell of every group, the first of equally frequent ones."""
    pairs, counts = np.unique(group * number + cells, return_counts=True)
    of_pair = pairs // number
    order = np.lexsort((-counts, of_pair))
    first = np.r_[True, np.diff(of_pair[order]) > 0][: len(order)]
    result: IntArray = pairs[order[first]] % number
    return result


def _right(column: AlignedColumn, guess: IntArray) -> BoolArray:
    """Whether a guessed cell is the value of every target; -1 is no guess."""
    own = column.sides[TARGETS]
    if column.is_ordered:
        near = NEAR * _deviation(column)
        right = np.abs(column.lo[own] - column.lo[guess]) <= near
        right &= column.lo[guess] == column.hi[guess]
    else:
        right = own == guess
    # A cell that says nothing covers everything, the right value included.
    return np.asarray(right & (guess >= 0) & ~column.missing[own] & ~column.open[guess])


def _deviation(column: AlignedColumn) -> float:
    values = column.lo[column.sides[ORIGINAL]]
    return float(np.nanstd(values)) if not np.isnan(values).all() else 0.0


def _attainable(
    columns: Sequence[AlignedColumn], column: AlignedColumn, alike: IntArray
) -> FloatArray:
    """Whether the most frequent value of the people who are like a target is right.

    Nobody guesses better on a copy, where people who are alike have different values. Of people
    who are like nobody in the original nothing is known: 1.
    """
    group = _groups(columns, ORIGINAL, TARGETS)[len(alike) :]
    guess = _most_frequent(alike, column.sides[ORIGINAL], len(column))
    known = group < len(guess)
    right = _right(column, np.where(known, guess[np.where(known, group, 0)], -1))
    return np.where(known, right, True).astype(float)
