"""The stages of a pipeline as a collector drives them."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from anonloom.data._classes import Classes
from anonloom.data._release import Release
from anonloom.data._table import Table
from anonloom.kinds._guard import Guard


class Stages(Protocol):
    """The declared stages, in four steps.

    A trusted curator runs all of them on one table. In a donation protocol every server runs
    `partition` and `generalize` on what donors registered, with a seed that all have tossed
    together, and `draw` on the classes of records that are still sealed.
    """

    def rules(self) -> str:
        """Return what the stages are, with versions and parameters: the same for the same."""

    def seeded(self, seed: int) -> None:
        """Go on with another seed than that of the run."""

    def aside(self, seed: int) -> "Stages":
        """Return the same stages for another party to run: nobody is told what they do."""

    def prepare(self, table: Table) -> Table:
        """Apply mechanisms and samplers that stand before any partitioner."""

    def partition(self, table: Table, guard: Guard) -> Classes | None:
        """Apply partitioners and outlier handlers; None when there are none."""

    def generalize(self, table: Table, classes: Classes | None) -> Release:
        """Apply the generalizer, or publish the table as it is when there are no classes."""

    def sample(self, release: Release) -> Release:
        """Apply the sampler that follows the generalizer, if any."""

    def draw(self, labels: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which rows that sampler keeps, of which only the classes are known.

        Parameters
        ----------
        labels
            Class of every row, -1 for suppressed; all rows are kept where there is no sampler.
        """

    def drawn(self, before: Release, among: NDArray[np.int64] | None = None) -> None:
        """Note, for audits, what would have been published of all rows that were drawn from.

        Parameters
        ----------
        among
            Rows of the source, where the stages were given other ones: with a sampler that stands
            before any partitioner, those in `before` were drawn from these.
        """
