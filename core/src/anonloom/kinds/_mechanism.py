"""Mechanism: protection of a whole table, by perturbing, synthesizing or dropping."""

from abc import ABC, abstractmethod
from typing import ClassVar

from anonloom.data._schema import Schema
from anonloom.data._table import Table
from anonloom.kinds._context import StageContext


class Mechanism(ABC):
    """Turns a table into a protected one.

    Promise: the result knows its `origin` rows, or that there are none (`origin is None`); the
    table that it was given is unchanged.
    """

    #: Whether published cells still cover the originals. A column that was made coarser is declared
    #: anew then, so that no replay publishes it by its old declaration.
    truthful: ClassVar[bool] = False

    @abstractmethod
    def protect(self, table: Table, context: StageContext) -> Table:
        """Return the protected table."""

    def problem(self, schema: Schema) -> str | None:
        """Say what is wrong with using the method on such a table, or None.

        A pipeline file is checked with it before any data are read.
        """
        return None
