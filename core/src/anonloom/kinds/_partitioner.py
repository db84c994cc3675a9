"""Partitioner: which rows are published alike."""

from abc import ABC, abstractmethod
from typing import Literal

from anonloom.data._classes import Classes
from anonloom.data._schema import Schema
from anonloom.data._table import Table
from anonloom.kinds._context import StageContext
from anonloom.kinds._guard import Guard


class Partitioner(ABC):
    """Refines classes.

    Promise: every row of the classes that it is given ends in exactly one class that the guard
    admits, inside one of the given classes, or in `suppressed`; rows that were suppressed stay so.
    It works on any subset of the table's rows.
    """

    @property
    def guard_use(self) -> Literal["full", "size"]:
        """`full`: asks `guard.admits`; `size`: keeps `guard.min_size` only.

        After a method that understands sizes only, the runner merges classes until the whole guard
        admits them.
        """
        return "full"

    @property
    def sound(self) -> bool:
        """Whether all classes are admitted; a paper's literal variant may say False.

        The final check then refuses what is not.
        """
        return True

    @property
    def unrefined(self) -> str | None:
        """What to warn of where no other partitioner follows; None for a method that needs none.

        The runner says it, since a method does not know what follows it.
        """
        return None

    @abstractmethod
    def partition(
        self, table: Table, classes: Classes, guard: Guard, context: StageContext
    ) -> Classes:
        """Return the refined classes."""

    def problem(self, schema: Schema) -> str | None:
        """Say what is wrong with using the method on such a table, or None.

        A pipeline file is checked with it before any data are read.
        """
        return None
