"""Hierarchies that somebody wrote out: rows of a CSV file, or a tree in YAML."""

import csv
import io
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom.cells import cell_text, moment_texts, number_text
from anonloom.data._hierarchy import STAR, Hierarchy, depth_first
from anonloom.data._text import normalize_text
from anonloom.errors import DataError
from anonloom.files import read_bytes
from anonloom.params import not_empty, param

Values = NDArray[Any]
Row = tuple[str, ...]


class HierarchySource(ABC):
    """Makes the hierarchy of one column over the values that occur in it."""

    #: Types of column that it suits.
    suits: ClassVar[frozenset[str]]

    @abstractmethod
    def over(self, values: Values, unknown_own_leaf: bool) -> tuple[Hierarchy, NDArray[np.int64]]:
        """Build the hierarchy over occurring values.

        Parameters
        ----------
        values
            Distinct values in ascending order, at least one: text, float64, datetime64[D] for
            dates or datetime64[s] for times.
        unknown_own_leaf
            Whether a value that the hierarchy lacks becomes a leaf below the root.

        Returns
        -------
        hierarchy
            Over exactly these values.
        order
            `values[order]` are the leaves in the hierarchy's order.

        Raises
        ------
        UncoveredValues
            When values are missing from the hierarchy.
        DataError
            When the hierarchy itself is wrong.
        """

    @abstractmethod
    def stand_in(self, label: str) -> str | float | None:
        """Return a value of the group with this label that the label alone tells.

        It stands for the group where no value of a person may. Text, also of dates and times, or a
        number; None when no group has the label.
        """


class UncoveredValues(DataError):
    """Values occur that the hierarchy lacks; `missing` marks which, never shown."""

    def __init__(self, missing: NDArray[np.bool_]) -> None:
        super().__init__("values are missing from the hierarchy")
        self.missing = missing


def text_of(values: Values) -> list[str]:
    """Write values as the leaves of a hierarchy file are written."""
    if values.dtype.kind == "f":
        return [number_text(value) for value in values]
    if values.dtype.kind == "M":
        return moment_texts(values, "D" if np.datetime_data(values.dtype)[0] == "D" else "s")
    return [str(value) for value in values]


@attrs.frozen(kw_only=True)
class LeafTable(HierarchySource):
    """A hierarchy as rows `leaf, level 1, ..., *`, in any order."""

    suits = frozenset({"category", "number", "date", "time"})

    rows: tuple[Row, ...] = param(
        help="One row per leaf, from the leaf to the root.", check=not_empty()
    )

    @classmethod
    def from_rows(cls, rows: Sequence[Sequence[str]], where: str) -> "LeafTable":
        """Check the rows: one width, every leaf once, one root.

        Raises
        ------
        DataError
            Naming `where` and the first row that is wrong.
        """
        if not rows:
            raise DataError(f"{where}: the hierarchy is empty")
        rows = [[normalize_text(label) for label in row] for row in rows]
        width = len(rows[0])
        seen: set[str] = set()
        for number, row in enumerate(rows, start=1):
            if len(row) != width:
                raise DataError(
                    f"{where}: row {number} has {len(row)} fields, the first row has {width}"
                )
            if row[-1] != STAR or width < 2:
                raise DataError(
                    f"{where}: row {number} must end with the root, '{STAR}'",
                    hint=_separator_hint(row),
                )
            if not all(label.strip() for label in row):
                raise DataError(f"{where}: row {number} has an empty label; every one needs a name")
            if row[0] in seen:
                raise DataError(f"{where}: row {number} repeats a leaf; every leaf stands once")
            seen.add(row[0])
        table = cls(rows=tuple(tuple(row) for row in rows))
        try:
            table.whole()
        except DataError as error:
            raise DataError(f"{where}: {error}") from None
        return table

    @classmethod
    def of_tree(cls, tree: Any, where: str) -> "LeafTable":
        """Check a tree, see `tree_rows`.

        Raises
        ------
        DataError
            Naming `where` and what is wrong.
        """
        try:
            rows = tree_rows(tree)
        except DataError as error:
            raise DataError(f"{where}: {error}") from None
        return cls.from_rows(rows, where)

    def whole(self) -> Hierarchy:
        """Return the hierarchy over all leaves of the table."""
        return _hierarchy(self.rows, range(len(self.rows)), np.zeros(len(self.rows), bool))[0]

    def over(self, values: Values, unknown_own_leaf: bool) -> tuple[Hierarchy, NDArray[np.int64]]:
        """See `HierarchySource.over`."""
        # Numbers, dates and times keep their own order; what is free is the order of categories.
        ordered = values.dtype.kind in "fM"
        texts = text_of(values)
        result = self._row_numbers(values, texts)
        unknown = np.array([hit is None for hit in result], bool)
        if unknown.any():
            if not unknown_own_leaf:
                raise UncoveredValues(unknown)
            self._refuse_groups(texts, unknown)
        # An unknown value becomes a leaf directly below the root: its own label on every level.
        top = len(self.rows[0]) - 1
        rows = [
            (text,) * top + (STAR,) if hit is None else _spelt(self.rows[hit], text)
            for hit, text in zip(result, texts, strict=True)
        ]
        ranks = [len(self.rows) + index if hit is None else hit for index, hit in enumerate(result)]
        hierarchy, order = _hierarchy(rows, range(len(values)) if ordered else ranks, unknown)
        if ordered and (np.diff(order) < 0).any():
            raise DataError(
                "a group of the hierarchy is not a range of consecutive values"
                + ("; values that the hierarchy lacks may lie inside" if unknown.any() else "")
            )
        return hierarchy, order

    def stand_in(self, label: str) -> str | None:
        """Return the first leaf of the group."""
        return next((row[0] for row in self.rows if label in row[1:]), None)

    def _row_numbers(self, values: Values, texts: list[str]) -> list[int | None]:
        """Find the row of every value, None where there is none."""
        row_of: dict[float | str, int]
        if values.dtype.kind == "f":
            row_of = {_as_number(row[0]): index for index, row in enumerate(self.rows)}
            self._refuse_numbers(row_of)
        else:
            row_of = {row[0]: index for index, row in enumerate(self.rows)}
        if len(row_of) < len(self.rows):
            # 1 and 1.0 are two leaves of a category, and one of a number.
            raise DataError(
                "two leaves of the hierarchy are the same value; every leaf stands once"
            )
        keys: list[Any] = values.tolist() if values.dtype.kind == "f" else texts
        return [row_of.get(key) for key in keys]

    def _refuse_numbers(self, row_of: dict[float | str, int]) -> None:
        """Refuse groups of numbers that are called like one of the numbers."""
        groups: dict[str, list[int]] = {}
        for index, row in enumerate(self.rows):
            for label in set(row[1:-1]) - {row[0]}:
                groups.setdefault(label, []).append(index)
        for label, members in groups.items():
            if row_of.get(_as_number(label), members[0]) != members[0] or (
                len(members) > 1 and _as_number(label) in row_of
            ):
                raise DataError(
                    f"label {label!r} stands for a group and for a leaf; "
                    "labels must be unique in a hierarchy"
                )

    def _refuse_groups(self, texts: list[str], unknown: NDArray[np.bool_]) -> None:
        """Refuse unknown values that a reader of the release would take for a group."""
        written = {label for row in self.rows for label in row}
        alike = sum(texts[index] in written for index in np.flatnonzero(unknown))
        if alike:
            raise DataError(
                f"{alike} of the values that the hierarchy lacks "
                f"{'is written like a group' if alike == 1 else 'are written like groups'} of it; "
                "rename them, or add them to the hierarchy"
            )


def _separator_hint(row: Sequence[str]) -> str:
    if row[-1].strip() == STAR and len(row) > 1:
        return "take out the spaces around it"
    if len(row) == 1 and row[0].rstrip().endswith(STAR) and len(row[0].strip()) > 1:
        return "write ';' between the leaf, its groups and the root"
    return ""


def _hierarchy(
    rows: Sequence[Row], ranks: Sequence[int], apart: NDArray[np.bool_]
) -> tuple[Hierarchy, NDArray[np.int64]]:
    levels = list(zip(*rows, strict=True))
    order = depth_first(levels, np.array(ranks))
    ordered = [[level[index] for index in order] for level in levels]
    return Hierarchy.of_levels(ordered, apart=apart[order]), order


def _spelt(row: Row, text: str) -> Row:
    """Write the leaf as the table writes it: a file may say 1.0 or 01 where the value is 1."""
    return row if row[0] == text else tuple(text if label == row[0] else label for label in row)


def _as_number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


@attrs.frozen(kw_only=True)
class FromFile(HierarchySource):
    """A hierarchy file: CSV rows `leaf;level 1;...;*`, or a YAML tree."""

    suits = frozenset({"category", "number", "date", "time"})

    path: Path = param(help="A .csv file with `;` between levels, or a .yaml tree.")

    def over(self, values: Values, unknown_own_leaf: bool) -> tuple[Hierarchy, NDArray[np.int64]]:
        """See `HierarchySource.over`."""
        return self.table().over(values, unknown_own_leaf)

    def stand_in(self, label: str) -> str | None:
        """Return the first leaf of the group."""
        return self.table().stand_in(label)

    def table(self) -> LeafTable:
        """Read and check the file.

        Raises
        ------
        DataError
            When the file cannot be read, or is no hierarchy.
        SpecError
            When a YAML file is no YAML; it has places.
        """
        where = str(self.path)
        try:
            text = read_bytes(self.path).decode("utf-8-sig")
        except FileNotFoundError:
            raise DataError(f"{where}: there is no such hierarchy file") from None
        except UnicodeDecodeError:
            raise DataError(f"{where}: the hierarchy file is not UTF-8 text") from None
        except OSError as error:
            raise DataError(
                f"{where}: the hierarchy file cannot be read ({error.strerror})"
            ) from None
        if self.path.suffix.lower() in {".yaml", ".yml"}:
            from anonloom._spec.document import read_plain

            return LeafTable.of_tree(read_plain(text, where), where)
        try:
            # Not splitlines(): a quoted label may hold a line break, and Unicode knows many.
            rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=";") if row]
        except csv.Error as error:
            raise DataError(f"{where}: the file is no CSV ({error})") from None
        return LeafTable.from_rows(rows, where)


@attrs.frozen(kw_only=True)
class Tree(HierarchySource):
    """A hierarchy written out in the spec: groups are mappings, leaves are lists."""

    suits = frozenset({"category", "number", "date", "time"})

    tree: dict[str, Any] = param(help="Groups as mappings, leaves as lists.", check=not_empty())

    def over(self, values: Values, unknown_own_leaf: bool) -> tuple[Hierarchy, NDArray[np.int64]]:
        """See `HierarchySource.over`."""
        return self.table().over(values, unknown_own_leaf)

    def stand_in(self, label: str) -> str | None:
        """Return the first leaf of the group."""
        return self.table().stand_in(label)

    def table(self) -> LeafTable:
        """Check the tree and return its rows."""
        return LeafTable.of_tree(self.tree, "the tree")


def tree_rows(tree: Any) -> list[list[str]]:
    """Turn a tree into rows of one width; a shallow leaf repeats its label upwards.

    Raises
    ------
    DataError
        When a group or a leaf is empty.
    """
    paths: list[list[str]] = []

    def descend(node: Any, above: list[str]) -> None:
        if isinstance(node, Mapping):
            for key, child in node.items():
                label = normalize_text(cell_text(key))
                if not label.strip():
                    raise DataError(f"a label is empty{_inside(above)}; every one needs a name")
                if child is None and label != STAR:
                    # `group:` with nothing under it is a leaf.
                    paths.append([label, *above, STAR])
                else:
                    descend(child, above if label == STAR else [label, *above])
        elif isinstance(node, list | tuple):
            for child in node:
                descend(child, above)
        elif node is None or not normalize_text(cell_text(node)).strip():
            raise DataError(f"a leaf is empty{_inside(above)}")
        else:
            paths.append([normalize_text(cell_text(node)), *above, STAR])
        if isinstance(node, Mapping | list | tuple) and not node:
            raise DataError(f"a group is empty{_inside(above)}")

    descend(tree, [])
    width = max((len(path) for path in paths), default=0)
    return [[path[0]] * (width - len(path)) + path for path in paths]


def _inside(above: list[str]) -> str:
    return f", in {above[0]!r}" if above else ""
