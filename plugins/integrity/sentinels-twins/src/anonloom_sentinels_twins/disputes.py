"""Who contradicts whom, and whether sentinels settle it.

Two workers contradict each other if they answer a job that both have differently (more often than
honest answers differ): one of them, at least, omits work. A worker whose own sentinels prove that
it omits work explains everybody who contradicts it. What is left are disputes: workers of whom
none is proved lazy, connected by contradictions.

An explanation of a dispute says who in it works: workers of whom no two contradict each other, and
so many that nobody could be added. The others omit work. How many are on a side says nothing, nor
how often they agree with each other: whoever compares jobs agrees. So all explanations are equally
probable at first, and sentinels alone weigh them, as nobody can compare a sentinel with anybody.
If the workers L are those who omit work, they do so on a share of their jobs, of which d of the n
jobs that they share with others give an idea; with every share as probable before that, all their
M sentinels pass with

    B(d + 1, n - d + M + 1) / B(d + 1, n - d + 1)

(B is Euler's beta function; the mean of (1 - share)^M given d and n). This is a bound: a wrong
guess shows in a sentinel at least as often as in a genuine row, since no class is rarer among
sentinels than the most frequent one is frequent among rows. A worker is believed if the
explanations by which it omits work have a probability of at most `OPEN`, together.
"""

from collections.abc import Iterator, Sequence

import attrs
import numpy as np

from anonloom.lazy import lazy_module
from anonloom.typing import BoolArray, FloatArray, IntArray
from anonloom_sentinels_twins.posterior import Counts
from anonloom_sentinels_twins.work_check import Dispute

csgraph = lazy_module("scipy.sparse.csgraph")
sparse = lazy_module("scipy.sparse")
special = lazy_module("scipy.special")

#: A dispute is open for whoever may be wrong in it with more than this probability.
OPEN = 0.01
# Of more workers, or with more explanations than this, only two camps are weighed.
_MOST_WORKERS, _MOST_EXPLANATIONS = 64, 1000


@attrs.frozen(eq=False)
class Disputes:
    """All disputes of one campaign.

    Attributes
    ----------
    listed
        Who contradicts whom.
    lazy
        By worker: the probability that it omits work, by the explanations of its dispute; NaN
        outside of all.
    opposed
        By worker and worker: whether they are of different camps, in a dispute between two.
    """

    listed: tuple[Dispute, ...]
    lazy: FloatArray
    opposed: BoolArray

    @property
    def open(self) -> BoolArray:
        """By worker: whether it is in a dispute, and not believed."""
        return np.asarray(self.lazy > OPEN)


def disputes(
    counts: Counts, campaign: int, contradict: BoolArray, proved: BoolArray, error: float
) -> Disputes:
    """Find the disputes of one campaign, and weigh their explanations.

    Parameters
    ----------
    counts, campaign
        What the controls said, and of which campaign.
    contradict
        By worker and worker: who contradicts whom; symmetric.
    proved
        By worker: who omits work for certain.
    error
        The share of honest answers that differ.
    """
    workers = len(proved)
    left = contradict & ~proved[:, None] & ~proved[None, :]
    lazy, opposed = np.full(workers, np.nan), np.zeros((workers, workers), dtype=bool)
    listed = []
    number, part = csgraph.connected_components(sparse.csr_array(left), directed=False)
    for indice in range(number):
        members = np.flatnonzero(part == indice)
        if len(members) == 1:
            continue
        inside = left[np.ix_(members, members)]
        sides = _sides(inside)
        works = _explanations(inside, sides)
        if works is None:
            # Nothing is known but that somebody is wrong.
            lazy[members], camps = 0.5, np.zeros(len(members), dtype=np.int64)
        else:
            whole = np.zeros((len(works), workers), dtype=bool)
            whole[:, members] = works
            idle = ~whole & np.isin(np.arange(workers), members)
            weights = _weights(counts, campaign, whole, idle, ~proved, error)
            lazy[members] = weights @ ~works
            # Workers whom no explanation tells apart are one camp.
            camps = sides if sides is not None else np.unique(works, axis=1, return_inverse=True)[1]
        if sides is not None:
            opposed[np.ix_(members, members)] = sides[:, None] != sides[None, :]
        listed.append(_dispute(members, np.asarray(camps).ravel(), lazy))
    return Disputes(tuple(listed), lazy, opposed)


def _dispute(members: IntArray, camps: IntArray, lazy: FloatArray) -> Dispute:
    results = [frozenset(members[camps == camp].tolist()) for camp in np.unique(camps)]
    believed = members[lazy[members] <= OPEN]
    return Dispute(
        camps=tuple(sorted(results, key=lambda camp: (-len(camp), min(camp)))),
        believed=frozenset(believed.tolist()),
    )


def _sides(contradict: BoolArray) -> IntArray | None:
    """Divide connected workers into two camps that contradict each other; None if none would."""
    side = np.full(len(contradict), -1)
    side[0], ready = 0, [0]
    while ready:
        one = ready.pop()
        others = np.flatnonzero(contradict[one])
        if (side[others] == side[one]).any():
            return None
        new = others[side[others] < 0]
        side[new] = 1 - side[one]
        ready += new.tolist()
    return side


def _explanations(contradict: BoolArray, sides: IntArray | None) -> BoolArray | None:
    """Return who works by each explanation, one line each; None if there are too many."""
    if len(contradict) <= _MOST_WORKERS:
        results = []
        for works in _maximal_camps(contradict):
            results.append(works)
            if len(results) > _MOST_EXPLANATIONS:
                break
        else:
            return np.asarray(results)
    return None if sides is None else np.stack([sides == 0, sides == 1])


def _maximal_camps(contradict: BoolArray) -> Iterator[list[bool]]:
    """All sets of workers that agree and that nobody can be added to (Bron and Kerbosch 1973)."""
    workers = len(contradict)
    # Sets are the bits of a number.
    agrees = [
        _bits(~contradict[indice] & (np.arange(workers) != indice)) for indice in range(workers)
    ]
    open_ = [(0, (1 << workers) - 1, 0)]
    while open_:
        chosen, may, seen = open_.pop()
        if not may and not seen:
            yield [bool(chosen >> indice & 1) for indice in range(workers)]
            continue
        pivot = max(_members(may | seen), key=lambda one: (may & agrees[one]).bit_count())
        for member in _members(may & ~agrees[pivot]):
            bit = 1 << member
            open_.append((chosen | bit, may & agrees[member], seen & agrees[member]))
            may, seen = may & ~bit, seen | bit


def _bits(flags: BoolArray) -> int:
    return sum(1 << int(indice) for indice in np.flatnonzero(flags))


def _members(bits: int) -> Sequence[int]:
    return [indice for indice in range(bits.bit_length()) if bits >> indice & 1]


def _weights(
    counts: Counts, campaign: int, works: BoolArray, idle: BoolArray, free: BoolArray, error: float
) -> FloatArray:
    """Return the probability of each explanation, given the sentinels."""
    others = (free & ~idle).astype(np.float64)
    lazy = idle.astype(np.float64)
    differ, same = (
        ((lazy @ table[campaign]) * others).sum(axis=1) for table in (counts.different, counts.same)
    )
    failed, passed = counts.failed[campaign], counts.passed[campaign]
    logs = special.betaln(differ + lazy @ failed + 1, same + lazy @ passed + 1)
    logs -= special.betaln(differ + 1, same + 1)
    # Those who work fail sentinels by honest error only.
    logs += special.xlogy(works @ failed, error) + special.xlog1py(works @ passed, -error)
    weights = np.exp(logs - logs.max())
    return np.asarray(weights / weights.sum())
