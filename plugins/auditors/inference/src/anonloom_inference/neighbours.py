"""Rows of a release that are near to a target: the nearest of each of several random parts.

The nearest of all rows is the nearest of its part, and the others are near, too: a vote needs no
search for the k nearest, which would cost many times what a search for the nearest does.
"""

import attrs
import numpy as np

from anonloom import short_repr
from anonloom.typing import FloatArray, IntArray
from anonloom_linkage.vectors import Vectors
from anonloom_risk.nearest_rows import (
    ORIGINAL,
    RELEASE,
    TARGETS,
    nearest_two,
    population_distance,
    surprise,
)

__all__ = ["VOTERS", "Neighbours"]

#: Parts that a release is divided into: so many rows vote.
VOTERS = 8


@short_repr
@attrs.frozen(eq=False)
class Neighbours:
    """Near rows of the release for every target.

    Attributes
    ----------
    rows
        (targets x voters), the nearest first.
    distances
        Their squared distances.
    reference
        Squared distance from the nearest person of the control or, without one, of the original,
        the target herself left out.
    """

    rows: IntArray
    distances: FloatArray
    reference: FloatArray

    @classmethod
    def of(
        cls, vectors: Vectors, asked: IntArray, rng: np.random.Generator, workers: int = 1
    ) -> "Neighbours":
        """Search for every target, in the columns of the vectors.

        Parameters
        ----------
        asked
            Rows of the release that are compared; at least one.
        """
        offset, _ = vectors.moments(ORIGINAL)
        identity = np.eye(vectors.width)
        asking = vectors.project(TARGETS, identity, offset)
        of_release = vectors.project(RELEASE, identity, offset, asked)
        order = rng.permutation(len(asked))
        rows, distances = [], []
        for part in np.array_split(order, min(VOTERS, len(asked))):
            row, distance, _ = nearest_two(asking, of_release[part], workers)
            rows.append(asked[part[row]])
            distances.append(distance)
        near = np.argsort(np.stack(distances, axis=1), axis=1, kind="stable")
        return cls(
            np.take_along_axis(np.stack(rows, axis=1), near, axis=1),
            np.take_along_axis(np.stack(distances, axis=1), near, axis=1),
            population_distance(vectors, asking, workers),
        )

    @property
    def surprise(self) -> FloatArray:
        """How much nearer the nearest row is than people of the population, as a logarithm."""
        return surprise(self.distances[:, 0], self.reference)
