"""Who is counted: rows or persons, in the published classes and per sensitive value."""

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom import AuditInput, Release
from anonloom.lazy import pd
from anonloom.typing import FloatArray, IntArray


def persons_of(case: AuditInput, release: Release) -> IntArray | None:
    """A number for the person of every row; None when rows have to be counted instead."""
    if case.original is None or not case.original.schema.names_with_role("person"):
        return None
    rows = release.rows_in(case.original)
    persons = case.original.persons
    return None if rows is None or persons is None else persons[rows].astype(np.int64)


def pairs(first: IntArray, second: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Distinct pairs of numbers in ascending order, and how often each occurs."""
    width = int(second.max(initial=0)) + 1
    span = (int(first.max(initial=0)) + 1) * width
    key = first * width + second
    if span <= 8 * len(key) + 2**20:
        # Dense enough to count in place, which is linear.
        dense = np.bincount(key, minlength=span)
        result = np.flatnonzero(dense)
        return result // width, result % width, dense[result].astype(np.int64)
    result, count = np.unique(key, return_counts=True)
    return result // width, result % width, count.astype(np.int64)


@attrs.frozen(eq=False)
class PublishedClasses:
    """The published classes without the suppressed rows.

    Attributes
    ----------
    label
        Class of every row of the release, counted from 0; -1 for suppressed.
    persons
        Person of every row, or None when every row counts.
    sizes
        Persons (or rows) in every class.
    """

    label: IntArray
    persons: IntArray | None
    sizes: IntArray

    @classmethod
    def of(cls, release: Release, persons: IntArray | None) -> "PublishedClasses":
        """Find the classes of a release."""
        groups = np.where(release.suppressed_rows, -1, release.groups())
        codes, _ = pd.factorize(groups[groups >= 0])
        label = np.full(len(groups), -1, np.int64)
        label[groups >= 0] = codes
        return cls(label, persons, class_sizes(label, persons))

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def total(self) -> int:
        """Persons (or rows), counted once in every class that they are in."""
        return int(self.sizes.sum())

    @property
    def unit(self) -> str:
        """What is counted."""
        return "records" if self.persons is None else "persons"


def class_sizes(label: IntArray, persons: IntArray | None) -> IntArray:
    """Persons, or rows, of every class; negative labels are in none."""
    kept = label >= 0
    label = label[kept]
    if persons is not None and len(label):
        label = pairs(label, persons[kept])[0]
    return np.bincount(label).astype(np.int64)


@attrs.frozen(eq=False)
class Tally:
    """How often each sensitive value occurs in each class, without the zeros.

    Attributes
    ----------
    classes
        Number of published classes.
    of, value, count
        One entry per class and value that occurs in it, ordered by both.
    whole
        How often each value occurs in all classes together.
    """

    classes: int
    of: IntArray
    value: IntArray
    count: IntArray
    whole: IntArray

    @classmethod
    def of_values(cls, published: PublishedClasses, codes: IntArray, values: int) -> "Tally":
        """Count; a code of `values` or more is a missing value, which is no value."""
        kept = (codes < values) & (published.label >= 0)
        label, code, everywhere = published.label[kept], codes[kept], codes[kept]
        if published.persons is not None:
            # A person counts once for every value that is told of them, in a class and in all.
            of, value, _ = pairs(label, code)
            entry = np.searchsorted(of * values + value, label * values + code)
            entry, _, _ = pairs(entry, published.persons[kept])
            label, code = of[entry], value[entry]
            everywhere = pairs(everywhere, published.persons[kept])[0]
        whole = np.bincount(everywhere, minlength=values).astype(np.int64)
        return cls(len(published), *pairs(label, code), whole)

    @property
    def totals(self) -> IntArray:
        """Counted values of every class."""
        return self.sum_by_class(self.count).astype(np.int64)

    @property
    def share(self) -> FloatArray:
        """Share of every entry in its class."""
        return self.count / self.totals[self.of]

    @property
    def overall(self) -> FloatArray:
        """Share of every value in all classes together."""
        return self.whole / max(int(self.whole.sum()), 1)

    def sum_by_class(self, of_entries: NDArray[np.number]) -> FloatArray:
        """Add up a number per entry within the classes."""
        weights = of_entries.astype(np.float64)
        return np.bincount(self.of, weights, minlength=self.classes).astype(np.float64)

    def most_by_class(self, of_entries: NDArray[np.number]) -> FloatArray:
        """Largest number per entry within the classes; 0 for a class without entries."""
        most = np.zeros(self.classes)
        np.maximum.at(most, self.of, of_entries)
        return most
