"""The source that core offers, frame: a pandas data frame, given from Python."""

from collections.abc import Sequence
from typing import Any

import attrs

from anonloom.data._schema import Schema
from anonloom.data._table import Table
from anonloom.data._text import normalize_text
from anonloom.errors import UsageError
from anonloom.kinds._context import StageContext
from anonloom.kinds._source import Source
from anonloom.lazy import pd

__all__ = ["Frame"]


@attrs.frozen(kw_only=True)
class Frame(Source):
    """Takes the table from the caller: `Pipeline.load("p.yaml").run(frame)`.

    A pipeline file can only say that a frame will be given; `Frame.of(frame)` is the same source
    with its frame.
    """

    # No parameter: a pipeline file cannot write a frame, and records must not hold one.
    _frame: Any = attrs.field(init=False, default=None, repr=False, eq=False)

    @classmethod
    def of(cls, frame: "pd.DataFrame") -> "Frame":
        """Return the source that holds a frame.

        Raises
        ------
        UsageError
            When it is something else than a data frame.
        """
        if not isinstance(frame, pd.DataFrame):
            raise UsageError(
                f"the table must be a pandas data frame. Got {type(frame).__name__} instead."
            )
        source = cls()
        object.__setattr__(source, "_frame", frame)  # frozen for everybody else
        return source

    @property
    def has_frame(self) -> bool:
        """Whether the source has its frame."""
        return self._frame is not None

    def load(self, schema: Schema, context: StageContext) -> Table:
        """Check and code the frame; it is not modified.

        Raises
        ------
        UsageError
            When no frame was given.
        DataError
            See `Table.build`.
        """
        if self._frame is None:
            raise UsageError(
                "source 'frame' takes its table from Python, and none was given",
                hint='anonloom.Pipeline.load("pipeline.yaml").run(frame), or another source',
            )
        return Table.build(self._frame, schema)

    def first_rows(self, names: Sequence[str], at_most: int) -> "pd.DataFrame | None":
        """Cells of some columns in the first rows of the frame."""
        if self._frame is None:
            return None
        place = {name: index for index, name in enumerate(self.columns() or ())}
        columns = {name: self._frame.iloc[:at_most, place[name]].array for name in names}
        return pd.DataFrame(columns, copy=False)

    def columns(self) -> tuple[str, ...] | None:
        """Names of the frame's columns; None before it is given."""
        if self._frame is None:
            return None
        return tuple(normalize_text(str(name)) for name in self._frame.columns)
