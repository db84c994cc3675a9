"""Difference: what is left of a class for newcomers when an earlier release is taken out of it."""

import attrs
import numpy as np

from anonloom.lazy import lazy_module
from anonloom.typing import BoolArray, IntArray
from anonloom_intersection.candidates import Attack, Candidates
from anonloom_intersection.typing import SparseMatrix

sparse = lazy_module("scipy.sparse")


@attrs.frozen(eq=False)
class Newcomers:
    """People who are known to be in one release and not in another.

    Attributes
    ----------
    people
        Rows of the original.
    alone
        What the release that they are in leaves possible for each.
    candidates
        What is left when the other release is taken out of it.
    """

    people: IntArray = attrs.field(repr=False)
    alone: Candidates
    candidates: Candidates


def newcomers(
    attack: Attack, name: str, later: int, earlier: int, members: tuple[BoolArray, BoolArray]
) -> Newcomers:
    """Take an earlier release out of a later one.

    Of the m_A(v) rows with the value v in a region A of the earlier release, at most as many are
    elsewhere in the later one, or in it no more, as A has people whom the attacker does not know to
    be in the region B. So B holds at least m_A(v) - |A outside B| of them, and newcomers in B have
    v only where B has more rows with v than that, over all A. Where A lies in B as a whole, this is
    the plain difference.

    Parameters
    ----------
    later, earlier
        Places of the releases among those that show the column.
    members
        For both, who of the original is in it.
    """
    _, shown = attack.sensitive[name]
    covering = attack.covering[shown[later]]
    certain = attack.counts(name, certain=True)[earlier]
    counts = attack.counts(name)[later]
    inside, before = members
    stayed = np.flatnonzero(inside & before)
    pairs = _shared_people(
        _only_region(attack.covering[shown[earlier]][stayed]), _only_region(covering[stayed])
    )
    known = _least_shared(certain, attack.regions[shown[earlier]].sizes, pairs, counts.shape[0])
    left = counts - counts.minimum(known)
    left.eliminate_zeros()
    people = np.flatnonzero(inside & ~before)
    own = attack.own_values(name)[people]
    return Newcomers(
        people, Candidates(covering[people] @ counts, own), Candidates(covering[people] @ left, own)
    )


def _only_region(covering: SparseMatrix) -> IntArray:
    """Return the one region that covers each person, -1 where there are several or none."""
    alone = np.diff(covering.indptr) == 1
    result = np.full(len(alone), -1, np.int64)
    result[alone] = covering.indices[covering.indptr[:-1][alone]]
    return result


def _shared_people(earlier: IntArray, later: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return pairs of an earlier and a later region, and how many people are surely in both."""
    known = (earlier >= 0) & (later >= 0)
    width = int(later.max(initial=0)) + 1
    pairs, people = np.unique(earlier[known] * width + later[known], return_counts=True)
    return pairs // width, pairs % width, people.astype(np.int64)


def _least_shared(
    certain: SparseMatrix, sizes: IntArray, pairs: tuple[IntArray, IntArray, IntArray], later: int
) -> SparseMatrix:
    """Return (later regions x values): rows that people of the earlier release have at least."""
    first, second, people = pairs
    outside = sizes[first] - people
    least = certain[first]
    least.data = np.maximum(least.data - np.repeat(outside, np.diff(least.indptr)), 0)
    entries = (np.ones(len(second), np.int64), (second, np.arange(len(second))))
    total = (sparse.csr_array(entries, shape=(later, len(second))) @ least).tocsr()
    total.eliminate_zeros()
    return total
