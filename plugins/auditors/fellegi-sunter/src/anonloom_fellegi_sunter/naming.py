"""Which row a record linkage names for every target, and how sure it is."""

import attrs
import numpy as np

from anonloom import short_repr
from anonloom.typing import FloatArray, IntArray
from anonloom_fellegi_sunter.linking import Linkage
from anonloom_fellegi_sunter.patterns import Comparison, patterns_of


@short_repr
@attrs.frozen(eq=False)
class NamedRows:
    """The rows that are named for all targets.

    Attributes
    ----------
    row
        Row of the release; -1 where no candidate is.
    margin
        Its weight over that of the target's best link to another target: what is known of somebody
        else says nothing of her.
    """

    row: IntArray
    margin: FloatArray

    @classmethod
    def of(cls, linkage: Linkage, nearest: IntArray) -> "NamedRows":
        """Name the best candidate; among equals the nearest row, if it is one of them.

        A pattern tells agreement from disagreement, and many rows may share the best one. The
        nearest of all rows is tried even if no block has it.

        Parameters
        ----------
        nearest
            The row that is nearest to every target, -1 for none.
        """
        row, weight = linkage.release.row.copy(), linkage.release.weight.copy()
        comparison = Comparison.of(linkage.attributes)
        known = np.flatnonzero(nearest >= 0)
        of_nearest = np.full(len(row), -np.inf)
        weights = linkage.model.weights(comparison.masks)
        of_nearest[known] = weights[patterns_of(comparison, known, nearest[known])]
        better = (of_nearest >= weight) & (nearest >= 0)
        row[better], weight[better] = nearest[better], of_nearest[better]
        # Whoever has no link to others is as sure as the weight alone.
        null = np.where(np.isfinite(linkage.null.weight), linkage.null.weight, 0.0)
        return cls(row, np.where(row >= 0, weight - null, -np.inf))
