"""The nearest row of a release for every target, and how surprising it is that it is so near.

Numbers are measured in standard deviations, categories by indicators, and a generalized cell stands
for the mean of what it covers. A near row says little where people are many: what tells a person's
own row from a stranger's is that it is nearer than people of the population usually are. So an
attacker compares it with the nearest person of the control or, where there is none, with the
nearest other person of the original.
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

__all__ = [
    "CONTROL",
    "EQUAL",
    "KNOWN",
    "ORIGINAL",
    "RELEASE",
    "TARGETS",
    "NearestRows",
    "align_evidence",
    "nearest_two",
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
        Nearest row of the release; -1 where there is none.
    distance
        Squared distance from it.
    reference
        Squared distance from the nearest person of the control or, without one, of the original,
        the target itself left out.
    """

    row: IntArray
    distance: FloatArray
    reference: FloatArray

    @classmethod
    def of(cls, columns: Sequence[AlignedColumn], workers: int = 1) -> "NearestRows":
        """Search for every target.

        Parameters
        ----------
        columns
            Those of `align_evidence`.
        """
        number = len(columns[0].sides[TARGETS]) if columns else 0
        vectors = Vectors.of(columns, Encoding(), (ORIGINAL, RELEASE), workers)
        if not vectors.parts:
            nothing = np.full(number, np.inf)
            return cls(np.full(number, -1), nothing, nothing)
        offset, _ = vectors.moments(ORIGINAL)
        identity = np.eye(vectors.width)

        def search(asked: int) -> tuple[IntArray, FloatArray, FloatArray]:
            of_asked = vectors.project(asked, identity, offset)
            return nearest_two(asking, of_asked, workers)

        asking = vectors.project(TARGETS, identity, offset)
        row, distance, _ = search(RELEASE)
        if len(columns[0].sides) > CONTROL:
            _, reference, _ = search(CONTROL)
        else:
            _, nearest, second = search(ORIGINAL)
            # Whoever is in the original is nearest to herself.
            reference = np.where(nearest < EQUAL, second, nearest)
        return cls(row, distance, reference)

    @property
    def surprise(self) -> FloatArray:
        """How much nearer the row is than people of the population are, as a logarithm."""
        known = np.isfinite(self.distance) & np.isfinite(self.reference)
        result = np.full(len(self.row), -np.inf)
        if known.any():
            reference, distance = self.reference[known], self.distance[known]
            near = np.clip(DENSE * np.median(reference), EQUAL, NEAR)
            result[known] = np.log((reference + near) / (distance + near))
        return result


def nearest_two(
    asking: Float32Array, asked: Float32Array, workers: int = 1, blocks: Blocks | None = None
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return for every vector the nearest one, and the squared distances of the nearest two.

    Parameters
    ----------
    blocks
        Among whom each is looked for; by default among all.
    """
    # |x - y|^2 is least where x . y - |y|^2 / 2 is largest, which is one dot product.
    norms = np.einsum("ij,ij->i", asked, asked) / 2
    searched = np.hstack([asking, np.ones((len(asking), 1), np.float32)])
    candidates = np.hstack([asked, -norms[:, None]]).astype(np.float32)
    best = Best.none(len(asking))
    if blocks is None:
        everybody = np.zeros(len(asked), np.int64)
        blocks = Blocks.of(np.zeros(len(asking), np.int64), everybody, np.arange(len(asked)))
    search_top2(searched, candidates, blocks, best, workers=workers)
    own = np.einsum("ij,ij->i", asking, asking).astype(float)
    nearest, second = (np.maximum(own - 2 * found, 0.0) for found in (best.score, best.second))
    return best.candidate, nearest, second
