"""Collector: how rows reach the aggregator."""

from abc import ABC, abstractmethod
from typing import ClassVar

from anonloom.data.release import Release
from anonloom.data.schema import Schema
from anonloom.data.table import Table
from anonloom.kinds.context import Run
from anonloom.kinds.guard import Guard
from anonloom.kinds.stages import Stages
from anonloom.kinds.transport import Guarantees


class Collector(ABC):
    """Collects rows and drives the stages: a trusted curator, or a donation protocol.

    Promise: the release equals what a trusted curator would publish with the same classes and the
    same sampled rows.
    """

    #: Roles that are known while classes are made; None for all. What looks at others then is
    #: refused before the run, and so are mechanisms, which change whole rows.
    partitions_by: ClassVar[frozenset[str] | None] = None

    @abstractmethod
    def collect(self, table: Table, stages: Stages, guard: Guard, run: Run) -> Release:
        """Return the release that the stages give."""

    def problem(self, schema: Schema) -> str | None:
        """Say why it cannot collect such columns, or None; asked before the run."""
        return None

    @property
    def guarantees(self) -> Guarantees | None:
        """What the transport guarantees; None when rows are not sent at all."""
        return None

    @property
    def simulated(self) -> bool:
        """Whether any key or coin came from a seeded source; the manifest says so."""
        return False

    @property
    def traced(self) -> bool:
        """Whether `collect` hands the trace of its transport to `run.trace`, for auditors."""
        return False

    def plan(self, rows: int | None, schema: Schema) -> tuple[str, ...]:
        """Sentences for `anonloom plan`: what the collection of such rows will cost."""
        return ()
