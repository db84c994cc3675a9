"""The outlier handler `regroup`."""

import attrs
import numpy as np

from anonloom import Classes, Guard, OutlierHandler, StageContext, Table, param
from anonloom.params import at_least, between
from anonloom_kernels.admissible_windows import windows_of
from anonloom_kernels.compiled import announce_interpreted, in_threads
from anonloom_kernels.level_order_key import level_order
from anonloom_kernels.losses import losses_of
from anonloom_kernels.optimal_cuts import divide
from anonloom_loss import gcp
from anonloom_regroup.blocks import Improver, arrange_classes, block_edges
from anonloom_regroup.measures import findings, rows_moved

#: Elements that are read per row and axis in a round, for an estimate of the time.
STEPS = 2500


@attrs.frozen(kw_only=True)
class Regroup(OutlierHandler):
    """Moves every row that fits its class badly to where the table as a whole loses less.

    The loss never rises: every change is weighed exactly, and a class that is split publishes
    nothing wider than before. Suppressed rows stay suppressed.
    """

    block: int = param(
        help="Rows of neighbouring classes among which changes are looked for; larger blocks find "
        "more and take longer.",
        default=4000,
        check=at_least(2),
    )

    rounds: int = param(
        help="How many times the blocks are formed anew at most, each time of other neighbours.",
        default=1,
        check=at_least(1),
    )

    sweeps: int = param(
        help="How many times the rows of a block are gone through at most.",
        default=10,
        check=at_least(1),
    )

    tolerance: float = param(
        help="A sweep or a round that saves less than this share of the loss is the last.",
        default=0.001,
        check=between(0, 1),
    )

    def handle(
        self, table: Table, classes: Classes, guard: Guard, context: StageContext
    ) -> Classes:
        """Return the regrouped classes."""
        if not len(classes) or not table.axes:
            return classes
        # Regions and a global recoding end here: they say nothing of classes that changed.
        regrouped = Classes(classes.rows, classes.bounds, classes.suppressed)
        start = before = gcp(table, regrouped)
        steps = STEPS * len(classes.rows) * len(table.axes) * self.rounds
        announce_interpreted(context, __package__, steps)
        for turn in range(self.rounds):
            regrouped = self._round(table, regrouped, guard, context, turn)
            now = gcp(table, regrouped)
            if before - now <= self.tolerance * before:
                break
            before = now
        regrouped = _split(table, regrouped, guard)
        old, new = classes.labels(len(table)), regrouped.labels(len(table))
        context.find(*findings(start, gcp(table, regrouped), rows_moved(old, new)))
        return regrouped

    def _round(
        self, table: Table, classes: Classes, guard: Guard, context: StageContext, turn: int
    ) -> Classes:
        """Improve every block of one arrangement."""
        classes = arrange_classes(table, classes, turn)
        improver = Improver.of(table, classes, guard, losses_of(table), self.sweeps, self.tolerance)
        edges = block_edges(classes, self.block)
        context.progress(turn * len(classes.rows), self.rounds * len(classes.rows))
        labels = in_threads(
            lambda at: improver.improve(classes, int(edges[at]), int(edges[at + 1])),
            range(len(edges) - 1),
            context.workers,
        )
        return Classes.from_labels(
            np.concatenate(labels), rows=classes.rows, suppressed=classes.suppressed
        )


def _split(table: Table, classes: Classes, guard: Guard) -> Classes:
    """Split classes that are large enough for two, where they lose least."""
    large = classes.sizes >= 2 * guard.min_size
    if not large.any():
        return classes
    chosen = large[classes.class_of_position()]
    rows, bounds = classes.rows[chosen], np.append(0, np.cumsum(classes.sizes[large]))
    rows = rows[level_order(table, rows, bounds)]
    ordered = np.ascontiguousarray(table.codes[:, rows].T)
    edges, _ = divide(losses_of(table), ordered, bounds, windows_of(table, rows, bounds, guard))
    sizes = np.concatenate([classes.sizes[~large], np.diff(edges)])
    return Classes(
        np.concatenate([classes.rows[~chosen], rows]),
        np.append(0, np.cumsum(sizes)),
        classes.suppressed,
    )
