"""Merging classes until the guard admits them: what follows a method that understands sizes only.

Correctness: every round joins each refused class with another one of the same parent, so the number
of refused classes falls until none is left or a parent is a single class. A single class that is
still refused is suppressed whole; admitted classes are never touched unless a refused one joins.
"""

import numpy as np
from numpy.typing import NDArray

from anonloom import Classes, Guard, Table
from anonloom.data import Rows
from anonloom_loss.nearest import nearest_classes

Extents = tuple[NDArray[np.integer], NDArray[np.integer]]


def merge_until_admitted(
    table: Table,
    classes: Classes,
    guard: Guard,
    parents: Classes | None = None,
    extents: Extents | None = None,
) -> Classes:
    """Merge refused classes with the class that costs the least loss, until all are admitted.

    Parameters
    ----------
    parents
        Classes that must not be crossed; by default the whole table is one.
    extents
        (classes x axes): first and last code of what every class publishes, where that is more
        than its rows cover.

    Returns
    -------
    Classes
        Every class is admitted; the regions are gone where anything was merged.
    """
    admitted = guard.admits_classes(table, classes)
    if admitted.all():
        return classes
    # Every class lies in one parent: the one that holds its first row.
    parent = np.zeros(len(classes), np.int64)
    if parents is not None:
        parent = parents.labels(len(table))[classes.rows[classes.starts]]
    while not admitted.all():
        lonely = ~admitted & (np.bincount(parent)[parent] == 1)
        if lonely.any():
            classes, parent = classes.suppress(lonely), parent[~lonely]
            admitted = admitted[~lonely]
            if extents is not None:
                extents = extents[0][~lonely], extents[1][~lonely]
            continue
        refused = np.flatnonzero(~admitted)
        target = nearest_classes(table, classes, refused, parent, extents)
        joined = _join(len(classes), refused, target)
        if extents is not None:
            extents = hull(joined, *extents)
        parent = parent[np.unique(joined, return_index=True)[1]]
        labels = np.full(len(table), -1, np.int64)
        labels[classes.rows] = joined[classes.class_of_position()]
        classes = Classes.from_labels(
            labels[classes.rows], rows=classes.rows, suppressed=classes.suppressed
        )
        admitted = guard.admits_classes(table, classes)
    return classes


def hull(group: Rows, lo: NDArray[np.integer], hi: NDArray[np.integer]) -> Extents:
    """First and last code of every group of classes, (groups x axes)."""
    count = int(group.max(initial=-1)) + 1
    first = np.full((count, lo.shape[1]), np.iinfo(lo.dtype).max, lo.dtype)
    last = np.full((count, hi.shape[1]), -1, hi.dtype)
    np.minimum.at(first, group, lo)
    np.maximum.at(last, group, hi)
    return first, last


def _join(count: int, refused: Rows, target: Rows) -> NDArray[np.int64]:
    """Give joined classes one number, 0 to the number of groups."""
    group = np.arange(count)
    while True:
        before = group.copy()
        least = np.minimum(group[refused], group[target])
        np.minimum.at(group, refused, least)
        np.minimum.at(group, target, least)
        # Jumping over pointers keeps long chains of classes from costing a round each.
        group = group[group]
        if (group == before).all():
            break
    return np.unique(group, return_inverse=True)[1].reshape(-1)
