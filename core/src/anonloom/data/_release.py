"""A release: the published frame, and what is known of where its rows came from."""

from collections.abc import Collection
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom._representation import short_repr
from anonloom.data._classes import Classes, row_keys
from anonloom.data._hierarchy import STAR
from anonloom.data._schema import Schema
from anonloom.data._table import Table, row_numbers
from anonloom.lazy import pd


@short_repr
@attrs.frozen(eq=False)
class Release:
    """What leaves the house.

    Attributes
    ----------
    schema
        Declared columns; the frame has the published ones.
    frame
        Published cells. Quasi-identifiers are categories of text; missing stays missing.
    origin
        Row of the source for every row, or None when rows correspond to nobody.
    classes
        Class of every row as the stages made it, -1 for suppressed; None when there were none.
    truthful
        Whether every published cell covers the original.
    dropped
        Rows that suppression kept out of the frame.
    """

    schema: Schema
    # Cells and rows stay out of the representation: it may end in a log before it is checked.
    frame: "pd.DataFrame" = attrs.field(repr=False)
    origin: NDArray[np.int64] | None = attrs.field(default=None, repr=False)
    classes: NDArray[np.int64] | None = attrs.field(default=None, repr=False)
    truthful: bool = True
    dropped: int = 0

    @classmethod
    def from_cells(
        cls, table: Table, classes: Classes, cells: list[NDArray[np.object_]], *, truthful: bool
    ) -> "Release":
        """Publish one cell per class and axis.

        Parameters
        ----------
        cells
            For every axis of the table the cells of the classes, in order; None is missing.
        """
        table = table.with_all_columns()
        order = np.sort(np.concatenate([classes.rows, classes.suppressed]))
        labels = classes.labels(len(table))[order]
        quasi = {
            axis.name: _spread(of_axis, labels)
            for axis, of_axis in zip(table.axes, cells, strict=True)
        }
        rest = table.frame.take(order).reset_index(drop=True)
        columns: dict[str, Any] = {
            name: quasi[name] if name in quasi else rest[name]
            for name in table.schema.published_names
        }
        return cls(
            schema=table.schema,
            frame=pd.DataFrame(columns, index=pd.RangeIndex(len(order))),
            origin=None if table.origin is None else table.origin[order],
            classes=labels,
            truthful=truthful,
        )

    @classmethod
    def as_it_is(cls, table: Table) -> "Release":
        """Publish a table whose protection is a mechanism's: every cell is a single value."""
        table = table.with_all_columns()
        singles = [np.array(axis.texts(np.arange(axis.size)), object) for axis in table.axes]
        columns: dict[str, Any] = {
            axis.name: _spread(texts, codes.astype(np.int64))
            for axis, texts, codes in zip(table.axes, singles, table.codes, strict=True)
        }
        for name in columns:
            columns[name] = columns[name].where(~pd.Series(table.incomplete), STAR)
        frame = pd.DataFrame(
            {name: columns.get(name, table.frame[name]) for name in table.schema.published_names},
            index=pd.RangeIndex(len(table)),
        )
        return cls(schema=table.schema, frame=frame, origin=table.origin, classes=None)

    def __len__(self) -> int:
        return len(self.frame)

    @property
    def suppressed_rows(self) -> NDArray[np.bool_]:
        """Rows whose quasi-identifiers are all `*`, however that came about."""
        # A release that was made elsewhere may lack some.
        quasi = [name for name in self.schema.quasi if name in self.frame]
        if not quasi:
            return np.zeros(len(self), bool)
        stars = np.ones(len(self), bool)
        for name in quasi:
            stars &= (self.frame[name] == STAR).to_numpy(dtype=bool, na_value=False)
        return stars

    @property
    def rows_published(self) -> int:
        """Number of rows that say something: starred ones are in the frame, but not published."""
        return len(self) - int(self.suppressed_rows.sum())

    def strip_starred_rows(self, keep: Collection[str] = ()) -> "Release":
        """Return the release whose starred rows have lost every other value, too.

        Parameters
        ----------
        keep
            Columns whose values they keep.
        """
        starred = self.suppressed_rows
        names = [
            name
            for name in self.schema.published_names
            if name not in self.schema.quasi and name not in keep
        ]
        if not names or not starred.any():
            return self
        frame = self.frame.copy(deep=False)
        for name in names:
            frame[name] = _set_missing(frame[name], starred)
        return attrs.evolve(self, frame=frame)

    def groups(self, names: tuple[str, ...] | None = None) -> NDArray[np.int64]:
        """Published class of every row: rows with equal published cells share a number."""
        names = self.schema.quasi if names is None else names
        if not names:
            return np.zeros(len(self), np.int64)
        keys = row_keys((_cell_codes(self.frame[name]) for name in names), len(self))
        groups: NDArray[np.int64] = pd.factorize(keys)[0].astype(np.int64, copy=False)
        return groups

    def rows_in(self, original: Table) -> NDArray[np.int64] | None:
        """Return every row's row of the original; None when that is not known of all of them."""
        if self.origin is None or original.origin is None:
            return None
        position = np.full(int(original.origin.max(initial=-1)) + 1, -1, np.int64)
        position[original.origin] = np.arange(len(original))
        if ((self.origin < 0) | (self.origin >= len(position))).any():
            return None
        rows = position[self.origin]
        return rows if (rows >= 0).all() else None

    def take(self, rows: NDArray[np.integer] | NDArray[np.bool_]) -> "Release":
        """Return these rows of the release; a mask marks them."""
        rows = row_numbers(rows)
        return attrs.evolve(
            self,
            frame=self.frame.take(rows).reset_index(drop=True),
            origin=None if self.origin is None else self.origin[rows],
            classes=None if self.classes is None else self.classes[rows],
        )


def _set_missing(column: Any, rows: NDArray[np.bool_]) -> Any:
    """Make cells missing; whole numbers and truth values beside them stay what they are."""
    if column.dtype.kind in "iu":
        column = column.astype("Int64" if column.dtype.kind == "i" else "UInt64")
    elif column.dtype == bool:
        column = column.astype("boolean")
    return column.mask(pd.Series(rows, index=column.index))


def _spread(cells: NDArray[np.object_], labels: NDArray[np.int64]) -> Any:
    """Give every row the cell of its class; suppressed rows (-1) get `*`."""
    codes, uniques = pd.factorize(np.append(cells, STAR))
    codes = codes.astype(np.int32)
    categories = pd.Index(uniques, dtype="str")
    return pd.Series(pd.Categorical.from_codes(codes[labels], categories=categories))


def _cell_codes(column: Any) -> tuple[NDArray[np.integer], int]:
    """Number a column's cells, -1 for missing, and count the numbers; equal cells share one."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.cat.codes.to_numpy(), len(column.cat.categories)
    codes, values = pd.factorize(column)
    return codes, len(values)
