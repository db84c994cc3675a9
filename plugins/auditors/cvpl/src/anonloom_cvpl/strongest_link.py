"""The row that is named for every target by the strongest attacker that links by similarity.

Two searches of all columns: the nearest row, every column counting the same, which finds what was
copied; and the likeliest, columns weighed by what the release kept of them (`kept_columns`), which
finds what was changed. Either answer is scored by how much better it is than the best person of the
population, and on the scale of what people of the population score themselves, so that the surer
one of both is given. Nothing is blocked or projected unless there are too many pairs.
"""

from collections.abc import Sequence

import attrs
import numpy as np

from anonloom import short_repr
from anonloom.typing import FloatArray, IntArray
from anonloom_cvpl.kept_columns import KeptColumns
from anonloom_linkage.aligned_columns import AlignedColumn
from anonloom_risk import NearestRows, Passes
from anonloom_risk.nearest_rows import CONTROL, ORIGINAL, RELEASE, TARGETS

#: People of the population whose scores say what is usual, and the share of all that they may be.
MOST_USUAL, SHARE_OF_USUAL = 500, 0.25
#: With fewer of them, nobody knows what is usual.
FEWEST_USUAL = 20
#: What is usual: the middle of their scores, and what hardly anybody exceeds.
MIDDLE, HIGH = 0.5, 0.99


@short_repr
@attrs.frozen(eq=False)
class Link:
    """The row that is named for every target, -1 for none, and how sure that is."""

    row: IntArray
    score: FloatArray

    @classmethod
    def nobody(cls, targets: int) -> "Link":
        """Return what is known where nothing can be compared."""
        return cls(np.full(targets, -1, np.int64), np.full(targets, -np.inf))

    def of(self, targets: slice) -> "Link":
        """Return the links of some targets."""
        return Link(self.row[targets], self.score[targets])


def strongest_link(
    columns: Sequence[AlignedColumn], rng: np.random.Generator, workers: int = 1
) -> Link:
    """Name a row for every target.

    Parameters
    ----------
    columns
        Those of `align_evidence`.
    """
    targets = len(columns[0].sides[TARGETS])
    columns = _with_usual_people(columns, rng)
    kept = KeptColumns.learn(columns, rng, workers)
    if kept is None:
        return Link.nobody(targets)
    passes = Passes.of(columns, TARGETS, kept.vectors.width)
    nearest = NearestRows.of(columns, workers, passes)
    by_distance = Link(nearest.row, nearest.surprise)
    if nearest.covering is not None:
        # What covers whom needs no model of what was changed: nothing was.
        return by_distance.of(slice(targets))
    by_likelihood = _likeliest(columns, kept, passes, workers)
    asked, usual = slice(targets), slice(targets, None)
    if len(by_distance.of(usual).row) < FEWEST_USUAL:
        return by_likelihood.of(asked)
    results = [
        Link(link.row[asked], _beyond_usual(link.score[asked], link.score[usual]))
        for link in (by_distance, by_likelihood)
    ]
    surer = results[0].score > results[1].score
    return Link(
        np.where(surer, results[0].row, results[1].row),
        np.where(surer, results[0].score, results[1].score),
    )


def _with_usual_people(
    columns: Sequence[AlignedColumn], rng: np.random.Generator
) -> list[AlignedColumn]:
    """Add people of the population to the targets, who are taken out of it."""
    known = CONTROL if len(columns[0].sides) > CONTROL else ORIGINAL
    rows = len(columns[0].sides[known])
    number = min(MOST_USUAL, int(SHARE_OF_USUAL * rows))
    usual = np.sort(rng.choice(rows, number, replace=False))
    rest = np.setdiff1d(np.arange(rows), usual) if known == CONTROL else np.arange(rows)
    results = []
    for column in columns:
        sides = list(column.sides)
        sides[TARGETS] = np.concatenate([sides[TARGETS], sides[known][usual]])
        sides[known] = sides[known][rest]
        results.append(attrs.evolve(column, sides=tuple(sides)))
    return results


def _likeliest(
    columns: Sequence[AlignedColumn], kept: KeptColumns, passes: Passes, workers: int
) -> Link:
    """Name the row that is likeliest to be the target's own, beside people of the population."""
    records = kept.records(TARGETS)
    best = passes.best(records, kept.candidates(RELEASE), RELEASE, workers)
    if len(columns[0].sides) > CONTROL:
        others = passes.best(records, kept.candidates(CONTROL), CONTROL, workers).score
    else:
        found = passes.best(records, kept.candidates(ORIGINAL), ORIGINAL, workers)
        # Whoever is in the original is likest to herself.
        own = np.einsum("ij,ij->i", records, kept.candidates(TARGETS))
        near = np.abs(own) * np.finfo(np.float32).eps * records.shape[1]
        others = np.where(found.score >= own - near, found.second, found.score)
    # Without anybody else, a row is compared with anybody: a likelihood ratio of 1.
    anybody = -kept.constants(TARGETS)
    score = best.score - np.logaddexp(others.astype(float), anybody)
    return Link(best.candidate, score)


def _beyond_usual(score: FloatArray, usual: FloatArray) -> FloatArray:
    """Return scores on the scale of what is usual: 0 in the middle, 1 where few are."""
    known = usual[np.isfinite(usual)]
    if not len(known):
        return score
    middle, high = np.quantile(known, [MIDDLE, HIGH])
    result: FloatArray = (score - middle) / max(float(high - middle), 1e-6)
    return result
