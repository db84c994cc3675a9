"""Points that are left out before boxes are formed were in no box that is large enough."""

from itertools import product
from unittest import mock

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom import Guard, StageContext
from anonloom_full_domain import viable_points
from anonloom_full_domain.grid import Grid
from anonloom_full_domain.local_recoding import LocalRecoding
from anonloom_full_domain.published_points import PublishedPoints
from anonloom_full_domain.verdicts import Judge
from anonloom_full_domain.viable_points import ViablePoints
from anonloom_testing.privacy_cases import AtLeast
from anonloom_testing.strategies import demands, samples

REMEMBERED = st.sampled_from([0, 5, 1 << 24])
STILL_TRUE = st.sampled_from([0.0, 0.5, 1.0, 1.1])


def in_large_boxes(grid, node, left, least):
    """Count boxes point by point, by the cells that the lattice's levels have."""
    boxes = {}
    for point in left:
        given_class, *codes = grid.codes[point].tolist()
        cells = zip(grid.lattice.axes, node, codes, strict=True)
        box = (given_class, *(int(axis.lo[level, code]) for axis, level, code in cells))
        boxes.setdefault(box, []).append(point)
    large = (box for box in boxes.values() if grid.weights[box].sum() >= least)
    return sorted(point for box in large for point in box)


@settings(max_examples=50)
@given(samples(), st.integers(1, 6), REMEMBERED, STILL_TRUE, st.data())
def test_no_point_of_a_large_box_is_left_out(sample, k, remembered, still_true, data):
    table = sample.table()
    grid = Grid.of(table, table.whole())
    published = PublishedPoints.nothing(grid, StageContext())
    viable = ViablePoints(published, Judge(table, grid, Guard([AtLeast(k=k)])))
    nodes = list(product(*map(range, grid.lattice.shape)))
    limits = {"_MOST_REMEMBERED": remembered, "_STILL_TRUE": still_true}
    with mock.patch.multiple(viable_points, **limits):
        for node in data.draw(st.lists(st.sampled_from(nodes), max_size=8)):
            found = viable.of(node).tolist()
            left = published.left.tolist()
            assert sorted(set(found) & set(left)) == found
            assert set(in_large_boxes(grid, node, left, k)) <= set(found)
            # Whatever is published meanwhile.
            taken = data.draw(st.lists(st.sampled_from(left), max_size=4)) if left else []
            published.label[taken] = 0
            published.left = np.flatnonzero(published.label < 0)


@settings(max_examples=50)
@given(samples(), demands(), REMEMBERED, STILL_TRUE)
def test_classes_are_those_that_all_points_make(sample, demand, remembered, still_true):
    guard = demand.guard()
    table = sample.table()

    def classes():
        made = LocalRecoding().partition(table, table.whole(), guard, StageContext())
        parts = (made.rows, made.bounds, made.suppressed)
        regions = made.regions
        if regions is not None:
            parts += (regions.lo, regions.hi, regions.level)
        return [part.tolist() for part in parts]

    limits = {"_MOST_REMEMBERED": remembered, "_STILL_TRUE": still_true}
    with mock.patch.multiple(viable_points, **limits):
        fast = classes()
    with mock.patch.object(ViablePoints, "of", lambda self, node: self.published.left):
        assert classes() == fast
