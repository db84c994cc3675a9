"""Where a hierarchy comes from: a file, a tree in the spec, or a rule over the occurring values."""

import csv
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar, Literal

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom.data.cells import number_text
from anonloom.data.hierarchy import STAR, Hierarchy, depth_first
from anonloom.errors import DataError
from anonloom.params import not_empty, param

Values = NDArray[Any]


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
            Distinct values in ascending order: text, float64 or datetime64[D].
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
        return [str(text) for text in np.datetime_as_string(values, unit="D")]
    return [str(value) for value in values]


@attrs.frozen(kw_only=True)
class LeafTable(HierarchySource):
    """A hierarchy as rows `leaf, level 1, ..., *`, in any order."""

    suits = frozenset({"category", "number", "date"})

    rows: tuple[tuple[str, ...], ...] = param(
        help="One row per leaf, from the leaf to the root.", check=not_empty()
    )

    @classmethod
    def checked(cls, rows: Sequence[Sequence[str]], where: str) -> "LeafTable":
        """Check the rows: one width, every leaf once, one root.

        Raises
        ------
        DataError
            Naming `where` and the first row that is wrong.
        """
        if not rows:
            raise DataError(f"{where}: the hierarchy is empty")
        width = len(rows[0])
        seen: set[str] = set()
        for number, row in enumerate(rows, start=1):
            if len(row) != width:
                raise DataError(
                    f"{where}: row {number} has {len(row)} fields, the first row has {width}"
                )
            if row[-1] != STAR or width < 2:
                raise DataError(f"{where}: row {number} must end with the root, '{STAR}'")
            if row[0] in seen:
                raise DataError(f"{where}: row {number} repeats a leaf; every leaf stands once")
            seen.add(row[0])
        table = cls(rows=tuple(tuple(row) for row in rows))
        try:
            table.whole()
        except DataError as error:
            raise DataError(f"{where}: {error}") from None
        return table

    def whole(self) -> Hierarchy:
        """Return the hierarchy over all leaves of the table."""
        return self._hierarchy(list(self.rows))[0]

    def over(self, values: Values, unknown_own_leaf: bool) -> tuple[Hierarchy, NDArray[np.int64]]:
        """See `HierarchySource.over`."""
        numbers = values.dtype.kind == "f"
        by_leaf: dict[Any, tuple[int, tuple[str, ...]]] = {
            _as_number(row[0]) if numbers else row[0]: (rank, row)
            for rank, row in enumerate(self.rows)
        }
        keys = values.tolist() if numbers else text_of(values)
        found = [by_leaf.get(key) for key in keys]
        missing = np.array([hit is None for hit in found], bool)
        if missing.any() and not unknown_own_leaf:
            raise UncoveredValues(missing)
        # An unknown value becomes a leaf directly below the root: its own label on every level.
        top = len(self.rows[0]) - 1
        texts = text_of(values)
        rows = [
            hit[1] if hit is not None else (text,) * top + (STAR,)
            for hit, text in zip(found, texts, strict=True)
        ]
        ranks = [hit[0] if hit is not None else len(self.rows) + at for at, hit in enumerate(found)]
        if values.dtype.kind in "fM":
            ranks = list(range(len(values)))
        hierarchy, order = self._hierarchy(rows, ranks)
        if values.dtype.kind in "fM" and (np.diff(order) < 0).any():
            raise DataError("a group of the hierarchy is not a range of consecutive values")
        return hierarchy, order

    @staticmethod
    def _hierarchy(
        rows: Sequence[Sequence[str]], ranks: Sequence[int] | None = None
    ) -> tuple[Hierarchy, NDArray[np.int64]]:
        levels = list(zip(*rows, strict=True))
        if ranks is None:
            numbers = [_as_number(leaf) for leaf in levels[0]]
            ranks = (
                np.argsort(np.argsort(np.array(numbers, float), kind="stable")).tolist()
                if all(isinstance(number, float) for number in numbers)
                else list(range(len(rows)))
            )
        order = depth_first(levels, np.array(ranks))
        return Hierarchy.of_levels([[level[at] for at in order] for level in levels]), order


def _as_number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


@attrs.frozen(kw_only=True)
class FromFile(HierarchySource):
    """A hierarchy file: CSV rows `leaf;level 1;...;*`, or a YAML tree."""

    suits = frozenset({"category", "number", "date"})

    path: Path = param(help="A .csv file with `;` between levels, or a .yaml tree.")

    def over(self, values: Values, unknown_own_leaf: bool) -> tuple[Hierarchy, NDArray[np.int64]]:
        """See `HierarchySource.over`."""
        return self.table().over(values, unknown_own_leaf)

    def table(self) -> LeafTable:
        """Read and check the file."""
        try:
            text = self.path.read_text(encoding="utf-8-sig")
        except FileNotFoundError:
            raise DataError(f"{self.path}: there is no such hierarchy file") from None
        except (OSError, UnicodeDecodeError) as error:
            raise DataError(f"{self.path}: cannot be read as UTF-8 text ({error})") from None
        if self.path.suffix in {".yaml", ".yml"}:
            from anonloom.document import read_plain

            return LeafTable.checked(tree_rows(read_plain(text, str(self.path))), str(self.path))
        rows = [row for row in csv.reader(text.splitlines(), delimiter=";") if row]
        return LeafTable.checked(rows, str(self.path))


@attrs.frozen(kw_only=True)
class Tree(HierarchySource):
    """A hierarchy written out in the spec: groups are mappings, leaves are lists."""

    suits = frozenset({"category", "number", "date"})

    tree: dict[str, Any] = param(help="Groups as mappings, leaves as lists.", check=not_empty())

    def over(self, values: Values, unknown_own_leaf: bool) -> tuple[Hierarchy, NDArray[np.int64]]:
        """See `HierarchySource.over`."""
        return LeafTable.checked(tree_rows(self.tree), "the tree").over(values, unknown_own_leaf)


def tree_rows(tree: Any) -> list[list[str]]:
    """Turn a tree into rows of one width; a shallow leaf repeats its label upwards."""
    paths: list[list[str]] = []

    def descend(node: Any, above: list[str]) -> None:
        if isinstance(node, Mapping):
            for label, child in node.items():
                descend(child, above if label == STAR else [str(label), *above])
        elif isinstance(node, list | tuple):
            for child in node:
                descend(child, above)
        elif node is None:
            # `group:` with nothing under it is a leaf.
            paths.append([*above, STAR])
        else:
            paths.append([_leaf_text(node), *above, STAR])

    descend(tree, [])
    width = max((len(path) for path in paths), default=0)
    return [[path[0]] * (width - len(path)) + path for path in paths]


def _leaf_text(value: Any) -> str:
    return number_text(value) if isinstance(value, float) else str(value)


@attrs.frozen(kw_only=True)
class Breaks(HierarchySource):
    """Bins of a number between fixed breaks, each level coarser than the one before."""

    suits = frozenset({"number"})

    breaks: tuple[tuple[float, ...], ...] = param(
        help="Per level the ascending breaks; each level uses only breaks of the one before.",
        check=not_empty(),
    )

    def __attrs_post_init__(self) -> None:
        """Refuse levels that do not nest."""
        for level in self.breaks:
            if not level or list(level) != sorted(set(level)):
                raise ValueError("the breaks of a level must be ascending and not repeated")
        for finer, coarser in pairwise(self.breaks):
            if not set(coarser) < set(finer):
                raise ValueError("each level may use only breaks of the level before, and fewer")

    def over(self, values: Values, unknown_own_leaf: bool) -> tuple[Hierarchy, NDArray[np.int64]]:
        """See `HierarchySource.over`."""
        levels = [text_of(values)]
        for breaks in self.breaks:
            ends = [number_text(end) for end in breaks]
            labels = [f"< {ends[0]}"]
            labels += [f"[{lo}, {hi})" for lo, hi in pairwise(ends)]
            labels.append(f">= {ends[-1]}")
            bins = np.searchsorted(np.asarray(breaks, float), values, side="right")
            levels.append([labels[at] for at in bins])
        levels.append([STAR] * len(values))
        return Hierarchy.of_levels(levels), np.arange(len(values))


@attrs.frozen(kw_only=True)
class Widths(HierarchySource):
    """Bins of equal width, wider on each level."""

    suits = frozenset({"number"})

    widths: tuple[float, ...] = param(
        help="Width of the bins per level, each a multiple of the one before.", check=not_empty()
    )
    start: float = param(help="Where the bins begin.", default=0.0)

    def __attrs_post_init__(self) -> None:
        """Refuse widths that do not nest."""
        if any(width <= 0 for width in self.widths):
            raise ValueError("a width must be greater than 0")
        for finer, coarser in pairwise(self.widths):
            ratio = coarser / finer
            if ratio < 2 or abs(ratio - round(ratio)) > 1e-9:
                raise ValueError("each width must be a multiple of the one before")

    def over(self, values: Values, unknown_own_leaf: bool) -> tuple[Hierarchy, NDArray[np.int64]]:
        """See `HierarchySource.over`."""
        levels = [text_of(values)]
        finest = np.floor((values - self.start) / self.widths[0] + 1e-9).astype(np.int64)
        for width in self.widths:
            # Nesting is exact on whole bins, whatever the rounding of the values.
            step = round(width / self.widths[0])
            bins = np.floor_divide(finest, step)
            ends = [number_text(round(self.start + at * width, 10)) for at in bins]
            tops = [number_text(round(self.start + (at + 1) * width, 10)) for at in bins]
            levels.append([f"[{lo}, {hi})" for lo, hi in zip(ends, tops, strict=True)])
        levels.append([STAR] * len(values))
        return Hierarchy.of_levels(levels), np.arange(len(values))


@attrs.frozen(kw_only=True)
class Quantiles(HierarchySource):
    """Bins of a number that hold about equally many distinct values."""

    suits = frozenset({"number"})

    groups: tuple[int, ...] = param(
        help="Number of bins per level, each a divisor of the one before, for example [16, 4, 2].",
        check=not_empty(),
    )

    def __attrs_post_init__(self) -> None:
        """Refuse numbers of bins that do not nest."""
        if any(count < 2 for count in self.groups):
            raise ValueError("a level needs at least 2 bins")
        for finer, coarser in pairwise(self.groups):
            if coarser >= finer or finer % coarser:
                raise ValueError("each number of bins must divide the one before")

    def fitted(self, values: Values) -> Breaks | None:
        """Return the breaks that these values give, or None when there is nothing to break."""
        finest = np.unique(np.quantile(values, np.arange(1, self.groups[0]) / self.groups[0]))
        levels: list[tuple[float, ...]] = []
        for count in self.groups:
            cuts = np.quantile(values, np.arange(1, count) / count)
            breaks = tuple(float(cut) for cut in np.unique(cuts) if cut in finest)
            if breaks and (not levels or len(breaks) < len(levels[-1])):
                levels.append(breaks)
        return Breaks(breaks=tuple(levels)) if levels else None

    def over(self, values: Values, unknown_own_leaf: bool) -> tuple[Hierarchy, NDArray[np.int64]]:
        """See `HierarchySource.over`."""
        breaks = self.fitted(values)
        if breaks is None:
            return Hierarchy.flat(text_of(values)), np.arange(len(values))
        return breaks.over(values, unknown_own_leaf)


@attrs.frozen(kw_only=True)
class Prefix(HierarchySource):
    """Codes such as postal codes, masked from the end."""

    suits = frozenset({"category"})

    keep: tuple[int, ...] = param(
        help="How many leading characters each level keeps, for example [3, 2, 1].",
        check=not_empty(),
    )
    mask: str = param(help="What replaces the characters that are cut.", default="*")

    def __attrs_post_init__(self) -> None:
        """Refuse lengths that do not shrink."""
        if list(self.keep) != sorted(set(self.keep), reverse=True) or self.keep[-1] < 1:
            raise ValueError("'keep' must fall from level to level and stay at least 1")
        if len(self.mask) != 1:
            raise ValueError("'mask' must be one character")

    def over(self, values: Values, unknown_own_leaf: bool) -> tuple[Hierarchy, NDArray[np.int64]]:
        """See `HierarchySource.over`."""
        codes = text_of(values)
        levels: list[list[str]] = [codes]
        for keep in self.keep:
            levels.append([code[:keep] + self.mask * max(0, len(code) - keep) for code in codes])
        levels.append([STAR] * len(codes))
        order = depth_first(levels, np.arange(len(codes)))
        levels = [[level[at] for at in order] for level in levels]
        return Hierarchy.of_levels(levels), order


Unit = Literal["month", "quarter", "year", "decade"]
_UNIT_ORDER: tuple[Unit, ...] = ("month", "quarter", "year", "decade")


@attrs.frozen(kw_only=True)
class Calendar(HierarchySource):
    """Nesting units of the calendar over days."""

    suits = frozenset({"date"})

    units: tuple[Unit, ...] = param(
        help="Units above the day, from fine to coarse.", default=_UNIT_ORDER, check=not_empty()
    )

    def __attrs_post_init__(self) -> None:
        """Refuse units that do not grow."""
        ranks = [_UNIT_ORDER.index(unit) for unit in self.units]
        if ranks != sorted(set(ranks)):
            raise ValueError("units must go from fine to coarse: month, quarter, year, decade")

    def over(self, values: Values, unknown_own_leaf: bool) -> tuple[Hierarchy, NDArray[np.int64]]:
        """See `HierarchySource.over`."""
        months = values.astype("datetime64[M]").astype(int) + 1970 * 12
        years = months // 12
        labels: dict[Unit, list[str]] = {
            "month": [str(text) for text in np.datetime_as_string(values, unit="M")],
            "quarter": [
                f"{year}-Q{month % 12 // 3 + 1}" for year, month in zip(years, months, strict=True)
            ],
            "year": [str(year) for year in years],
            "decade": [f"{year // 10 * 10}s" for year in years],
        }
        levels = [text_of(values), *(labels[unit] for unit in self.units), [STAR] * len(values)]
        return Hierarchy.of_levels(levels), np.arange(len(values))
