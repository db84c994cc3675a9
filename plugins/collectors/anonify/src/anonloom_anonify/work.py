"""Work: what servers have computed on what donors sent, by whatever anonymizer and sampler."""

from typing import Protocol

import attrs
import numpy as np
from numpy.typing import NDArray

#: Class of a record that is published with nothing but `*`.
SUPPRESSED = 0


@attrs.frozen(eq=False)
class ClassAssignment:
    """The classes of what donors registered.

    Attributes
    ----------
    numbers
        Class of every record, counted from 1; 0 for suppressed, -1 for records that no donor of
        this study writes.
    cells
        What is published of each class, one text per quasi-identifier (None is missing); first
        that of suppressed records.
    refused
        Why records are none, counted.
    """

    numbers: NDArray[np.int64] = attrs.field(repr=False)
    cells: tuple[tuple[str | None, ...], ...] = attrs.field(repr=False)
    refused: dict[str, int] = attrs.field(factory=dict)


class Work(Protocol):
    """What each server computes by itself; with the same seed all must get the same."""

    def classify(self, records: NDArray[np.uint8], seed: int) -> ClassAssignment:
        """Make classes of encoded quasi-identifiers, which come in canonical order."""

    def draw(self, numbers: NDArray[np.int64], seed: int) -> NDArray[np.bool_]:
        """Return which positions are published, of which only the classes are known."""

    def readable(self, answers: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """Return which answers a donor of this study may have written."""
