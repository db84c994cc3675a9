"""Source: where the table comes from."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from anonloom.data._schema import Schema
from anonloom.data._table import Table
from anonloom.kinds._context import StageContext
from anonloom.lazy import pd


class Source(ABC):
    """Loads a table.

    Promise: the table has the declared columns, `Table.build` has checked it, and the same seed
    gives the same rows.
    """

    @abstractmethod
    def load(self, schema: Schema, context: StageContext) -> Table:
        """Load the declared columns.

        Raises
        ------
        DataError
            When the data are absent or broken: where, what, how many; never a cell.
        """

    def columns(self) -> tuple[str, ...] | None:
        """Names of all columns that the source has, or None when that is not known cheaply.

        `check` and `plan` use it to list what is not declared and therefore not published.
        """
        return None

    def first_rows(self, names: Sequence[str], at_most: int) -> "pd.DataFrame | None":
        """Cells of some columns in the first rows, or None when the source cannot look ahead.

        They are looked at before anything is published, and forgotten: a column that nobody
        declared may number the persons of the table. Rows need not be in the order of the table.
        """
        return None
