"""What a class tells about a sensitive value: diversity, closeness, gain in certainty."""

import numpy as np

from anonloom.typing import FloatArray, IntArray
from anonloom_disclosure.counting import PublishedClasses, Tally


def certainty(tally: Tally, published: PublishedClasses) -> FloatArray:
    """Share of the most frequent value in every class, missing values counted as unknown."""
    return tally.most_by_class(tally.count) / published.sizes


def distinct_values(tally: Tally) -> IntArray:
    """Number of different values in every class (distinct l-diversity)."""
    return np.bincount(tally.of, minlength=tally.classes).astype(np.int64)


def entropy(tally: Tally) -> FloatArray:
    """Effective number of values in every class, exp(-sum q log q); 0 without any value."""
    share = tally.share
    bits = tally.sum_by_class(-share * np.log(share))
    return np.where(distinct_values(tally) > 0, np.exp(bits), 0.0)


def recursive_c(tally: Tally, l: int) -> FloatArray:  # noqa: E741  # the papers call it l
    """r_1 / (r_l + ... + r_m) of every class, r being its counts in descending order.

    Recursive (c, l)-diversity holds for every c above this; it is infinite where a class has fewer
    than l values.
    """
    order = np.lexsort((-tally.count, tally.of))
    of, count = tally.of[order], tally.count[order]
    first = np.searchsorted(of, np.arange(tally.classes))
    rank = np.arange(len(of)) - first[of]
    tail = np.bincount(of, np.where(rank >= l - 1, count, 0), minlength=tally.classes)
    c = np.full(tally.classes, np.inf)
    enough = tail > 0
    c[enough] = tally.most_by_class(tally.count)[enough] / tail[enough]
    return c


def beta(tally: Tally) -> float:
    """Largest relative gain (q - p) / p of any value in any class (basic beta-likeness)."""
    p = tally.overall[tally.value]
    return float(((tally.share - p) / p).max(initial=0.0))


def delta(tally: Tally) -> float:
    """Largest |log(q / p)| of a value that occurs in a class (delta-disclosure)."""
    return float(np.abs(np.log(tally.share / tally.overall[tally.value])).max(initial=0.0))


def certainty_by_chance(
    published: PublishedClasses, codes: IntArray, values: int, rng: "np.random.Generator"
) -> float:
    """Mean certainty of a record, had the values nothing to do with the classes.

    The values are dealt anew among the rows that are in a class. In small classes even unrelated
    values agree now and then; this is how much.
    """
    kept = np.flatnonzero(published.label >= 0)
    dealt = codes.copy()
    dealt[kept] = rng.permutation(codes[kept])
    chance = certainty(Tally.of_values(published, dealt, values), published)
    return float(chance @ published.sizes) / published.total
