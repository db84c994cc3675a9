"""A sensitive correlation: attributes that together give a critical value away."""

from collections.abc import Iterable
from typing import Literal

import attrs

from anonloom import short_repr

Measure = Literal["cramers-v", "multiple-correlation", "classifier"]

#: The target of a correlation with the critical values taken together.
ALL = "all"


def _names(given: Iterable[str]) -> frozenset[str]:
    """Make a set of names; type checkers cannot follow a bare `frozenset` as a converter."""
    return frozenset(given)


@short_repr
@attrs.frozen(kw_only=True)
class Correlation:
    """Attributes that tell more about critical values than may be told (section 3).

    Attributes
    ----------
    attributes
        The set; no proper subset of it was found.
    target
        The critical value that it gives away, as text; `all` for all of them together.
    measure
        How strong the correlation was measured.
    value
        That measure, corrected for chance, between 0 and 1.
    p
        Chance to see a contribution as large from an attribute of the set that contributes
        nothing, the worst over its attributes, multiplied by the number of tests.
    """

    attributes: frozenset[str] = attrs.field(converter=_names)
    target: str
    measure: Measure
    value: float
    p: float

    @property
    def size(self) -> int:
        """How many attributes."""
        return len(self.attributes)

    def __str__(self) -> str:
        return f"{' + '.join(sorted(self.attributes))} -> {self.target} ({self.value:.2f})"
