"""What sampling alone does: random samples of the original, of the size of the release."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import attrs
import numpy as np

from anonloom import AuditInput, StageContext
from anonloom.typing import IntArray

Rows = IntArray


@attrs.frozen
class Noise:
    """A figure over random samples: its mean, and the least and the most of them."""

    mean: float
    least: float
    most: float

    @classmethod
    def of(cls, values: Sequence[float]) -> "Noise":
        """Sum up the samples."""
        return cls(float(np.mean(values)), float(min(values)), float(max(values)))

    def __str__(self) -> str:
        return f"{self.mean:.4g} ({self.least:.4g} to {self.most:.4g})"


@attrs.frozen(eq=False)
class Samples:
    """Random samples of the original.

    Attributes
    ----------
    rows
        Rows of the original.
    size
        Rows of a sample.
    number
        How many are drawn.
    replaced
        Whether a row may be drawn several times: a table whose rows are nobody's is like so many
        new persons, not like some of these.
    """

    rows: int
    size: int
    number: int
    replaced: bool

    @classmethod
    def like(cls, case: AuditInput, number: int) -> "Samples":
        """Samples like the release."""
        assert case.original is not None
        rows, size = len(case.original), len(case.release)
        return cls(rows, size, number, case.release.origin is None or size > rows)

    def draw(self, context: StageContext) -> Iterator[Rows]:
        """Draw them, one after the other."""
        for index in range(self.number):
            context.progress(index, self.number)
            if self.replaced:
                yield context.rng.integers(self.rows, size=self.size)
            elif self.size == self.rows:
                yield np.arange(self.rows)
            else:
                kept = np.zeros(self.rows, bool)
                kept[context.rng.choice(self.rows, self.size, replace=False, shuffle=False)] = True
                yield np.flatnonzero(kept)
        context.progress(self.number, self.number)

    @property
    def words(self) -> str:
        """What they are, for the findings."""
        how = "drawn with replacement" if self.replaced else "drawn without replacement"
        return f"{self.number} random samples of {self.size} rows of the original, {how}"


def over(
    samples: Samples, context: StageContext, *measures: Callable[[Rows], Any]
) -> list[list[Any]]:
    """Results of every measure over all samples."""
    result: list[list[Any]] = [[] for _ in measures]
    for rows in samples.draw(context):
        for results, measure in zip(result, measures, strict=True):
            results.append(measure(rows))
    return result
