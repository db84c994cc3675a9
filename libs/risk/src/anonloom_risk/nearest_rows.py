"""The nearest row of a release for every target, and how surprising it is that it is so near.

Numbers are measured in standard deviations, categories by indicators, and a generalized cell stands
for the mean of what it covers. A near row says little where people are many: what tells a person's
own row from a stranger's is that it is nearer than people of the population usually are. So an
attacker compares it with the nearest person of the control or, where there is none, with the
nearest other person of the original. Where a release is generalized, a row of the most specific
class that covers the person is named instead.
"""

from collections.abc import Sequence

import attrs
import numpy as np

from anonloom import AuditInput, Release, Table, short_repr
from anonloom.typing import Float32Array, FloatArray, IntArray
from anonloom_linkage.aligned_columns import AlignedColumn, align_columns, shared_columns
from anonloom_linkage.features import Encoding
from anonloom_linkage.top2_search import Best, Blocks, search_top2
from anonloom_linkage.vectors import Vectors
from anonloom_risk.coverage import is_generalized
from anonloom_risk.covering_rows import CoveringRows
from anonloom_risk.passes import Passes

__all__ = [
    "CONTROL",
    "EQUAL",
    "KNOWN",
    "NEAR",
    "ORIGINAL",
    "RELEASE",
    "TARGETS",
    "NearestRows",
    "align_evidence",
    "nearest_two",
    "population_distance",
    "surprise",
]

#: Numbers of the tables among the sides of aligned columns.
ORIGINAL, RELEASE, TARGETS, CONTROL = 0, 1, 2, 3
#: What an attacker knows of a person; what is sensitive he wants to learn.
KNOWN = frozenset({"quasi", "label", "other"})
#: Nearer than a tenth of a standard deviation is not surer, squared; where people are dense, than
#: so large a share of the distance that half of the people have from others.
NEAR, DENSE = 0.01, 0.05
#: Of single precision nothing less than this is left: two records are equal.
EQUAL = 1e-4


def align_evidence(
    case: AuditInput, targets: Table, names: Sequence[str] | None = None
) -> tuple[AlignedColumn, ...]:
    """Bring original, release, targets and control into one representation, in this order.

    Parameters
    ----------
    names
        The columns; by default all with a role of `KNOWN` that every table shows.
    """
    assert case.original is not None
    others: list[Release | Table] = [case.release, targets]
    others += [case.control] if case.control is not None else []
    shown = shared_columns(case.original, others, KNOWN)
    return align_columns(case.original, others, shown if names is None else names)


@short_repr
@attrs.frozen(eq=False)
class NearestRows:
    """The nearest rows of all targets.

    Attributes
    ----------
    row
        Nearest row of the release, or one that covers the target where that says more; -1 where
        there is none.
    distance
        Squared distance from the nearest row.
    reference
        Squared distance from the nearest person of the control or, without one, of the original,
        the target itself left out.
    covering
        How much more likely than any other a row is that covers the target and is named for that,
        as a logarithm; -inf where the nearest row is named. None where no release is generalized.
    """

    row: IntArray
    distance: FloatArray
    reference: FloatArray
    covering: FloatArray | None = None

    @classmethod
    def of(
        cls,
        columns: Sequence[AlignedColumn],
        workers: int = 1,
        passes: Passes | None = None,
    ) -> "NearestRows":
        """Search for every target.

        Parameters
        ----------
        columns
            Those of `align_evidence`.
        passes
            Whom a target is compared with, where that was decided already.
        """
        number = len(columns[0].sides[TARGETS]) if columns else 0
        vectors = Vectors.of(columns, Encoding(), (ORIGINAL, RELEASE), workers)
        if not vectors.parts:
            nothing = np.full(number, np.inf)
            return cls(np.full(number, -1), nothing, nothing)._with_covering_rows(columns)
        offset, _ = vectors.moments(ORIGINAL)
        # One number more: what makes a distance of a dot product.
        matrix = np.eye(vectors.width, vectors.width + 1)
        passes = Passes.of(columns, TARGETS, vectors.width) if passes is None else passes

        def search(asked: int) -> tuple[IntArray, FloatArray, FloatArray]:
            of_asked = vectors.project(asked, matrix, offset)
            return nearest_padded(asking, of_asked, passes.blocks(asked), workers)

        asking = vectors.project(TARGETS, matrix, offset)
        row, distance, _ = search(RELEASE)
        if len(columns[0].sides) > CONTROL:
            _, reference, _ = search(CONTROL)
        else:
            reference = _to_others(*search(ORIGINAL))
        return cls(row, distance, reference)._with_covering_rows(columns)

    def _with_covering_rows(self, columns: Sequence[AlignedColumn]) -> "NearestRows":
        """Name rows that cover their target instead, where the release is generalized."""
        if not is_generalized(columns, RELEASE):
            return self
        known = CONTROL if len(columns[0].sides) > CONTROL else ORIGINAL
        rows = CoveringRows.of(columns, RELEASE, TARGETS, known)
        evidence = rows.chance + np.log(max(len(columns[0].sides[RELEASE]), 1))
        better = evidence > self.surprise
        return attrs.evolve(
            self,
            row=np.where(better, rows.row, self.row),
            covering=np.where(better, evidence, -np.inf),
        )

    @property
    def surprise(self) -> FloatArray:
        """How much nearer the row is than people of the population are, as a logarithm.

        Of a row that covers its target, how much more likely than any other it is to be hers.
        """
        result = surprise(self.distance, self.reference)
        return result if self.covering is None else np.maximum(result, self.covering)


def surprise(distance: FloatArray, reference: FloatArray) -> FloatArray:
    """Return how much nearer rows are than people of the population are, as a logarithm."""
    known = np.isfinite(distance) & np.isfinite(reference)
    result = np.full(len(distance), -np.inf)
    if known.any():
        near = np.clip(DENSE * np.median(reference[known]), EQUAL, NEAR)
        result[known] = np.log((reference[known] + near) / (distance[known] + near))
    return result


def population_distance(vectors: Vectors, asking: Float32Array, workers: int = 1) -> FloatArray:
    """Return the squared distance of every target from the nearest person of the population.

    That is of the control or, without one, of the original, the target herself left out.

    Parameters
    ----------
    asking
        The targets' vectors, less the mean of the original's.
    """
    offset, _ = vectors.moments(ORIGINAL)
    identity = np.eye(vectors.width)
    if len(vectors.lengths) > CONTROL:
        return nearest_two(asking, vectors.project(CONTROL, identity, offset), workers)[1]
    people = vectors.project(ORIGINAL, identity, offset)
    return _to_others(*nearest_two(asking, people, workers))


def _to_others(_: IntArray, nearest: FloatArray, second: FloatArray) -> FloatArray:
    """Return distances from other people: whoever is in the original is nearest to herself."""
    return np.where(nearest < EQUAL, second, nearest)


def nearest_two(
    asking: Float32Array, asked: Float32Array, workers: int = 1, blocks: Blocks | None = None
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return for every vector the nearest one, and the squared distances of the nearest two.

    Parameters
    ----------
    blocks
        Among whom each is looked for; by default among all.
    """
    if blocks is None:
        everybody = np.zeros(len(asked), np.int64)
        blocks = Blocks.of(np.zeros(len(asking), np.int64), everybody, np.arange(len(asked)))
    searching, searched = (np.pad(vectors, ((0, 0), (0, 1))) for vectors in (asking, asked))
    return nearest_padded(searching, searched, [blocks], workers)


def nearest_padded(
    asking: Float32Array, asked: Float32Array, blocks: Sequence[Blocks], workers: int = 1
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Do what `nearest_two` does with vectors that have room, so that nothing is copied.

    Parameters
    ----------
    asking, asked
        Vectors of which the last number is 0; it is used.
    blocks
        Among whom each is looked for, in several passes.
    """
    # |x - y|^2 is least where x . y - |y|^2 / 2 is largest, which is one dot product.
    own = np.einsum("ij,ij->i", asking[:, :-1], asking[:, :-1]).astype(float)
    asking[:, -1] = 1.0
    asked[:, -1] = np.einsum("ij,ij->i", asked[:, :-1], asked[:, :-1]) / -2
    best = Best.none(len(asking))
    for some in blocks:
        search_top2(asking, asked, some, best, workers=workers)
    nearest, second = (np.maximum(own - 2 * found, 0.0) for found in (best.score, best.second))
    return best.candidate, nearest, second
