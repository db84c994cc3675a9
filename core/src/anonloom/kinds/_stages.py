"""The stages of a pipeline as a collector drives them."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from anonloom.data._classes import Classes
from anonloom.data._release import Release
from anonloom.data._table import Table
from anonloom.kinds._collection import Collection, SamplingRecord
from anonloom.kinds._guard import Guard


class Stages(Protocol):
    """The declared stages, as a whole and step by step; none of them keeps what it returned.

    A trusted curator calls `run` on one table. In a donation protocol every server calls `prepare`,
    `partition` and `generalize` on what donors registered, with a seed that all have tossed
    together, and `sample_mask` on the classes of records that are still sealed.
    """

    def fingerprint(self) -> str:
        """Return what the stages are, with versions and parameters: the same for the same."""

    def with_seed(self, seed: int) -> "Stages":
        """Return the same stages with another seed than that of the run."""

    def for_server(self, seed: int) -> "Stages":
        """Return the same stages for another party to run: observers hear nothing of them."""

    def run(self, table: Table, guard: Guard) -> Collection:
        """Apply all stages to one table, in their order."""

    def prepare(self, table: Table) -> Table:
        """Apply mechanisms and samplers that stand before any partitioner."""

    def partition(self, table: Table, guard: Guard) -> Classes | None:
        """Apply partitioners and outlier handlers; None when there are none."""

    def generalize(self, table: Table, classes: Classes | None) -> Release:
        """Apply the generalizer, or publish the table as it is when there are no classes."""

    def sample_mask(self, labels: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which rows the sampler keeps that follows the generalizer.

        Parameters
        ----------
        labels
            Class of every row, -1 for suppressed; all rows are kept where there is no sampler.
        """

    def record_sampling(
        self, before: Release, among: NDArray[np.int64] | None = None
    ) -> SamplingRecord:
        """Return, for audits, what the samplers drew from, where the steps were called one by one.

        Parameters
        ----------
        before
            What would have been published of all rows that the last sampler drew from.
        among
            Rows of the source that a sampler before any partitioner drew from: those in `before`
            are what it kept.
        """
