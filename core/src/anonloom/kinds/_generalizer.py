"""Generalizer: what a class publishes."""

from abc import ABC, abstractmethod

from anonloom.data._classes import Classes
from anonloom.data._release import Release
from anonloom.data._table import Table
from anonloom.kinds._context import StageContext


class Generalizer(ABC):
    """Writes the cells of a release.

    Promise: rows of one class get equal cells, suppressed rows get `*`, and every cell covers the
    original unless `truthful` is False, which the report prints.
    """

    @property
    def truthful(self) -> bool:
        """Whether every published cell covers the original."""
        return True

    @abstractmethod
    def generalize(self, table: Table, classes: Classes, context: StageContext) -> Release:
        """Return the release; `Release.from_cells` assembles it."""
