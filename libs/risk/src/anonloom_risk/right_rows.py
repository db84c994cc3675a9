"""Whether the row that an attacker names is the person's own: by truth, by cover, or by best fit.

A row is right when the person behind it equals the target in all columns attacked, so that a twin's
row is right, too. Rows with equal published cells cannot be told apart: naming one of them is right
with the share of them that is.
"""

from collections.abc import Sequence

import attrs
import numpy as np

from anonloom import AuditInput
from anonloom.data import row_keys
from anonloom.lazy import pd
from anonloom.typing import BoolArray, Float32Array, FloatArray, IntArray
from anonloom_linkage.aligned_columns import AlignedColumn
from anonloom_linkage.features import Encoding
from anonloom_linkage.top2_search import Best, Blocks, search_top2
from anonloom_linkage.vectors import Vectors
from anonloom_risk.coverage import covered, is_generalized, wide_rows
from anonloom_risk.left_out import truth_is_known
from anonloom_risk.nearest_rows import ORIGINAL, RELEASE, TARGETS

__all__ = ["right_rows"]

#: Ties between people who fit a row equally well are broken by chance, by less than any column's
#: difference counts.
TIE = 1e-4
#: People whom every row is compared with first.
FIRST = 1 << 14


def right_rows(
    case: AuditInput,
    columns: Sequence[AlignedColumn],
    rows: IntArray,
    rng: np.random.Generator,
    workers: int = 1,
) -> FloatArray:
    """Return for every target the chance that the row named is right; 0 where none is.

    - Where it is known whose rows are (`truth`), that decides.
    - A generalized release is taken to be about the original's people: a class of m rows that
      covers a target holds the t people who equal it, so that one of its rows is right with t / m.
    - A row of single values, changed or made up, is right when nobody of the original fits it
      better than the target does. That happens by chance as well, and as often to people who are
      not in the release: the baseline takes it out.

    Parameters
    ----------
    columns
        The columns attacked of original, release and targets, in this order.
    rows
        The row of the release that is named for every target; -1 for none.
    """
    people, targets = _identities(columns)
    named = np.flatnonzero(rows >= 0)
    right = np.zeros(len(rows))
    if not len(named):
        return right
    groups, sizes = _published_groups(columns)
    group = groups[rows[named]]
    if truth_is_known(case):
        assert case.truth is not None
        owners = _Counts.of(groups, np.where(case.truth >= 0, people[case.truth], -1))
        right[named] = owners.number(group, targets[named]) / sizes[group]
        return right
    single = np.ones(len(named), bool)
    if is_generalized(columns, RELEASE):
        single = ~wide_rows(columns, RELEASE)[rows[named]]
        wide = named[~single]
        alike = np.append(np.bincount(people), 0)[np.minimum(targets[wide], people.max() + 1)]
        cells = [column.sides[RELEASE][rows[wide]] for column in columns]
        own = [column.sides[TARGETS][wide] for column in columns]
        fits = covered(columns, cells, own)
        right[wide] = np.where(fits, np.minimum(alike / sizes[group[~single]], 1.0), 0.0)
    if single.any():
        named = named[single]
        right[named] = _fits_best(columns, rows[named], named, people, targets, rng, workers)
    return right


def _identities(columns: Sequence[AlignedColumn]) -> tuple[IntArray, IntArray]:
    """Number the people of the original and the targets; who is alike in all columns shares one."""
    first, second = len(columns[0].sides[ORIGINAL]), len(columns[0].sides[TARGETS])
    keys = row_keys(
        (
            (np.concatenate([column.sides[ORIGINAL], column.sides[TARGETS]]), len(column))
            for column in columns
        ),
        first + second,
    )
    codes = pd.factorize(keys)[0].astype(np.int64)
    return codes[:first], codes[first:]


def _published_groups(columns: Sequence[AlignedColumn]) -> tuple[IntArray, IntArray]:
    """Number the rows of the release by their cells in the columns attacked; and count them."""
    keys = row_keys(
        ((column.sides[RELEASE], len(column)) for column in columns),
        len(columns[0].sides[RELEASE]),
    )
    groups = pd.factorize(keys)[0].astype(np.int64)
    return groups, np.bincount(groups)


class _Counts:
    """How often each pair of two numbers occurs."""

    def __init__(self, pairs: IntArray, counts: IntArray, width: int) -> None:
        self.pairs, self.counts, self.width = pairs, counts, width

    @classmethod
    def of(cls, first: IntArray, second: IntArray) -> "_Counts":
        width = int(second.max(initial=0)) + 1
        known = second >= 0
        pairs, counts = np.unique(first[known] * width + second[known], return_counts=True)
        return cls(pairs, counts, width)

    def number(self, first: IntArray, second: IntArray) -> IntArray:
        key = first * self.width + second
        index = np.searchsorted(self.pairs, key).clip(0, len(self.pairs) - 1)
        there = (self.pairs[index] == key) & (second < self.width)
        return np.where(there, self.counts[index], 0)


def _fits_best(
    columns: Sequence[AlignedColumn],
    rows: IntArray,
    named: IntArray,
    people: IntArray,
    targets: IntArray,
    rng: np.random.Generator,
    workers: int,
) -> BoolArray:
    """Whether nobody of the original is nearer to the row than the target is."""
    vectors = Vectors.of(columns, Encoding(), (ORIGINAL, RELEASE), workers)
    if not vectors.parts:
        return np.zeros(len(rows), bool)
    distinct, which = np.unique(rows, return_inverse=True)
    identity = np.eye(vectors.width)
    offset, _ = vectors.moments(ORIGINAL)
    of_rows = vectors.project(RELEASE, identity, offset, distinct)
    of_people = vectors.project(ORIGINAL, identity, offset)
    of_targets = vectors.project(TARGETS, identity, offset, named)
    # Nearest is where row . person - |person|^2 / 2 is largest.
    searched = np.hstack([of_rows, np.ones((len(of_rows), 1), np.float32)])
    own = np.einsum("ij,ij->i", searched[which], _with_norm(of_targets, rng))
    candidates = _with_norm(of_people, rng)
    right = np.ones(len(rows), bool)
    stop = 0
    while stop < len(candidates) and right.any():
        # Whoever is beaten by some people is out: few are left for the rest.
        start, stop = stop, min(max(4 * stop, FIRST), len(candidates))
        asked = np.unique(which[right])
        best = Best.none(len(searched))
        some = np.arange(start, stop)
        blocks = Blocks.of(np.zeros(len(asked), np.int64), np.zeros(len(some), np.int64), some)
        blocks = attrs.evolve(blocks, records=blocks.records._replace(members=asked))
        search_top2(searched, candidates, blocks, best, workers=workers)
        same = people[best.candidate[which]] == targets[named]
        right &= same | (own > best.score[which])
    return right


def _with_norm(vectors: Float32Array, rng: np.random.Generator) -> Float32Array:
    norms = np.einsum("ij,ij->i", vectors, vectors) / 2
    return np.hstack(
        [vectors, (TIE * rng.random(len(vectors)) - norms).astype(np.float32)[:, None]]
    )
