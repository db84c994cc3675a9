"""Which published class covers a person, where cells stand for several values.

Somebody's own row is in one of the classes that cover her. A class of m rows, each about one of the
people whom its cells cover, says of a person whom it covers that a given row is hers with a chance
in proportion to 1 / V, where V is the share of the population that the cells cover. So the most
specific class is named, whatever its size; its size decides with what chance the row is right.

Classes form a tree, column by column, those with few distinct cells first. All targets go down
together, and leave it where no cell covers their value: nothing is compared with every class.
"""

from collections.abc import Sequence

import attrs
import numpy as np

from anonloom import short_repr
from anonloom.typing import FloatArray, IntArray
from anonloom_linkage.aligned_columns import AlignedColumn
from anonloom_risk.coverage import ColumnCover

__all__ = ["CoveringRows"]

#: Pairs of targets and nodes of the tree that are looked at together.
CHUNK = 1 << 20
#: No cell is taken to cover less of the population than this.
LEAST_SHARE = 1e-6


@short_repr
@attrs.frozen(eq=False)
class CoveringRows:
    """The most specific class that covers every target.

    Attributes
    ----------
    row
        A row of the class; of equally specific ones of the smallest class. -1 where none covers.
    chance
        Logarithm of the chance that this row is the target's own, if people outside the release are
        as many as rows, and like anybody; -inf where no class covers.
    """

    row: IntArray
    chance: FloatArray

    @classmethod
    def of(
        cls,
        columns: Sequence[AlignedColumn],
        release: int,
        targets: int,
        population: int,
        people: IntArray | None = None,
    ) -> "CoveringRows":
        """Search for every target.

        Parameters
        ----------
        release, targets, population
            Numbers of the tables among the sides of the columns; the last one says how common
            values are.
        people
            Rows of the targets' table; all by default.
        """
        asked = [column.sides[targets].astype(np.int64) for column in columns]
        if people is not None:
            asked = [cells[people] for cells in asked]
        rows = len(columns[0].sides[release])
        row = np.full(len(asked[0]), -1, np.int64)
        chance = np.full(len(row), -np.inf)
        if not rows or not len(row):
            return cls(row, chance)
        tree = _Tree.of(columns, release, population)
        for start in range(0, len(row), CHUNK):
            some = np.arange(start, min(start + CHUNK, len(row)))
            for target, leaf in tree.descend([cells[some] for cells in asked]):
                _name_best(row, chance, some[target], leaf, tree, rows)
        return cls(row, chance)


@short_repr
@attrs.frozen(eq=False)
class _Tree:
    """Classes of rows with equal cells, as a tree whose levels are columns.

    Attributes
    ----------
    order
        The columns by level.
    cells, starts
        Of every level the cells of its nodes, sorted by parent, and where the nodes of each parent
        begin.
    first, sizes, shares
        Of every leaf its first row, its rows, and the logarithm of the share of the population that
        its cells cover, as if columns were independent.
    """

    order: tuple[int, ...]
    covers: tuple[ColumnCover, ...]
    cells: tuple[IntArray, ...]
    starts: tuple[IntArray, ...]
    first: IntArray
    sizes: IntArray
    shares: FloatArray

    @classmethod
    def of(cls, columns: Sequence[AlignedColumn], release: int, population: int) -> "_Tree":
        sides = [column.sides[release] for column in columns]
        distinct = [len(np.unique(cells)) for cells in sides]
        order = tuple(np.argsort(distinct, kind="stable").tolist())
        rows = np.lexsort([sides[index] for index in reversed(order)])
        new = np.zeros(len(rows), bool)
        new[:1] = True
        cells, starts = [], []
        above = np.zeros(len(rows), np.int64)
        for index in order:
            own = sides[index][rows].astype(np.int64)
            new |= np.r_[True, own[1:] != own[:-1]]
            first = np.flatnonzero(new)
            cells.append(own[first])
            parents = above[first]
            starts.append(np.searchsorted(parents, np.arange(parents[-1] + 2)))
            above = np.cumsum(new) - 1
        leaves = np.flatnonzero(new)
        members = rows[leaves]
        covers = tuple(ColumnCover.of(column) for column in columns)
        shares = sum(
            np.log(np.maximum(_shares(column, cover, population), LEAST_SHARE))[side[members]]
            for column, cover, side in zip(columns, covers, sides, strict=True)
        )
        sizes = np.diff(np.append(leaves, len(rows)))
        return cls(
            order, covers, tuple(cells), tuple(starts), members, sizes, np.asarray(shares, float)
        )

    def descend(self, asked: Sequence[IntArray]) -> "list[tuple[IntArray, IntArray]]":
        """Return pairs of targets and leaves that cover them, in some parts.

        Parameters
        ----------
        asked
            By column, the single value of every target.
        """
        target = np.arange(len(asked[0]))
        waiting = [(0, target, np.zeros(len(target), np.int64))]
        done = []
        while waiting:
            level, target, node = waiting.pop()
            if level == len(self.order):
                done.append((target, node))
                continue
            starts = self.starts[level]
            fan = starts[node + 1] - starts[node]
            if len(target) > 1 and int(fan.sum()) > CHUNK:
                half = len(target) // 2
                waiting += [(level, target[half:], node[half:])]
                waiting += [(level, target[:half], node[:half])]
                continue
            pair = np.repeat(np.arange(len(target)), fan)
            child = np.arange(len(pair)) - np.repeat(np.cumsum(fan) - fan - starts[node], fan)
            index = self.order[level]
            own = asked[index][target[pair]]
            kept = np.flatnonzero(self.covers[index].fits(self.cells[level][child], own))
            waiting.append((level + 1, target[pair[kept]], child[kept]))
        return done


def _shares(column: AlignedColumn, cover: ColumnCover, population: int) -> FloatArray:
    """Share of the population that every cell of a column covers."""
    counts = column.counts(population)
    values = np.flatnonzero(counts)
    total = max(int(counts.sum()), 1)
    result = np.empty(len(column))
    step = max(CHUNK // max(len(values), 1), 1)
    for start in range(0, len(column), step):
        cells = np.arange(start, min(start + step, len(column)))
        result[cells] = cover.fits(cells[:, None], values[None, :]) @ counts[values] / total
    return result


def _name_best(
    row: IntArray,
    chance: FloatArray,
    target: IntArray,
    leaf: IntArray,
    tree: _Tree,
    rows: int,
) -> None:
    """Name, for every target of these pairs, the most specific of its classes."""
    if not len(target):
        return
    order = np.lexsort((tree.sizes[leaf], tree.shares[leaf], target))
    target, leaf = target[order], leaf[order]
    first = np.flatnonzero(np.r_[True, target[1:] != target[:-1]])
    # Rows per share of the population: of all classes that cover her, and of everybody outside.
    dense = np.add.reduceat(tree.sizes[leaf] * np.exp(-tree.shares[leaf]), first)
    best = leaf[first]
    row[target[first]] = tree.first[best]
    chance[target[first]] = -tree.shares[best] - np.log(dense + rows)
