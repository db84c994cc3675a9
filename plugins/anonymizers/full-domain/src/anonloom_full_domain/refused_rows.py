"""The rows that no box admits: each goes where the table loses least by it."""

import numpy as np

from anonloom import Table
from anonloom.typing import CodeArray, IntArray
from anonloom_full_domain.class_assembly import assemble
from anonloom_full_domain.grid import Grid
from anonloom_full_domain.recoding_rounds import PublishedPoints
from anonloom_full_domain.verdicts import Judge
from anonloom_kernels.compiled import kernel
from anonloom_kernels.losses import Losses, loss_between, losses_of
from anonloom_loss import merge_until_admitted

#: A loss of everything, but for rounding.
TELLS_NOTHING = 1 - 1e-12

#: More than any table can lose.
FORBIDDING = 1e12


def extents(grid: Grid, label: IntArray) -> tuple[CodeArray, CodeArray]:
    """First and last code of labelled points, (classes x axes of the lattice)."""
    inside = np.flatnonzero(label >= 0)
    order = inside[np.argsort(label[inside], kind="stable")]
    codes, labels = grid.codes[order, 1:], label[order]
    starts = np.searchsorted(labels, np.arange(labels[-1] + 1 if len(labels) else 0))
    if not len(starts):
        return codes[:0], codes[:0]
    return np.minimum.reduceat(codes, starts), np.maximum.reduceat(codes, starts)


def keep_whole(published: PublishedPoints, judge: Judge) -> None:
    """Publish the given classes of which nothing could be published, as they are."""
    first, _ = published.boxes()
    parents = published.grid.codes[:, 0]
    served = np.isin(parents[published.left], parents[first])
    if served.all():
        return
    node, points = published.grid.lattice.top(), published.left
    boxes = published.grid.boxes(node, points, published.weights)
    alone = ~np.isin(parents[boxes.first], parents[first])
    published.take(node, boxes, judge.admission(boxes, points, judge.large(boxes) & alone))


def widen(published: PublishedPoints, judge: Judge, table: Table) -> None:
    """Put the points that are left into published classes, one after the other.

    Each goes into the class for which the loss of all rows rises least, if possible into one that
    still tells something. A class that the guard does not admit with its new rows stays without
    them.
    """
    grid, points = published.grid, published.left
    if not len(points) or not published.count:
        return
    first, _ = published.boxes()
    lo, hi = extents(grid, published.label)
    label = published.label[grid.point]
    sizes = np.bincount(label[label >= 0], minlength=published.count)
    chosen = np.full(len(points), -1)
    parents = grid.codes[first, 0]
    places, losses = grid.lattice.places, losses_of(table)
    choose_classes(
        grid.codes,
        points,
        published.weights,
        parents,
        places,
        np.ascontiguousarray(lo),
        np.ascontiguousarray(hi),
        sizes,
        losses,
        chosen,
    )
    after = published.label.copy()
    after[points] = chosen
    changed = np.unique(chosen[chosen >= 0])
    classes = assemble(grid, after, None)
    verdict = judge.guard.admits(
        table, classes.rows, classes.starts[changed], classes.stops[changed]
    )
    kept = np.isin(chosen, changed[verdict])
    published.label[points[kept]] = chosen[kept]
    published.left = points[~kept]


def merge(published: PublishedPoints, judge: Judge, table: Table) -> None:
    """Merge what is still left with published classes until the guard admits the unions."""
    grid, points = published.grid, published.left
    if not len(points):
        return
    label = published.label.copy()
    label[points] = published.count + np.arange(len(points))
    classes = merge_until_admitted(table, assemble(grid, label, None), judge.guard, grid.classes)
    of_row = classes.labels(len(table))[grid.classes.rows]
    # All rows of a point are in one class, so any of them tells.
    published.label[grid.point] = of_row
    published.left = np.flatnonzero(published.label < 0)


@kernel
def choose_classes(
    codes: CodeArray,
    points: IntArray,
    weights: IntArray,
    parents: CodeArray,
    places: IntArray,
    lo: CodeArray,
    hi: CodeArray,
    sizes: IntArray,
    losses: Losses,
    chosen: IntArray,
) -> None:
    """Choose a class of the same parent for every point; extents and sizes follow at once."""
    classes, axes = lo.shape
    layout, values, ancestors = losses.layout, losses.values, losses.ancestors
    for index in range(len(points)):
        own = codes[points[index]]
        least = np.inf
        for to in range(classes):
            if parents[to] != own[0]:
                continue
            before = 0.0
            after = 0.0
            for axis in range(axes):
                code, place = own[axis + 1], places[axis]
                begin, end = lo[to, axis], hi[to, axis]
                loss = loss_between(layout, values, ancestors, place, begin, end)
                before += loss
                if code < begin or code > end:
                    begin, end = min(begin, code), max(end, code)
                    loss = loss_between(layout, values, ancestors, place, begin, end)
                after += loss
            rise = sizes[to] * (after - before) + weights[index] * after
            if after >= TELLS_NOTHING:
                # Published as nothing but `*`, its rows would count as suppressed.
                rise += FORBIDDING
            if rise < least:
                least = rise
                chosen[index] = to
        to = chosen[index]
        if to >= 0:
            sizes[to] += weights[index]
            for axis in range(axes):
                lo[to, axis] = min(lo[to, axis], own[axis + 1])
                hi[to, axis] = max(hi[to, axis], own[axis + 1])
