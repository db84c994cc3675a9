"""People who are alike in all that an attacker knows, and the value that most of them have."""

from collections.abc import Sequence

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom import short_repr
from anonloom.data import row_keys
from anonloom.lazy import pd
from anonloom.typing import FloatArray, IntArray
from anonloom_linkage.aligned_columns import AlignedColumn
from anonloom_risk.nearest_rows import ORIGINAL, TARGETS

__all__ = ["Alike", "attainable", "number_alike"]


@short_repr
@attrs.frozen(eq=False)
class Alike:
    """Groups of rows that are alike in the columns known.

    Attributes
    ----------
    group
        Number of every row's group.
    first
        One row of every group.
    cell, share
        What of the secret most rows of each group have, and the share of them.
    """

    group: IntArray
    first: IntArray
    cell: IntArray
    share: FloatArray

    @classmethod
    def of(cls, group: IntArray, secret: NDArray[np.integer], cells: int) -> "Alike":
        """Count the values of the secret in every group.

        Parameters
        ----------
        group
            From 0 on, without gaps.
        secret, cells
            A number for every row, and how many numbers there are.
        """
        first = np.unique(group, return_index=True)[1]
        pairs, rows = np.unique(group * cells + secret, return_counts=True)
        of_pair = pairs // cells
        order = np.lexsort((rows, of_pair))
        # The last of each group is its largest.
        last = np.flatnonzero(np.diff(of_pair[order], append=-1))
        largest = order[last]
        return cls(group, first, pairs[largest] % cells, rows[largest] / np.bincount(group))


def number_alike(known: Sequence[AlignedColumn], *sides: int) -> list[IntArray]:
    """Number the rows of tables so that those alike in all columns have one number."""
    lengths = [len(known[0].sides[side]) for side in sides]
    keys = row_keys(
        ((np.concatenate([column.sides[side] for side in sides]), len(column)) for column in known),
        sum(lengths),
    )
    numbers = pd.factorize(keys)[0].astype(np.int64)
    return np.split(numbers, np.cumsum(lengths)[:-1])


def attainable(
    known: Sequence[AlignedColumn], secret: NDArray[np.integer], cells: int
) -> FloatArray:
    """Return for every target how often the best attacker is right about a copy of the original.

    He names the value that most of those have who are like the target in all that he knows. Of a
    target who is like nobody a copy says nothing: 1.

    Parameters
    ----------
    known
        Columns that he knows, those of `align_evidence`.
    secret, cells
        What he wants, as a number for every person of the original; and how many numbers there are.
    """
    people, targets = number_alike(known, ORIGINAL, TARGETS)
    # The original's people are numbered first: who is like nobody of them comes later.
    share = np.append(Alike.of(people, secret, cells).share, 1.0)
    return np.asarray(share[np.minimum(targets, len(share) - 1)])
