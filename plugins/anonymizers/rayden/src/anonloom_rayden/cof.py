"""The outlier handler `cof`: badly connected rows leave their class and are partitioned anew."""

from typing import Literal

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom import (
    Classes,
    Finding,
    Guard,
    OutlierHandler,
    Partitioner,
    Schema,
    StageContext,
    Table,
    param,
)
from anonloom.params import at_least, between
from anonloom.typing import IntArray
from anonloom_kernels.compiled import announce_interpreted
from anonloom_loss import merge_until_admitted
from anonloom_rayden.detection import Chain, ScoreSettings, admits_rest, beyond, removable
from anonloom_rayden.gower import Categories, Distance, distance_problem, space_of
from anonloom_rayden.vptree import VpTree


@attrs.frozen(kw_only=True)
class Cof(OutlierHandler):
    """Connectivity-based outliers with recovery (RAYDEN, Algorithm 2).

    Rows whose score exceeds `mean + alpha x standard deviation` of their class are its outliers.
    They leave it, all outliers together are partitioned anew, and what then fits nowhere goes back
    or is suppressed.
    """

    alpha: float = param(
        help="How many standard deviations above the mean of its class a score must lie.",
        check=between(0, 1_000_000),
        default=2.0,
    )

    neighbourhood: Literal["half", "k"] | int = param(
        help="How many neighbours a row is compared with: half of k (at least 2), k, or a number; "
        "never more than its class has.",
        check=at_least(1),
        default="half",
    )

    chain: Chain = param(
        help="paper: a chain leads from neighbour to neighbour, later steps weigh more; sbn: the "
        "set-based nearest path of the original COF, on which the neighbour that is nearest to "
        "all before it comes next and earlier steps weigh more; pyod: that library's shortcut, "
        "the steps of sbn in the order of the distances from the row.",
        default="paper",
    )

    removal: Literal["capped", "paper"] = param(
        help="capped: the most outlying rows leave, as many as the guard allows; paper: all leave, "
        "and classes may fall below k.",
        default="capped",
    )

    recovery: Partitioner = param(
        help="The partitioner that makes new classes of the outliers.",
        default=VpTree(),
    )

    unrecovered: Literal["return", "suppress"] = param(
        help="What happens to outliers that find no new class: they return to their old one, or "
        "are suppressed.",
        default="return",
    )

    distance: Distance = param(
        help="As in the partitioner 'vp-tree'.",
        default="gower",
    )

    categories: Categories = param(
        help="As in the partitioner 'vp-tree'.",
        default="equality",
    )

    @property
    def sound(self) -> bool:
        """Whether every class stays admitted: not where all outliers leave."""
        return self.removal == "capped"

    def problem(self, schema: Schema) -> str | None:
        """Say that a Euclidean distance, here or in recovery, has nothing to do with categories."""
        own = distance_problem(schema, self.distance, self.categories)
        return self.recovery.problem(schema) if own is None else own

    def neighbours(self, k: int) -> int:
        """Size of the neighbourhood for classes of at least k rows."""
        if self.neighbourhood == "half":
            return max(2, k // 2)
        return k if self.neighbourhood == "k" else self.neighbourhood

    def handle(
        self, table: Table, classes: Classes, guard: Guard, context: StageContext
    ) -> Classes:
        """Return the classes without their outliers, and new classes of these."""
        space = space_of(table, self.distance, self.categories)
        if not len(classes):
            context.find(*findings(0, 0, 0, classes.total))
            return classes
        scoring = ScoreSettings(space, self.neighbours(guard.min_size), self.chain)
        announce_interpreted(context, __package__, scoring.steps(classes))
        scores = scoring.scores(table, classes, context)
        outlying = np.flatnonzero(beyond(scores, classes, self.alpha))
        leaving = outlying
        if self.removal == "capped":
            leaving = outlying[removable(table, classes, guard, outlying, scores)]
        context.progress(len(classes.rows) - len(leaving), len(classes.rows))
        result = self._partition_outliers(table, np.sort(classes.rows[leaving]), guard, context)
        gone = np.zeros(len(classes.rows), bool)
        gone[leaving] = True
        unfit = leaving[np.isin(classes.rows[leaving], result.suppressed)]
        if self.unrecovered == "return":
            unfit = unfit[~_go_back(table, classes, guard, gone, unfit)]
        context.progress(len(classes.rows), len(classes.rows))
        context.find(*findings(len(outlying), len(result.rows), len(unfit), classes.total))
        if not gone.any():
            self._warn(len(outlying), len(leaving), int(classes.sizes.max()), context)
            return classes
        kept = np.bincount(classes.class_of_position()[~gone], minlength=len(classes))
        return Classes(
            np.concatenate([classes.rows[~gone], result.rows]),
            np.append(0, np.cumsum(np.concatenate([kept, result.sizes]))),
            np.sort(np.concatenate([classes.suppressed, classes.rows[unfit]])),
        )

    def _warn(self, detected: int, left: int, largest: int, context: StageContext) -> None:
        """Say why nothing was done, where something could have been expected."""
        if largest - 1 <= self.alpha**2:
            context.warn(
                f"No row can be an outlier: one of p rows lies at most sqrt(p - 1) standard "
                f"deviations above their mean, no class has more than {largest} rows, and "
                f"'alpha: {self.alpha:g}' asks for more. A lower 'alpha' or larger classes help."
            )
        elif detected:
            reasons = []
            if detected > left:
                reasons.append(
                    f"{detected - left} are in classes without rows to spare beyond what the "
                    "privacy models demand (a partitioner that leaves some helps, such as vp-tree "
                    "with 'cut: half')"
                )
            if left:
                reasons.append(f"{left} could leave and form no class that these models admit")
            context.warn(
                f"{detected} outliers were detected and none was moved: {'; '.join(reasons)}. The "
                "release is the same without this stage."
            )

    def _partition_outliers(
        self, table: Table, rows: IntArray, guard: Guard, context: StageContext
    ) -> Classes:
        """Partition the outliers; those in no admitted class are suppressed in the result."""
        if not len(rows):
            return Classes.whole(rows)
        result = self.recovery.partition(table, Classes.whole(rows), guard, context)
        if self.recovery.guard_use == "size" and self.recovery.sound:
            result = merge_until_admitted(table, result, guard)
        return result.suppress(~guard.admits_classes(table, result))


def _go_back(
    table: Table, classes: Classes, guard: Guard, gone: NDArray[np.bool_], positions: IntArray
) -> NDArray[np.bool_]:
    """Return positions to their classes where the guard admits that; say which are back.

    A class was admitted with all its outliers and without them. With some of them a model that is
    not monotone, such as t-closeness, may refuse it.
    """
    home = classes.class_of_position()[positions]
    homes, which = np.unique(home, return_inverse=True)
    gone[positions] = False
    if not len(positions):
        return np.zeros(0, bool)
    back: NDArray[np.bool_] = admits_rest(table, classes, guard, gone, homes)[which]
    gone[positions[~back]] = True
    return back


def findings(detected: int, recovered: int, suppressed: int, total: int) -> tuple[Finding, ...]:
    """What became of the outliers."""
    kept = detected - recovered - suppressed
    return (
        Finding(
            name="outliers_detected",
            value=detected,
            meaning="Rows that are badly connected with their class.",
        ),
        Finding(
            name="outliers_recovered",
            value=recovered,
            meaning="Outliers that form new classes among themselves.",
            better="higher",
        ),
        Finding(
            name="outliers_kept",
            value=kept,
            meaning="Outliers that stay in their class: it needs them, or they fit in no other.",
            better="lower",
        ),
        Finding(
            name="outliers_suppressed",
            value=suppressed,
            meaning="Outliers that fit nowhere and are published as '*'.",
            better="lower",
        ),
        Finding(
            name="recovery_rate",
            value=recovered / detected if detected else None,
            status="measured" if detected else "none detected",
            meaning="Share of the outliers that form new classes; one that stays in its class does "
            "not count as recovered.",
            better="higher",
        ),
        Finding(
            name="suppression_rate",
            value=suppressed / total if total else 0.0,
            meaning="Share of all rows that are outliers and fit nowhere.",
            better="lower",
        ),
    )
