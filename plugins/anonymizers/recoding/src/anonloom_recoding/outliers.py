"""Outlier handlers `none` and `suppress`."""

import attrs
import numpy as np

from anonloom import Classes, Finding, Guard, OutlierHandler, StageContext, Table, param
from anonloom.params import between
from anonloom.typing import IntArray
from anonloom_recoding.row_fit import worst_rows


@attrs.frozen(kw_only=True)
class LeaveAll(OutlierHandler):
    """Does nothing: the baseline of every comparison."""

    def handle(
        self, table: Table, classes: Classes, guard: Guard, context: StageContext
    ) -> Classes:
        """Return the classes as they are."""
        return classes


@attrs.frozen(kw_only=True)
class Suppress(OutlierHandler):
    """Suppresses rows that cost the rest of their class more than they are worth.

    A row is an outlier when the table as a whole loses less without it: the loss that the others
    of its class save is greater than the loss of suppressing it. In rounds, every class offers its
    worst row if the guard admits the class without it; the rows that save most go first. So the
    total loss falls with every row, and a class never falls below what the guard demands. After a
    global recoding no row costs the others anything, and none is suppressed.
    """

    at_most: float = param(
        help="Greatest share of all rows that may be suppressed, counting those that already are.",
        default=0.01,
        check=between(0, 1),
    )

    def handle(
        self, table: Table, classes: Classes, guard: Guard, context: StageContext
    ) -> Classes:
        """Return the classes without their worst rows."""
        before = len(classes.suppressed)
        budget = int(self.at_most * classes.total + 1e-9) - before
        # A class changes only when it loses a row; only then can it have a new worst one.
        active = np.arange(len(classes) if classes.published_regions is None else 0)
        while budget > 0 and len(active):
            places, owners, saved = worst_rows(table, classes, active)
            without = _without(classes, places)
            allowed = guard.admits(
                table, without.rows, without.starts[owners], without.stops[owners]
            )
            places, owners, saved = places[allowed], owners[allowed], saved[allowed]
            order = np.lexsort((classes.rows[places], -saved))[:budget]
            classes, active = _without(classes, places[order]), np.sort(owners[order])
            budget -= len(order)
            context.progress(len(classes.suppressed) - before)
        context.find(
            Finding(
                name="outliers_suppressed",
                value=len(classes.suppressed) - before,
                meaning="Rows that were suppressed because they cost the rest of their class more.",
                better="lower",
            )
        )
        return classes


def _without(classes: Classes, places: IntArray) -> Classes:
    """Suppress the rows at these places; no class may lose all of its rows."""
    kept = np.ones(len(classes.rows), bool)
    kept[places] = False
    lost = np.bincount(classes.class_of_position()[places], minlength=len(classes))
    return attrs.evolve(
        classes,
        rows=classes.rows[kept],
        bounds=np.append(0, np.cumsum(classes.sizes - lost)),
        suppressed=np.sort(np.concatenate([classes.suppressed, classes.rows[places]])),
    )
