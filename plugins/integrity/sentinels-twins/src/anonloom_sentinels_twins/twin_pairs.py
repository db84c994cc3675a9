"""Which workers may share a job, and which lazy workers share the fewest with honest ones."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def sharing_pairs(workers: int, groups: Sequence[frozenset[int]] = ()) -> NDArray[np.int64]:
    """The pairs of workers that may share a job: those that no group holds both of.

    Returns
    -------
    ndarray of int64, pairs x 2
        The smaller number first, in order.
    """
    apart = np.triu(np.ones((workers, workers), dtype=bool), 1)
    for group in groups:
        inside = sorted(group)
        apart[np.ix_(inside, inside)] = False
    return np.argwhere(apart)


def count_sharing(workers: int, groups: Sequence[frozenset[int]] = ()) -> int:
    """How many pairs `sharing_pairs` has; counted without listing them if no groups overlap."""
    if _overlap(groups):
        return len(sharing_pairs(workers, groups))
    inside = sum(len(group) * (len(group) - 1) // 2 for group in groups)
    return workers * (workers - 1) // 2 - inside


def _overlap(groups: Sequence[frozenset[int]]) -> bool:
    return sum(len(group) for group in groups) > len(frozenset[int]().union(*groups))


def least_shared(
    workers: int, lazy: int, groups: Sequence[frozenset[int]], pull: float
) -> tuple[float, float]:
    """The lazy workers that twins watch least: what they share, and the pairs among themselves.

    `shared` is the sum, over the lazy workers, of how many workers each may share a job with, and
    `both` is the number of pairs of two lazy workers that may. The least `shared - pull both` is
    looked for. Without groups all choices are alike: z (W - 1) and z (z - 1) / 2.

    With k_g lazy workers in group g of n_g workers (a worker in no group is a group of its own),
    it is, but for a constant, the sum of k_g (W - n_g) + pull k_g (k_g - 1) / 2. That is convex in
    each k_g, so taking z times the worker who adds least gives the least. Of groups that overlap a
    bound is returned: the z least degrees, and every two lazy workers a pair.
    """
    among = lazy * (lazy - 1) / 2
    grouped = frozenset[int]().union(*groups)
    if _overlap(groups):
        degrees = np.bincount(sharing_pairs(workers, groups).ravel(), minlength=workers)
        return float(np.sort(degrees)[:lazy].sum()), among
    sizes = [len(group) for group in groups if group] + [1] * (workers - len(grouped))
    chosen = sorted(
        (workers - size + pull * before, workers - size, group)
        for group, size in enumerate(sizes)
        for before in range(size)
    )[:lazy]
    inside = np.bincount([group for _, _, group in chosen], minlength=len(sizes))
    both = among - float((inside * (inside - 1) / 2).sum())
    return float(sum(degree for _, degree, _ in chosen)), both
