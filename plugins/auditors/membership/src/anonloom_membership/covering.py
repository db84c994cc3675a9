"""How many rows of a generalized release cover a person, and how many a stranger would expect.

Everybody lies in some class of a k-anonymous release, in it or not. What tells a person who is in
it is a class that covers few people of the population and holds many rows.
"""

from collections.abc import Iterator, Sequence

import attrs
import numpy as np

from anonloom import short_repr
from anonloom.data import row_keys
from anonloom.lazy import pd
from anonloom.typing import ByteArray, FloatArray, IntArray
from anonloom_linkage.aligned_columns import AlignedColumn, Cells
from anonloom_risk.coverage import covered
from anonloom_risk.nearest_rows import CONTROL, RELEASE, TARGETS

__all__ = ["Covering"]

#: People whose classes are looked for at a time.
CHUNK = 1024


@short_repr
@attrs.frozen(eq=False)
class Covering:
    """What covers people.

    Attributes
    ----------
    rows
        Rows of the release that cover a person.
    others
        For every person, how many others of the control the same classes cover, summed over the
        classes.
    """

    rows: FloatArray
    others: FloatArray

    @classmethod
    def of(cls, columns: Sequence[AlignedColumn], learned: IntArray) -> "Covering":
        """Count for all targets, and then for these people of the control."""
        classes = _PublishedClasses.of(columns)
        of_control = [column.sides[CONTROL] for column in columns]
        strangers = np.zeros(len(classes.sizes))
        for _, inside in classes.covering(of_control):
            strangers += inside.sum(axis=0)
        targets = len(columns[0].sides[TARGETS])
        people = [
            np.concatenate([column.sides[TARGETS], column.sides[CONTROL][learned]])
            for column in columns
        ]
        rows, others = (np.zeros(len(people[0])) for _ in range(2))
        for some, inside in classes.covering(people):
            rows[some] = inside @ classes.sizes
            others[some] = inside @ strangers
            # Who is of the control is no other to herself, in any of her classes.
            own = np.arange(some.start, some.stop) >= targets
            others[some] -= np.where(own, inside.sum(axis=1), 0)
        return cls(rows, others)

    def evidence(self) -> tuple[FloatArray, FloatArray]:
        """Return logarithms of the counts, and whether nothing covers a person."""
        counts = np.column_stack([self.rows, self.others])
        return np.log(counts + 0.5), (self.rows == 0).astype(float)[:, None]


@attrs.frozen(eq=False)
class _PublishedClasses:
    """Distinct rows of a release.

    Attributes
    ----------
    cells
        By column, the cell of every class.
    sizes
        Rows of every class.
    """

    columns: Sequence[AlignedColumn]
    cells: Sequence[Cells]
    sizes: FloatArray

    @classmethod
    def of(cls, columns: Sequence[AlignedColumn]) -> "_PublishedClasses":
        length = len(columns[0].sides[RELEASE])
        keys = row_keys(((column.sides[RELEASE], len(column)) for column in columns), length)
        groups, distinct = pd.factorize(keys)
        first = np.zeros(len(distinct), np.int64)
        first[groups[::-1]] = np.arange(length)[::-1]
        cells = [column.sides[RELEASE][first] for column in columns]
        return cls(columns, cells, np.bincount(groups).astype(float))

    def covering(self, people: Sequence[Cells]) -> Iterator[tuple[slice, FloatArray]]:
        """Yield, some people at a time, (people x classes): 1 where a class covers a person."""
        for start in range(0, len(people[0]), CHUNK):
            some = slice(start, min(start + CHUNK, len(people[0])))
            packed: ByteArray | None = None
            for column, cells, own in zip(self.columns, self.cells, people, strict=True):
                values, value = np.unique(own[some], return_inverse=True)
                published, which = np.unique(cells, return_inverse=True)
                table = covered([column], [published[None, :]], [values[:, None]])
                bits = np.packbits(table[:, which], axis=1)[value]
                packed = bits if packed is None else packed & bits
            assert packed is not None
            inside = np.unpackbits(packed, axis=1, count=len(self.sizes))
            yield some, inside.astype(np.float32)
