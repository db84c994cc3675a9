"""Samplers: from every class, or from all rows; a share, or a number."""

from typing import ClassVar

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom import Classes, Sampler, StageContext, param
from anonloom.params import at_least, between
from anonloom.typing import IntArray


def share_of(share: float, sizes: IntArray) -> IntArray:
    """The share of so many rows, rounded up to whole rows.

    Nine digits decide, so that 0.7 of 10 rows is 7 although 0.7 has no exact binary form.
    """
    return np.ceil(np.round(share * np.asarray(sizes), 9)).astype(np.int64)


@attrs.frozen(kw_only=True)
class StratifiedSampler(Sampler):
    """Draws from every class without replacement; how many is a function of its size alone."""

    #: Parameters with which `anonloom plugins check` tries it.
    example: ClassVar[dict[str, object]] = {"share": 0.7}

    share: float | None = param(
        help="Share of every class that is kept, rounded up to whole rows.",
        default=None,
        check=between(0, 1, least_open=True),
    )
    per_class: int | None = param(
        help="Number of rows of every class that are kept; smaller classes are kept whole.",
        default=None,
        check=at_least(1),
    )
    remove: int | None = param(
        help="Number of rows of every class that are left out; nothing is kept of classes with no "
        "more rows than that.",
        default=None,
        check=at_least(1),
    )

    def __attrs_post_init__(self) -> None:
        """Refuse several parameters, and none."""
        if [self.share, self.per_class, self.remove].count(None) != 2:
            raise ValueError("give one of 'share', 'per_class' and 'remove'")

    def sample(self, classes: Classes, context: StageContext) -> NDArray[np.bool_]:
        """Return a mask over `classes.rows`."""
        label = classes.class_of_position()
        # Rows in random order within their class; the first of each are kept.
        order = np.lexsort((context.rng.random(len(label)), label))
        rank = np.arange(len(label)) - classes.starts[label]
        mask = np.empty(len(label), bool)
        mask[order] = rank < self.least_kept(classes.sizes)[label]
        return mask

    def least_kept(self, sizes: IntArray) -> IntArray:
        """Exactly as many rows as are kept of classes of these sizes."""
        if self.share is not None:
            return share_of(self.share, sizes)
        sizes = np.asarray(sizes, np.int64)
        if self.remove is not None:
            return np.maximum(sizes - self.remove, 0)
        return np.minimum(sizes, self.per_class or 0)


@attrs.frozen(kw_only=True)
class SimpleRandomSampler(Sampler):
    """Draws from all rows without replacement; a class may be left out altogether."""

    #: Parameters with which `anonloom plugins check` tries it.
    example: ClassVar[dict[str, object]] = {"share": 0.7}

    share: float = param(
        help="Share of all rows that is kept, rounded up to whole rows.",
        check=between(0, 1, least_open=True),
    )

    def sample(self, classes: Classes, context: StageContext) -> NDArray[np.bool_]:
        """Return a mask over `classes.rows`."""
        n = len(classes.rows)
        return _draw_mask(n, int(share_of(self.share, np.array(n))), context)

    def least_kept(self, sizes: IntArray) -> IntArray:
        """Nothing is guaranteed, so that no partitioner can precede it."""
        return np.zeros(np.shape(sizes), np.int64)


@attrs.frozen(kw_only=True)
class PreSampler(Sampler):
    """Draws from the table before there are classes, so that all later stages have less to do.

    What was left out is part of the population in which the others hide: nobody knows who was
    drawn.
    """

    #: Parameters with which `anonloom plugins check` tries it.
    example: ClassVar[dict[str, object]] = {"share": 0.5}

    share: float | None = param(
        help="Share of the table that is kept, rounded up to whole rows.",
        default=None,
        check=between(0, 1, least_open=True),
    )
    rows: int | None = param(
        help="Number of rows that are kept; a smaller table is kept whole.",
        default=None,
        check=at_least(1),
    )

    def __attrs_post_init__(self) -> None:
        """Refuse both parameters, and neither."""
        if (self.share is None) == (self.rows is None):
            raise ValueError("give either 'share' or 'rows'")

    def sample(self, classes: Classes, context: StageContext) -> NDArray[np.bool_]:
        """Return a mask over `classes.rows`."""
        n = len(classes.rows)
        if self.share is not None:
            return _draw_mask(n, int(share_of(self.share, np.array(n))), context)
        return _draw_mask(n, min(self.rows or 0, n), context)

    def least_kept(self, sizes: IntArray) -> IntArray:
        """Nothing is guaranteed of a class: there are none yet, and it cannot follow any."""
        return np.zeros(np.shape(sizes), np.int64)


def _draw_mask(n: int, count: int, context: StageContext) -> NDArray[np.bool_]:
    """Mark so many of n rows, every choice of them as likely as any other."""
    mask = np.zeros(n, bool)
    mask[context.rng.permutation(n)[:count]] = True
    return mask
