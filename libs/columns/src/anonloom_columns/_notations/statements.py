"""What a cell may state, and the values to which a statement must refer."""

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom import short_repr
from anonloom.cells import place

INFINITY = float("inf")


class Span(NamedTuple):
    """A stretch of numbers, days or seconds; an end without a bound is infinite.

    Attributes
    ----------
    with_lo, with_hi
        Whether the ends belong to it.
    """

    lo: float
    hi: float
    with_lo: bool = True
    with_hi: bool = True

    @property
    def first(self) -> float:
        """First number in it: nothing that is written lies between an end and the next number."""
        return self.lo if self.with_lo else float(np.nextafter(self.lo, INFINITY))

    @property
    def last(self) -> float:
        """Last number in it."""
        return self.hi if self.with_hi else float(np.nextafter(self.hi, -INFINITY))


class Members(NamedTuple):
    """Values that are named one by one."""

    texts: tuple[str, ...]


class Masked(NamedTuple):
    """Values that look like a mask, by their places among the labels."""

    places: NDArray[np.int64]


class Missing(NamedTuple):
    """No value: there was none, or it was taken away."""


class Anything(NamedTuple):
    """Nothing is said."""


Statement = Span | Members | Masked | Missing | Anything


@short_repr
@attrs.frozen(eq=False)
class Vocabulary:
    """The values of a column, to which what is read must refer.

    Attributes
    ----------
    type
        category, number, date or time.
    labels
        The values as texts.
    """

    type: str
    labels: Sequence[str] = attrs.field(repr=False)
    _most: dict[str, int] = attrs.field(factory=dict, init=False, repr=False)

    @cached_property
    def known(self) -> dict[str, int]:
        """The values, and their places among the labels."""
        return {label: place for place, label in enumerate(self.labels)}

    @cached_property
    def letters(self) -> NDArray[np.str_]:
        """The values as an array of texts."""
        return np.array(self.labels, np.str_) if self.labels else np.empty(0, "U1")

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """The values' lengths."""
        return np.char.str_len(self.letters).astype(np.int64)

    def has(self, text: str) -> bool:
        """Whether a text can be a member of a set."""
        return text in self.known or (
            self.type != "category" and place(text, self.type) is not None
        )

    def most_separators(self, separator: str) -> int:
        """Count how often the separator stands in a single value, at most."""
        if separator not in self._most:
            self._most[separator] = max(
                (label.count(separator) for label in self.labels), default=0
            )
        return self._most[separator]
