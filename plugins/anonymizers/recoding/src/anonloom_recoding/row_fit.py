"""How well rows fit their class: what the table would lose without a row.

Without a row, the others of its class lose less if the row alone holds an end of the class on some
axis. Only such rows are looked at: at most two per class and axis, and for sets the holders of
values that nobody else has.
"""

import numpy as np
from numpy.typing import NDArray

from anonloom import Classes, Table
from anonloom.data import Axis
from anonloom.typing import FloatArray, IntArray
from anonloom_recoding.members import Members


def worst_rows(
    table: Table, classes: Classes, active: IntArray
) -> tuple[IntArray, IntArray, FloatArray]:
    """Find the row of each active class whose suppression saves the most loss.

    Returns
    -------
    places
        Places in `classes.rows`, at most one per class.
    owners
        Their classes, ascending.
    saved
        How much less the table loses in sum over its rows, always above zero.
    """
    places, part = _part(classes, active[classes.sizes[active] > 1])
    owner = part.class_of_position()
    weights = np.array([axis.weight for axis in table.axes])
    weights = weights / weights.sum() if len(weights) else weights
    before, relief = np.zeros(len(part)), np.zeros(len(part.rows))
    for share, axis, codes in zip(weights, table.axes, table.codes, strict=True):
        whole, without = _axis_losses(axis, codes, part)
        before += share * whole
        relief += share * (whole[owner] - without)
    # The others save their relief; the row itself loses everything instead of its class's loss.
    saved = relief * (part.sizes - 1)[owner] - (1.0 - before[owner])
    good = np.flatnonzero(saved > 1e-12)
    order = good[np.lexsort((part.rows[good], -saved[good], owner[good]))]
    first = np.append(True, owner[order][1:] != owner[order][:-1])[: len(order)]
    best = order[first]
    return (
        places[best],
        np.searchsorted(classes.bounds, places[best], side="right") - 1,
        saved[best],
    )


def _part(classes: Classes, which: IntArray) -> tuple[IntArray, Classes]:
    """Some of the classes, and the places of their rows."""
    sizes = classes.sizes[which]
    bounds = np.append(0, np.cumsum(sizes))
    places = np.arange(bounds[-1]) + np.repeat(classes.starts[which] - bounds[:-1], sizes)
    return places, Classes(classes.rows[places], bounds)


def _axis_losses(
    axis: Axis, codes: NDArray[np.int32], classes: Classes
) -> tuple[FloatArray, FloatArray]:
    """Loss of every class on an axis, and its loss without each of its rows."""
    members = Members.of(codes, classes)
    starts, stops = members.bounds[:-1], members.bounds[1:]
    lo, hi = members.codes[starts], members.codes[stops - 1]
    whole = _loss(axis, lo, hi, stops - starts)
    owner = classes.class_of_position()
    without = whole[owner]
    # Rows that alone hold a value, of which the ends matter; every value does in a set.
    key = members.owner * (axis.size + 1) + members.codes
    entry = np.searchsorted(key, owner * (axis.size + 1) + codes[classes.rows])
    sole = np.flatnonzero((members.counts[entry] == 1) & ((stops - starts)[owner] > 1))
    entry, of = entry[sole], owner[sole]
    first, last = entry == starts[of], entry == stops[of] - 1
    if axis.form != "set":
        ends = first | last
        sole, entry, of, first, last = sole[ends], entry[ends], of[ends], first[ends], last[ends]
    rest_lo = np.where(first, members.codes[np.minimum(entry + 1, stops[of] - 1)], lo[of])
    rest_hi = np.where(last, members.codes[np.maximum(entry - 1, starts[of])], hi[of])
    without[sole] = _loss(axis, rest_lo, rest_hi, (stops - starts)[of] - 1)
    return whole, without


def _loss(axis: Axis, lo: IntArray, hi: IntArray, members: IntArray) -> FloatArray:
    """Loss of classes that cover [lo, hi] with so many values."""
    if axis.form != "set":
        return axis.loss(lo, hi)
    mixed = (hi == axis.missing) & (lo < hi)
    return np.where(mixed, 1.0, axis.set_loss(members))
