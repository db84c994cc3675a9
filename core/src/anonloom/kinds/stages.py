"""The stages of a pipeline as a collector drives them."""

from typing import Protocol

from anonloom.data.classes import Classes
from anonloom.data.release import Release
from anonloom.data.table import Table
from anonloom.kinds.guard import Guard


class Stages(Protocol):
    """The declared stages, in four steps.

    A trusted curator runs all of them on one table; a donation protocol runs `partition` on what
    donors registered, and `generalize` on what was opened.
    """

    def prepare(self, table: Table) -> Table:
        """Apply mechanisms and samplers that stand before any partitioner."""

    def partition(self, table: Table, guard: Guard) -> Classes | None:
        """Apply partitioners and outlier handlers; None when there are none."""

    def generalize(self, table: Table, classes: Classes | None) -> Release:
        """Apply the generalizer, or publish the table as it is when there are no classes."""

    def sample(self, release: Release) -> Release:
        """Apply the sampler that follows the generalizer, if any."""
