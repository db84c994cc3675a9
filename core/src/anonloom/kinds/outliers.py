"""Outlier handler: what happens to rows that fit their class badly."""

from abc import ABC, abstractmethod
from typing import Literal

from anonloom.data.classes import Classes
from anonloom.data.schema import Schema
from anonloom.data.table import Table
from anonloom.kinds.context import Run
from anonloom.kinds.guard import Guard


class OutlierHandler(ABC):
    """Moves rows that fit badly to another class, to a new class, or to `suppressed`.

    Promise: no row is lost or doubled, and the guard admits every class afterwards.
    """

    @property
    def guard_use(self) -> Literal["full", "size"]:
        """See `Partitioner.guard_use`."""
        return "full"

    @property
    def sound(self) -> bool:
        """See `Partitioner.sound`."""
        return True

    @abstractmethod
    def handle(self, table: Table, classes: Classes, guard: Guard, run: Run) -> Classes:
        """Return the classes with badly fitting rows moved."""

    def problem(self, schema: Schema) -> str | None:
        """See `Partitioner.problem`."""
        return None
