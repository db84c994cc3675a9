"""The one definition of loss: NCP per class and axis, GCP as the mean over rows and axes."""

import numpy as np
from numpy.typing import NDArray

from anonloom.data.classes import Classes
from anonloom.data.points import combined_key
from anonloom.data.table import Table


def distinct_members(table: Table, classes: Classes, axis: int) -> NDArray[np.int64]:
    """Number of distinct codes of every class on one axis."""
    if not len(classes):
        return np.empty(0, np.int64)
    pair = combined_key(
        np.stack([classes.class_of_position(), table.codes[axis][classes.rows]]).astype(np.int32)
    )
    pair.sort()
    size = int(table.codes[axis].max(initial=0)) + 1
    fresh = np.r_[True, pair[1:] != pair[:-1]]
    return np.bincount(pair[fresh] // size, minlength=len(classes)).astype(np.int64)


def class_losses(table: Table, classes: Classes) -> NDArray[np.float64]:
    """Loss of every class on every axis as it will be published, (classes x axes)."""
    lo, hi = classes.extents(table.codes)
    losses = np.empty(lo.shape)
    for at, axis in enumerate(table.axes):
        losses[:, at] = axis.loss(lo[:, at], hi[:, at])
        if axis.form == "set":
            mixed = (hi[:, at] == axis.missing) & (lo[:, at] < hi[:, at])
            members = axis.set_loss(distinct_members(table, classes, at))
            losses[:, at] = np.where(mixed, 1.0, members)
    return losses


def gcp(table: Table, classes: Classes) -> float:
    """Mean loss over rows and quasi-identifiers; a suppressed row loses everything."""
    if not table.axes or not classes.total:
        return 0.0
    weights = np.array([axis.weight for axis in table.axes])
    per_class = class_losses(table, classes) @ (weights / weights.sum())
    lost = float(per_class @ classes.sizes) + len(classes.suppressed)
    return lost / classes.total
