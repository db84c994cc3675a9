"""A look at the data that a pipeline names, without loading them."""

import attrs

from anonloom.errors import AnonloomError, DataError, FaultyPluginError
from anonloom.hierarchies import FromFile, Tree
from anonloom.spec import Data


@attrs.frozen
class Survey:
    """What the source has.

    Parameters
    ----------
    columns : tuple of str or None
        All columns of the source; None if that is not known before loading.
    note : str
        Why it is not known, if something is wrong with the source.
    """

    columns: tuple[str, ...] | None
    note: str = ""

    def undeclared_columns(self, data: Data) -> tuple[str, ...]:
        """Return the columns that are not declared and therefore not published."""
        return tuple(name for name in self.columns or () if name not in data.schema)

    def absent_columns(self, data: Data) -> tuple[str, ...]:
        """Return the declared columns that the source does not have."""
        if self.columns is None:
            return ()
        return tuple(name for name in data.schema.names if name not in self.columns)


def survey(data: Data) -> Survey:
    """Ask the source for its columns.

    A source that cannot be read yet is no error: a pipeline may be checked where the data are not.
    """
    try:
        return Survey(data.source.method.columns())
    except FaultyPluginError:
        raise
    except AnonloomError as error:
        return Survey(None, str(error))


def check_hierarchies(data: Data) -> None:
    """Read the hierarchies of all columns that somebody wrote out.

    Raises
    ------
    DataError
        With everything that is wrong with any of them.
    """
    wrong = []
    for column in data.schema:
        if isinstance(column.hierarchy, FromFile | Tree):
            try:
                column.hierarchy.table()
            except AnonloomError as error:
                wrong.append(f"column '{column.name}': {error}")
    if wrong:
        raise DataError("\n".join(wrong))
