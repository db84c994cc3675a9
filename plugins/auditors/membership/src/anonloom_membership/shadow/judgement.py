"""What the statistics of all shadow releases show of the targets."""

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np

from anonloom import short_repr
from anonloom.typing import BoolArray, FloatArray
from anonloom_membership.roc import area_under_curve
from anonloom_membership.separation import WORST, Separation
from anonloom_membership.shadow.likelihood_ratio import likelihood_ratios
from anonloom_membership.shadow.plan import PARTS, ShadowPlan

__all__ = ["Judgement"]

#: In each part of the releases a target is in so many, and not in so many.
FEWEST_OF_A_SORT = 2
WHO = "the tenth of the targets who are told apart best among the releases that are learned from"


@short_repr
@attrs.frozen(eq=False)
class Judgement:
    """Scores of the targets in the releases that are judged: every other one.

    Attributes
    ----------
    inside, scores
        (releases x targets): who is in which, and how much that looks so.
    worst
        Targets who were told apart best before.
    unfit
        Why nothing can be said; empty when something can.
    """

    inside: BoolArray
    scores: FloatArray
    worst: BoolArray
    unfit: str = ""

    @classmethod
    def of(cls, plan: ShadowPlan, results: Sequence[dict[str, Any]]) -> "Judgement":
        """Learn from one half of the releases that were published, and judge the other.

        Parameters
        ----------
        results
            Those of `ShadowRunner.run`, of all releases in their order.
        """
        published = np.array([result["status"] == "published" for result in results])
        inside, part = plan.inside[published], np.flatnonzero(published) % PARTS
        counts = [
            [sort[part == number].sum(axis=0) for sort in (inside, ~inside)]
            for number in range(PARTS)
        ]
        learned = part % 2 == 0
        if np.min(counts) < FEWEST_OF_A_SORT:
            nothing = np.zeros(inside[~learned].shape)
            unfit = (
                f"{int(published.sum())} of {len(results)} shadow releases were published: too few "
                "with or without a target"
            )
            return cls(inside[~learned], nothing, np.zeros(inside.shape[1], bool), unfit)
        statistics = np.array([result["statistics"] for result in results if result["statistics"]])
        scores = likelihood_ratios(statistics, inside, learned)
        first = part[learned] == 0
        worst = _told_apart_best(statistics[learned], inside[learned], first)
        return cls(inside[~learned], scores, worst)

    @property
    def separation(self) -> Separation:
        """The scores as those of one attack."""
        every = np.broadcast_to(self.worst, self.inside.shape)
        worst = (every[self.inside], every[~self.inside])
        return Separation(self.scores[self.inside], self.scores[~self.inside], worst, who=WHO)

    @property
    def areas(self) -> FloatArray:
        """AUC of every target."""
        return target_areas(self.scores, self.inside)


def _told_apart_best(statistics: FloatArray, inside: BoolArray, learned: BoolArray) -> BoolArray:
    """Mark the tenth of the targets who are told apart best."""
    result = target_areas(likelihood_ratios(statistics, inside, learned), inside[~learned])
    worst = np.zeros(inside.shape[1], bool)
    number = max(round(WORST * len(worst)), 1)
    worst[np.argsort(-result, kind="stable")[:number]] = True
    return worst


def target_areas(scores: FloatArray, inside: BoolArray) -> FloatArray:
    """Return the AUC of every target; one half where it is always inside, or never."""
    result = np.full(inside.shape[1], 0.5)
    for target in np.flatnonzero(inside.any(axis=0) & ~inside.all(axis=0)):
        there = inside[:, target]
        result[target] = area_under_curve(scores[there, target], scores[~there, target]).value
    return result
