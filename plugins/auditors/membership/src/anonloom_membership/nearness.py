"""How near everybody is to a release, and to people of the population who are not in it.

Nearness says nothing by itself: who is like many others is near to any table. Two nearest
neighbours on either side, in the release and in the control, are what density estimates with few
neighbours are made of (Loftsgaarden and Quesenberry 1965): the squared distance of the k-th
neighbour stands for one over the density.
"""

from collections.abc import Sequence

import attrs
import numpy as np

from anonloom import short_repr
from anonloom.typing import BoolArray, FloatArray, IntArray
from anonloom_linkage.aligned_columns import AlignedColumn
from anonloom_linkage.features import Encoding
from anonloom_linkage.top2_search import Blocks
from anonloom_linkage.vectors import Vectors
from anonloom_risk.nearest_rows import (
    CONTROL,
    EQUAL,
    ORIGINAL,
    RELEASE,
    TARGETS,
    nearest_two,
)

#: Parts of the control. Everybody is compared with all parts but one, and who is of the control
#: with all but her own: so nobody is near to herself, and all are compared with as many people.
PARTS = 5
#: Added to a squared distance before its logarithm is taken: nearer than this is not surer.
NEAR = 1e-3


@short_repr
@attrs.frozen(eq=False)
class Nearness:
    """Squared distances of people from their nearest neighbours.

    Attributes
    ----------
    release, control
        (people x 2): of the nearest two rows of the release, and of the control.
    """

    release: FloatArray
    control: FloatArray

    @classmethod
    def of(
        cls,
        columns: Sequence[AlignedColumn],
        learned: IntArray,
        rng: np.random.Generator,
        workers: int = 1,
    ) -> "Nearness":
        """Search for all targets, and then for these people of the control.

        Parameters
        ----------
        columns
            Those of `align_evidence`, with a control.
        """
        # A category that only some table has is a feature, too: without it, who has such a value
        # would be nearer to everybody than other people are.
        tables = (ORIGINAL, RELEASE, TARGETS, CONTROL)
        vectors = Vectors.of(columns, Encoding(), tables, workers)
        targets = len(columns[0].sides[TARGETS])
        if not vectors.parts:
            unknown = np.zeros((targets + len(learned), 2))
            return cls(unknown, unknown)
        offset, _ = vectors.moments(ORIGINAL)
        identity = np.eye(vectors.width)
        of_control = vectors.project(CONTROL, identity, offset)
        asking = np.concatenate(
            [vectors.project(TARGETS, identity, offset), of_control[learned]], axis=0
        )
        in_release = nearest_two(asking, vectors.project(RELEASE, identity, offset), workers)
        part = rng.integers(0, PARTS, len(of_control))
        left_out = np.concatenate([rng.integers(0, PARTS, targets), part[learned]])
        in_control = nearest_two(asking, of_control, workers, _all_parts_but(left_out, part))
        return cls(np.stack(in_release[1:], axis=1), np.stack(in_control[1:], axis=1))

    @property
    def equal(self) -> BoolArray:
        """(people x 2): whether a row of the release, and a person of the control, is equal."""
        return np.stack([self.release[:, 0] < EQUAL, self.control[:, 0] < EQUAL], axis=1)

    def evidence(self) -> tuple[FloatArray, FloatArray]:
        """Return logarithms of all distances, and what is said about equal rows."""
        distances = np.concatenate([self.release, self.control], axis=1)
        # Without a second neighbour there is none at any distance.
        logarithms = np.log(np.minimum(distances, _largest(distances)) + NEAR)
        equal = self.equal.astype(float)
        return logarithms, np.column_stack([equal, equal.prod(axis=1)])


def _all_parts_but(left_out: IntArray, part: IntArray) -> Blocks:
    labels, numbers = [], []
    for number in range(PARTS):
        others = np.flatnonzero(part != number)
        labels.append(np.full(len(others), number))
        numbers.append(others)
    return Blocks.of(left_out, np.concatenate(labels), np.concatenate(numbers))


def _largest(distances: FloatArray) -> float:
    finite = distances[np.isfinite(distances)]
    return float(finite.max(initial=1.0))
