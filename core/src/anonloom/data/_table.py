"""A table of persons: typed columns, quasi-identifiers coded onto axes, origin of every row."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom._representation import short_repr
from anonloom._spelling import closest
from anonloom.data._axis import Axis, Reader
from anonloom.data._classes import Classes
from anonloom.data._coding import EncodedColumn, coerce, encode, refuse_unknown_persons
from anonloom.data._persons import sharing_rows
from anonloom.data._pseudonyms import key_for, pseudonyms
from anonloom.data._schema import Schema
from anonloom.data._text import normalize_column, normalize_text
from anonloom.errors import DataError
from anonloom.lazy import pd

_NUMBER = re.compile(r"\s*[-+]?[.,]?\d[\d.,]*\s*")

#: How many names of columns a message shows.
_MOST_NAMES = 40

#: What is said of a table without rows.
EMPTY = "the table is empty: there is nothing to publish"


@short_repr
@attrs.frozen(eq=False)
class Table:
    """The rows that a pipeline works on.

    Attributes
    ----------
    schema
        Declared columns.
    origin
        Row of the source that each row came from; None when rows correspond to nobody.
    incomplete
        Rows that a column with `missing: suppress` suppresses.
    normalized
        By column, how many cells were changed to the form of `text.normalize_text` when they were
        read; columns without any are not listed.
    sharing
        For every identifier, how many rows have a value that another row has, too.
    reader
        That of its axes: see `with_reader`.
    """

    schema: Schema
    # Codes and rows stay out of the representation: it may end in a log.
    _axes: tuple[Axis, ...]
    _codes: NDArray[np.int32] = attrs.field(repr=False)
    origin: NDArray[np.int64] | None = attrs.field(repr=False)
    incomplete: NDArray[np.bool_] = attrs.field(repr=False)
    _frame: Any = attrs.field(repr=False)
    _reads: frozenset[str] | None = attrs.field(default=None)
    _coded: dict[str, EncodedColumn] = attrs.field(factory=dict, repr=False)
    pseudonym_keys: dict[str, bytes] = attrs.field(factory=dict, repr=False)
    normalized: dict[str, int] = attrs.field(factory=dict)
    sharing: dict[str, int] = attrs.field(factory=dict, repr=False)
    reader: Reader | None = attrs.field(default=None, repr=False)

    @classmethod
    def build(
        cls,
        frame: "pd.DataFrame",
        schema: Schema,
        origin: NDArray[np.int64] | None = None,
        null: Collection[str] = (),
    ) -> "Table":
        """Check a frame against a schema and code it.

        This is the door through which all data come: texts and names of columns are brought to one
        form here, see `anonloom.data._text`.

        Columns that the schema does not declare are left behind, identifiers too, unless they are
        published as pseudonyms.

        Parameters
        ----------
        origin
            Row of the source for every row; counted from 0 when not given.
        null
            Texts that the source takes for a missing value; a cell that is one of them once its
            invisible characters are gone is missing, too.

        Raises
        ------
        DataError
            Naming columns, counts and row numbers; never a cell.
        """
        check_columns(frame.columns, schema)
        if not len(frame):
            raise DataError(EMPTY)
        if origin is not None and len(origin) != len(frame):
            raise ValueError("origin must have one entry per row")
        # A frame may have numbers for names; a schema has text.
        place = {normalize_text(str(name)): index for index, name in enumerate(frame.columns)}
        kept: dict[str, Any] = {}
        coded: dict[str, EncodedColumn] = {}
        axes: list[Axis] = []
        keys: dict[str, bytes] = {}
        normalized: dict[str, int] = {}
        sharing: dict[str, int] = {}
        incomplete = np.zeros(len(frame), bool)
        codes = np.empty((len(schema.quasi), len(frame)), np.int32)
        for column in schema:
            series = frame.iloc[:, place[column.name]].reset_index(drop=True).rename(column.name)
            series, changed = normalize_column(series, null)
            if changed and (column.role != "identifier" or column.pseudonymize):
                normalized[column.name] = changed
            if column.role == "identifier":
                sharing[column.name] = sharing_rows(series)
                if column.pseudonymize:
                    keys[column.name] = key_for(column)
                    kept[column.name] = pseudonyms(series, keys[column.name])
                continue
            series = coerce(series, column)
            kept[column.name] = series
            if column.role == "quasi":
                coded[column.name] = encode(series, column, out=codes[len(axes)])
                axes.append(coded[column.name].axis)
            elif column.role == "person":
                coded[column.name] = encode(series, column)
                if column.missing != "suppress":
                    refuse_unknown_persons(coded[column.name].missing, column)
            if column.missing == "suppress":
                incomplete |= _missing(series, coded.get(column.name))
        origin = np.arange(len(frame), dtype=np.int64) if origin is None else origin
        return cls(
            schema=schema,
            axes=tuple(axes),
            codes=codes,
            origin=origin,
            incomplete=incomplete,
            # Not copied into blocks: pandas copies a column when somebody writes to it.
            frame=pd.DataFrame(kept, index=pd.RangeIndex(len(frame)), copy=False),
            coded=coded,
            pseudonym_keys=keys,
            normalized=normalized,
            sharing=sharing,
        )

    def __len__(self) -> int:
        return len(self.incomplete)

    @property
    def axes(self) -> tuple[Axis, ...]:
        """One per quasi-identifier, in the schema's order; none for a method that reads none."""
        return self._axes if self._reads is None or "quasi" in self._reads else ()

    @property
    def codes(self) -> NDArray[np.int32]:
        """(axes x rows): the code of every row on every axis."""
        return self._codes if self._reads is None or "quasi" in self._reads else self._codes[:0]

    @property
    def frame(self) -> "pd.DataFrame":
        """The visible columns; do not modify it."""
        return self._frame[[name for name in self._frame.columns if self._visible(name)]]

    def column(self, name: str) -> "pd.Series":
        """One column.

        Raises
        ------
        KeyError
            When there is none, or when the method has not declared that it reads that role.
        """
        if not self._visible(name):
            role = self.schema[name].role
            raise KeyError(f"column '{name}' has role '{role}', which this method does not read")
        return self._frame[name]

    def encode_column(self, name: str) -> EncodedColumn:
        """Return any column on an axis of its own: a sensitive one, a label, a person."""
        series = self.column(name)
        if name not in self._coded:
            self._coded[name] = encode(series, self.schema[name], reader=self.reader)
        return self._coded[name]

    @property
    def persons(self) -> NDArray[np.int32] | None:
        """A number for every row's person, or None when every row is a person of its own.

        All rows whose person is not known have one number: see `unknown_persons`.
        """
        names = self.schema.names_with_role("person")
        return self.encode_column(names[0]).codes if names else None

    @property
    def unknown_persons(self) -> NDArray[np.bool_] | None:
        """Rows whose person is not known, all of them incomplete; None when every row's is."""
        names = self.schema.names_with_role("person")
        unknown = self.encode_column(names[0]).missing if names else np.zeros(0, bool)
        return unknown if unknown.any() else None

    def whole(self) -> Classes:
        """All rows in one class, the incomplete ones suppressed."""
        rows = np.arange(len(self), dtype=np.int64)
        return Classes.whole(rows[~self.incomplete], rows[self.incomplete])

    def take(self, rows: NDArray[np.integer] | NDArray[np.bool_]) -> "Table":
        """Return these rows as a table; the axes stay the same, so that losses compare."""
        rows = row_numbers(rows)
        return attrs.evolve(
            self,
            codes=self._codes.take(rows, axis=1),
            origin=None if self.origin is None else self.origin[rows],
            incomplete=self.incomplete[rows],
            frame=self._frame.take(rows).reset_index(drop=True),
            coded={
                name: EncodedColumn(item.axis, item.codes[rows])
                for name, item in self._coded.items()
            },
        )

    def with_quasi(self, quasi: Sequence[EncodedColumn]) -> "Table":
        """Return the table with its quasi-identifiers on other axes, in the schema's order."""
        codes = np.stack([item.codes for item in quasi]) if quasi else self._codes
        named = dict(zip(self.schema.quasi, quasi, strict=True))
        return attrs.evolve(
            self,
            axes=tuple(item.axis for item in quasi),
            codes=codes,
            coded={**self._coded, **named},
        )

    def with_reader(self, reader: Reader) -> "Table":
        """Return the table with axes that read cells in other forms than ours, too."""
        coded = {
            name: EncodedColumn(attrs.evolve(item.axis, reader=reader), item.codes)
            for name, item in self._coded.items()
        }
        axes = tuple(coded[name].axis for name in self.schema.quasi)
        return attrs.evolve(self, axes=axes, coded=coded, reader=reader)

    def without(self, names: Collection[str]) -> "Table":
        """Return the table without some columns; every row stays."""
        schema = Schema(tuple(column for column in self.schema if column.name not in names))
        kept = [index for index, axis in enumerate(self._axes) if axis.name in schema]
        frame = self._frame[[name for name in self._frame.columns if name in schema]]
        # A row that only a dropped column had suppressed is complete now.
        incomplete = np.zeros(len(self), bool)
        for column in schema:
            if column.missing == "suppress" and column.name in frame:
                incomplete |= _missing(frame[column.name], self._coded.get(column.name))
        return attrs.evolve(
            self,
            schema=schema,
            axes=tuple(self._axes[index] for index in kept),
            codes=self._codes[kept],
            incomplete=incomplete,
            frame=frame,
            coded={name: item for name, item in self._coded.items() if name in schema},
            pseudonym_keys={n: key for n, key in self.pseudonym_keys.items() if n in schema},
            sharing={n: rows for n, rows in self.sharing.items() if n in schema},
        )

    def restricted_to(self, reads: frozenset[str]) -> "Table":
        """Return the table as a method sees it that declared to read these roles.

        This guards against accidents, such as a partitioner that looks at the diagnosis; it is no
        wall against hostile code, which runs in the same process.
        """
        return attrs.evolve(self, reads=reads)

    def with_all_columns(self) -> "Table":
        """Return the table with all its columns, as the guard sees it."""
        return self if self._reads is None else attrs.evolve(self, reads=None)

    def _visible(self, name: str) -> bool:
        return self._reads is None or self.schema[name].role in self._reads


def _missing(series: Any, coded: EncodedColumn | None) -> NDArray[np.bool_]:
    """Say which cells hold no value, nothing but blanks among them where that was looked at."""
    absent: NDArray[np.bool_] = series.isna().to_numpy(bool)
    return absent if coded is None else absent | coded.missing


def row_numbers(rows: NDArray[np.integer] | NDArray[np.bool_]) -> NDArray[np.integer]:
    """Row numbers, also of a mask: pandas would take its true and false for 1 and 0."""
    given = np.asarray(rows)
    numbers: NDArray[np.integer] = np.flatnonzero(given) if given.dtype == bool else given
    return numbers


def on_own_axes(table: Table) -> Table:
    """Return the table on axes that know nothing of rows that it was once taken from.

    The ends of an axis and breaks at quantiles would tell of rows that are not to be published.
    """
    return table.with_quasi(
        [
            encode(table.column(name), table.schema[name], reader=table.reader)
            for name in table.schema.quasi
        ]
    )


def check_columns(names: Iterable[str], schema: Schema) -> None:
    """Refuse data in which a declared column is absent or a name stands for two columns.

    Raises
    ------
    DataError
        Naming the columns.
    """
    names = [normalize_text(str(name)) for name in names]
    if _is_a_row(names, schema):
        # Without a header the names are the cells of the first person.
        raise DataError(
            f"the data have none of the declared columns; the {len(names)} names that they have "
            "look like a row of data and are not shown",
            hint="a header with the names of the columns must be the first row",
        )
    # Columns without a name are what trailing separators leave; nobody can declare them.
    repeated = sorted(name for name, count in Counter(names).items() if name and count > 1)
    if repeated:
        listed = ", ".join(f"'{name}'" for name in repeated)
        raise DataError(f"the data have more than one column named {listed}")
    absent = [name for name in schema.names if name not in names]
    if absent:
        free = [name for name in names if name not in schema]
        guesses = {name: closest(name, free) for name in absent}
        raise DataError(
            f"the data have no column {_in_quotes(absent)}; they have: {_in_quotes(names)}",
            hint="\n".join(
                f"'{name}': did you mean '{guess}'?" for name, guess in guesses.items() if guess
            ),
        )


def _is_a_row(names: Sequence[str], schema: Schema) -> bool:
    """Whether what should be names is data: none is declared, and some are numbers."""
    return set(names).isdisjoint(schema.names) and any(map(_NUMBER.fullmatch, names))


def _in_quotes(names: Sequence[str]) -> str:
    """Return names in a row; of very many the first."""
    shown = ", ".join(f"'{name}'" for name in names[:_MOST_NAMES])
    more = len(names) - _MOST_NAMES
    return f"{shown} and {more} more" if more > 0 else shown
