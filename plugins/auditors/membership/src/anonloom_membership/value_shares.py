"""What single values tell of who is in a table, column by column.

A synthetic table that draws every column from the original's own values repeats its rare ones, and
has none of those that only strangers have: near or far, its rows tell who may be inside.
"""

from collections.abc import Sequence

import numpy as np

from anonloom.typing import FloatArray, IntArray
from anonloom_linkage.aligned_columns import AlignedColumn, Cells

__all__ = ["value_evidence"]


def value_evidence(
    columns: Sequence[AlignedColumn],
    people: Sequence[Cells],
    release: int,
    control: int,
    known: IntArray,
) -> FloatArray:
    """Return for all people how much likelier their values are in the release than in the control.

    Sum over the columns of the logarithms of two shares, each of one half more than was counted.

    Parameters
    ----------
    people
        By column, the cells of the people who are judged.
    release, control
        Numbers of these tables among the sides of the columns.
    known
        Rows of the control that are counted.
    """
    result = np.zeros(len(people[0]) if people else 0)
    for column, cells in zip(columns, people, strict=True):
        published = np.bincount(column.sides[release], minlength=len(column))
        usual = np.bincount(column.sides[control][known], minlength=len(column))
        ratio = (published + 0.5) / (published.sum() + 0.5) / (usual + 0.5) * (usual.sum() + 0.5)
        result += np.log(ratio)[cells]
    return result
