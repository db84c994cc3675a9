"""Outlier handler: what happens to rows that fit their class badly."""

from abc import ABC, abstractmethod
from typing import Literal

from anonloom.data._classes import Classes
from anonloom.data._schema import Schema
from anonloom.data._table import Table
from anonloom.kinds._context import StageContext
from anonloom.kinds._guard import Guard


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
    def handle(
        self, table: Table, classes: Classes, guard: Guard, context: StageContext
    ) -> Classes:
        """Return the classes with badly fitting rows moved."""

    def problem(self, schema: Schema) -> str | None:
        """See `Partitioner.problem`."""
        return None
