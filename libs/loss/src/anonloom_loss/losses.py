"""The one definition of loss: NCP per class and axis, GCP as the mean over rows and axes.

Methods ask before publishing (`class_losses`, `gcp`); auditors and reports ask afterwards, of the
published cells alone (`release_losses`, `column_losses`, `release_gcp`). Both give the same figures
for what a generalizer wrote as the axis says.

Loss is how much wider a cell is than the value that it covers. A value that was replaced by another
one is not wider at all, and still not what it was: such columns have no loss (`changed_columns`).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from anonloom import Classes, Release, Table, cells
from anonloom.data import Axis, Regions, Type
from anonloom.lazy import pd


def distinct_members(table: Table, classes: Classes, axis: int) -> NDArray[np.int64]:
    """Number of distinct codes of every class on one axis."""
    if not len(classes):
        return np.empty(0, np.int64)
    size = int(table.codes[axis].max(initial=0)) + 1
    pair = classes.class_of_position() * size + table.codes[axis][classes.rows]
    pair.sort()
    fresh = np.r_[True, pair[1:] != pair[:-1]]
    return np.bincount(pair[fresh] // size, minlength=len(classes)).astype(np.int64)


def class_losses(table: Table, classes: Classes) -> NDArray[np.float64]:
    """Loss of every class on every axis as it will be published, (classes x axes).

    After a global recoding that is the regions, whatever the rows of a class cover of them.
    """
    if classes.published_regions is not None:
        return _region_losses(table, classes.published_regions)
    lo, hi = classes.extents(table.codes)
    losses = np.empty(lo.shape)
    for index, axis in enumerate(table.axes):
        losses[:, index] = axis.loss(lo[:, index], hi[:, index])
        if axis.form == "set":
            mixed = (hi[:, index] == axis.missing) & (lo[:, index] < hi[:, index])
            members = axis.set_loss(distinct_members(table, classes, index))
            losses[:, index] = np.where(mixed, 1.0, members)
    return losses


def _region_losses(table: Table, regions: Regions) -> NDArray[np.float64]:
    losses = np.empty(regions.lo.shape)
    for index, axis in enumerate(table.axes):
        level = None if regions.level is None else regions.level[:, index]
        losses[:, index] = axis.loss(regions.lo[:, index], regions.hi[:, index], level)
    return losses


def gcp(table: Table, classes: Classes) -> float:
    """Mean loss over rows and quasi-identifiers; a suppressed row loses everything."""
    if not table.axes or not classes.total:
        return 0.0
    weights = np.array([axis.weight for axis in table.axes])
    per_class = class_losses(table, classes) @ (weights / weights.sum())
    lost = float(per_class @ classes.sizes) + len(classes.suppressed)
    return lost / classes.total


def release_losses(original: Table, release: Release) -> NDArray[np.float64]:
    """Loss of every published row on every axis of the original, (axes x rows).

    A column that is not published has lost everything; one that is published as it is, nothing.
    """
    losses = np.empty((len(original.axes), len(release)))
    for index, axis in enumerate(original.axes):
        of_cells, which = _cell_losses(axis, release)
        losses[index] = of_cells[which]
    return losses


def changed_columns(original: Table, release: Release) -> tuple[str, ...]:
    """Return the quasi-identifiers whose published cells do not all cover the original values.

    Width does not measure how far they are off. Of rows that correspond to nobody every published
    quasi-identifier may be.
    """
    if release.truthful:
        return ()
    rows = release.rows_in(original)
    return tuple(
        axis.name
        for axis, codes in zip(original.axes, original.codes, strict=True)
        if _as_written(axis, release)
        and (rows is None or not _covers_value(axis, release, codes[rows]).all())
    )


def _as_written(axis: Axis, release: Release) -> bool:
    """Whether the cells of a column are read: it is published as a quasi-identifier."""
    if axis.name not in release.frame:
        return False
    return axis.name not in release.schema or release.schema[axis.name].role == "quasi"


def _covers_value(
    axis: Axis, release: Release, codes: NDArray[np.integer[Any]]
) -> NDArray[np.bool_]:
    """Whether the published cell of every row covers a value, given by its code."""
    which, distinct = pd.factorize(release.frame[axis.name], use_na_sentinel=False)
    covers = [axis.read(_text(cell, axis.type)) for cell in distinct]
    first = np.array([0 if cover is None else cover.first for cover in covers], np.int64)
    last = np.array([-1 if cover is None else cover.last for cover in covers], np.int64)
    covered: NDArray[np.bool_] = (first[which] <= codes) & (codes <= last[which])
    for index, cover in enumerate(covers):
        if cover is not None and cover.members is not None:
            own = which == index
            covered[own] = np.isin(codes[own], cover.members)
    return covered


def column_losses(original: Table, release: Release) -> dict[str, float | None]:
    """Mean loss (NCP) of every quasi-identifier, read from the published cells.

    A row that suppression kept out of the release has lost everything. None where values were
    changed, see `changed_columns`.
    """
    total = len(release) + release.dropped
    means: dict[str, float | None] = {}
    changed = changed_columns(original, release)
    for axis in original.axes:
        if axis.name in changed:
            means[axis.name] = None
            continue
        of_cells, which = _cell_losses(axis, release)
        lost = float(np.bincount(which, minlength=len(of_cells)) @ of_cells)
        means[axis.name] = (lost + release.dropped) / total if total else 0.0
    return means


def release_gcp(original: Table, release: Release) -> float | None:
    """Mean loss over rows and quasi-identifiers, read from the published cells; None if changed."""
    return mean_of_columns(original, column_losses(original, release))


def mean_of_columns(original: Table, losses: dict[str, float | None]) -> float | None:
    """Return GCP from the mean loss of every quasi-identifier, weighted as the columns say.

    None when one of them has none: a mean over the others would say that little was lost.
    """
    weights = {axis.name: axis.weight for axis in original.axes}
    known = {name: mean for name, mean in losses.items() if mean is not None}
    if len(known) < len(losses):
        return None
    if not known:
        return 0.0
    return sum(weights[name] * mean for name, mean in known.items()) / sum(weights.values())


def _cell_losses(axis: Axis, release: Release) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Losses of the distinct cells of a column, and which of them each row has."""
    same = np.zeros(len(release), np.int64)
    if axis.name not in release.frame:
        return np.ones(1), same
    if not _as_written(axis, release):
        return np.zeros(1), same
    which, distinct = pd.factorize(release.frame[axis.name], use_na_sentinel=False)
    losses = np.empty(len(distinct))
    for index, cell in enumerate(distinct):
        cover = axis.read(_text(cell, axis.type))
        # What cannot be read tells a reader of the release nothing that the axis knows of.
        losses[index] = 1.0 if cover is None else axis.cover_loss(cover)
    return losses, which.astype(np.int64, copy=False)


def _text(cell: Any, type_: Type) -> str | None:
    """Write a cell as a release has it, whatever a file's reader made of it."""
    if pd.isna(cell):
        return None
    if isinstance(cell, np.datetime64 | pd.Timestamp):
        moment = np.datetime64(cell)
        return cells.time_text(moment) if type_ == "time" else cells.date_text(moment)
    if isinstance(cell, float | int | np.number) and not isinstance(cell, bool):
        return cells.number_text(float(cell))
    return str(cell)
