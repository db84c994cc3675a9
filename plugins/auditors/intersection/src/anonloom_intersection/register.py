"""Register: what two releases leave possible for who knows the members of both, solved as a whole.

Whoever knows the quasi-identifiers of all members knows how many people each class of one release
shares with each class of the other, and how many are in one release alone. How many of each group
have which value is a transportation problem: rows and columns of counts have to add up. Bounds are
tightened until nothing changes, as in the shuttle algorithm for contingency tables (Dobra and
Fienberg, 2000). Subtracting a release from a later one is a special case.
"""

import attrs
import numpy as np

from anonloom import short_repr
from anonloom.lazy import lazy_module
from anonloom.typing import BoolArray, IntArray
from anonloom_intersection.candidates import Attack, Candidates
from anonloom_intersection.regions import Regions
from anonloom_intersection.typing import SparseMatrix

sparse = lazy_module("scipy.sparse")

#: Bounds are valid after every round; few tables need more than ten.
MOST_ROUNDS = 100
#: More than any count: what nothing is known of.
UNBOUNDED = 1 << 40


@short_repr
@attrs.frozen(eq=False)
class Side:
    """One of the two releases.

    Attributes
    ----------
    possible, certain
        (regions x values): rows that may have the value, and rows that surely have it.
    complete
        Whether every row has a value.
    """

    regions: Regions
    covering: SparseMatrix
    possible: SparseMatrix
    certain: SparseMatrix
    complete: bool

    @property
    def sizes(self) -> IntArray:
        """How many rows each region has."""
        return self.regions.sizes

    def only_region(self, people: IntArray) -> IntArray:
        """Return the one region that covers each person, -1 where there are several or none."""
        covering = self.covering[people]
        alone = np.diff(covering.indptr) == 1
        result = np.full(len(people), -1, np.int64)
        result[alone] = covering.indices[covering.indptr[:-1][alone]]
        # More people than rows: some of them are suppressed, and nobody knows who.
        crowded = np.bincount(result[alone], minlength=len(self.sizes)) > self.sizes
        result[alone] = np.where(crowded[result[alone]], -1, result[alone])
        return result


@attrs.frozen(eq=False)
class Known:
    """What is left for people by a pair of releases.

    Attributes
    ----------
    people
        Rows of the original.
    single
        What is left by the release, or releases, that they are in, each by itself.
    """

    people: IntArray = attrs.field(repr=False)
    candidates: Candidates
    single: tuple[Candidates, ...]


@attrs.frozen(eq=False)
class Pair:
    """What is left for the people of both releases, and for those of one alone."""

    both: Known
    apart: tuple[Known, Known]


def solve(
    attack: Attack, name: str, pair: tuple[int, int], members: tuple[BoolArray, BoolArray]
) -> Pair:
    """Bound how many people of each group have each value, and say what is possible for whom.

    Parameters
    ----------
    pair
        Places of the releases among those that show the column.
    members
        For both, who of the original is in it.
    """
    sides = tuple(_side(attack, name, place) for place in pair)
    own = attack.own_values(name)
    shared = np.flatnonzero(members[0] & members[1])
    groups, group = _Groups.of(sides, shared)
    upper = groups.upper_bounds()
    rest = [groups.rest(upper, number) for number in (0, 1)]
    singles = [Candidates(side.covering @ side.possible, own) for side in sides]
    # Whose region is not certain is somewhere in what is left of the regions that cover her.
    left = (sides[0].covering[shared] @ rest[0]).minimum(sides[1].covering[shared] @ rest[1])
    certain = sparse.csr_array(
        (np.ones((group >= 0).sum(), np.int64), (np.flatnonzero(group >= 0), group[group >= 0])),
        shape=(len(shared), len(groups)),
    )
    left = sparse.diags_array((group < 0).astype(np.int64), dtype=np.int64) @ left
    both = Known(
        shared,
        _candidates(certain @ upper + left, own[shared]),
        tuple(single.of(shared) for single in singles),
    )
    apart = []
    for side, matrix, single, inside in zip(
        sides, rest, singles, (members[0] & ~members[1], members[1] & ~members[0]), strict=True
    ):
        people = np.flatnonzero(inside)
        candidates = _candidates(side.covering[people] @ matrix, own[people])
        apart.append(Known(people, candidates, (single.of(people),)))
    return Pair(both, (apart[0], apart[1]))


def _side(attack: Attack, name: str, place: int) -> Side:
    values, shown = attack.sensitive[name]
    regions = attack.regions[shown[place]]
    cells = values.column.sides[place + 1][regions.rows]
    return Side(
        regions,
        attack.covering[shown[place]],
        attack.counts(name)[place],
        attack.counts(name, certain=True)[place],
        bool((np.diff(values.possible.indptr)[cells] > 0).all()),
    )


def _candidates(counts: SparseMatrix, own: IntArray) -> Candidates:
    counts = counts.tocsr()
    counts.eliminate_zeros()
    return Candidates(counts, own)


@short_repr
@attrs.frozen(eq=False)
class _Groups:
    """People who are alike in both releases.

    Attributes
    ----------
    regions
        For both releases the region of each group, -1 for the rest of the other release's region.
    people
        How many people each has.
    """

    sides: tuple[Side, ...]
    regions: tuple[IntArray, IntArray]
    people: IntArray

    @classmethod
    def of(cls, sides: tuple[Side, ...], shared: IntArray) -> "tuple[_Groups, IntArray]":
        """Group people, and return for each of those of both releases the group, -1 for none."""
        first, second = (side.only_region(shared) for side in sides)
        known = (first >= 0) & (second >= 0)
        width = len(sides[1].sizes)
        pairs, index, people = np.unique(
            first[known] * width + second[known], return_inverse=True, return_counts=True
        )
        group = np.full(len(shared), -1, np.int64)
        group[known] = index
        regions = [pairs // max(width, 1), pairs % max(width, 1)]
        rests = [
            side.sizes - np.bincount(of_pair, people, len(side.sizes)).astype(np.int64)
            for side, of_pair in zip(sides, regions, strict=True)
        ]
        nowhere = [np.full(len(rest), -1) for rest in rests]
        return cls(
            sides,
            (
                np.concatenate([regions[0], np.arange(len(rests[0])), nowhere[1]]),
                np.concatenate([regions[1], nowhere[0], np.arange(len(rests[1]))]),
            ),
            np.concatenate([people, *rests]),
        ), group

    def __len__(self) -> int:
        return len(self.people)

    def rest(self, upper: SparseMatrix, number: int) -> SparseMatrix:
        """Return of (groups x values) the rows of what is left of a release's regions."""
        pairs = len(self) - sum(len(side.sizes) for side in self.sides)
        start = pairs + number * len(self.sides[0].sizes)
        return upper[start : start + len(self.sides[number].sizes)]

    def upper_bounds(self) -> SparseMatrix:
        """Return (groups x values): at most so many people of the group have the value."""
        pairs = (self.regions[0] >= 0) & (self.regions[1] >= 0)
        first, second = (side.possible for side in self.sides)
        most = sparse.vstack(
            [
                first[self.regions[0][pairs]].minimum(second[self.regions[1][pairs]]),
                first,
                second,
            ],
            format="csr",
        )
        group = np.repeat(np.arange(len(self)), np.diff(most.indptr))
        people = self.people[group]
        sums = [
            _Sums.of(side, of_group[group], most.indices)
            for side, of_group in zip(self.sides, self.regions, strict=True)
        ]
        # Where values are missing, a group may have fewer values than people.
        least = people if all(side.complete for side in self.sides) else people - UNBOUNDED
        sums.append(_Sums(group, len(self), least, people))
        upper = _tighten(np.minimum(most.data, people), sums)
        result = sparse.csr_array((upper, most.indices, most.indptr), most.shape)
        result.eliminate_zeros()
        return result


def _tighten(most: IntArray, sums: "list[_Sums]") -> IntArray:
    """Return how large each entry can be at most, so that all sums can be what they must."""
    lower, upper = np.zeros(len(most), np.int64), most
    for _ in range(MOST_ROUNDS):
        lows = [lower, *(one.lower(upper) for one in sums)]
        highs = [upper, *(one.upper(lower) for one in sums)]
        before = lower.sum() - upper.sum()
        lower, upper = np.max(lows, axis=0), np.min(highs, axis=0)
        if (lower > upper).any():
            # No people fit: the register takes somebody for published who is suppressed.
            return most
        if lower.sum() - upper.sum() == before:
            break
    return upper


@short_repr
@attrs.frozen(eq=False)
class _Sums:
    """Entries whose sum is known to lie between two numbers.

    Attributes
    ----------
    of_entry
        The sum that each entry is part of.
    least, most
        What the sum of each entry is at least and at most.
    """

    of_entry: IntArray
    number: int
    least: IntArray
    most: IntArray

    @classmethod
    def of(cls, side: Side, region: IntArray, value: IntArray) -> "_Sums":
        """Return the sums over the groups of a region that have a value."""
        width = side.possible.shape[1]
        sums, of_entry = np.unique(region * width + value, return_inverse=True)
        known = region >= 0
        least = np.full(len(region), -UNBOUNDED)
        most = np.full(len(region), UNBOUNDED)
        keys = region[known] * width + value[known]
        least[known] = _entries(side.certain, keys)
        most[known] = _entries(side.possible, keys)
        return cls(of_entry, len(sums), least, most)

    def lower(self, upper: IntArray) -> IntArray:
        """Bound each entry from below by what the others of its sum have at most."""
        return self.least - (self._total(upper) - upper)

    def upper(self, lower: IntArray) -> IntArray:
        """Bound each entry from above by what the others of its sum have at least."""
        return self.most - (self._total(lower) - lower)

    def _total(self, entries: IntArray) -> IntArray:
        sums = np.bincount(self.of_entry, entries, self.number)
        return sums.astype(np.int64)[self.of_entry]


def _entries(matrix: SparseMatrix, keys: IntArray) -> IntArray:
    """Return entries of a matrix, numbered row by row."""
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    known = rows * matrix.shape[1] + matrix.indices
    order = np.argsort(known)
    place = np.searchsorted(known[order], keys)
    found = np.append(known[order], -1)[place] == keys
    result: IntArray = np.where(found, np.append(matrix.data[order], 0)[place], 0)
    return result
