"""Which sets of attributes are admissible: none excluded, no correlation whole, not too many."""

from collections.abc import Iterable, Sequence
from itertools import combinations
from math import comb

import attrs

Chosen = frozenset[int]


def _minimal(sets: Iterable[Iterable[int]]) -> tuple[Chosen, ...]:
    """Leave out sets that contain another one: who breaks up the smaller one breaks up both."""
    results: list[Chosen] = []
    for item in sorted({frozenset(some) for some in sets}, key=lambda one: (len(one), sorted(one))):
        if not any(other <= item for other in results):
            results.append(item)
    return tuple(results)


@attrs.frozen
class Rule:
    """What section 3 demands of the attributes that a classifier uses.

    Attributes
    ----------
    candidates
        Attributes that may be used at all: the sensitive ones are not among them, nor those that
        are a sensitive correlation by themselves.
    correlations
        Sets of two or more candidates of which at least one must be left out.
    most
        How many attributes may be used.
    """

    candidates: Chosen
    correlations: tuple[Chosen, ...]
    most: int

    @classmethod
    def of(
        cls,
        attributes: Iterable[int],
        excluded: Iterable[int] = (),
        correlations: Iterable[Iterable[int]] = (),
        most: int | None = None,
    ) -> "Rule":
        """Reduce what is demanded to what is left to decide.

        Raises
        ------
        ValueError
            When a correlation is empty: it is part of every other one, which would be forgotten.
        """
        minimal = _minimal(correlations)
        if frozenset() in minimal:
            raise ValueError(
                "correlations must be sets of one or more attributes. Got an empty one."
            )
        alone = {next(iter(item)) for item in minimal if len(item) == 1}
        candidates = frozenset(attributes) - frozenset(excluded) - alone
        # A correlation with an attribute that is left out anyway is broken up already.
        open_ones = tuple(item for item in minimal if len(item) > 1 and item <= candidates)
        most = len(candidates) if most is None else min(most, len(candidates))
        return cls(candidates, open_ones, most)

    def admits(self, chosen: Iterable[int]) -> bool:
        """Whether a classifier may use exactly these attributes."""
        some = frozenset(chosen)
        return (
            len(some) <= self.most and some <= self.candidates and not self.whole_correlations(some)
        )

    def whole_correlations(self, chosen: Chosen) -> list[Chosen]:
        """The correlations that are whole among these attributes."""
        return [correlation for correlation in self.correlations if correlation <= chosen]

    def maximal(self, limit: int) -> list[Chosen] | None:
        """Return all admissible sets to which nothing can be added; None if they exceed a limit.

        More attributes never make the loss larger: one of these sets is the best one. They come in
        ascending order of their numbers.
        """
        # What must be left out: the minimal sets that meet every correlation, one by one.
        going: list[Chosen] = [frozenset()]
        for correlation in self.correlations:
            met = [item for item in going if item & correlation]
            grown = (
                item | {other} for item in going if not item & correlation for other in correlation
            )
            going = list(_minimal((*met, *grown)))
            if len(going) > limit:
                return None
        kept = [self.candidates - item for item in going]
        sizes = [min(self.most, len(item)) for item in kept]
        if sum(comb(len(item), size) for item, size in zip(kept, sizes, strict=True)) > limit:
            return None
        results = {
            frozenset(some)
            for item, size in zip(kept, sizes, strict=True)
            for some in combinations(item, size)
        }
        return sorted(results, key=sorted)

    @property
    def is_unconstrained(self) -> bool:
        """Whether all candidates can be used together, so that there is nothing to choose."""
        return not self.correlations and self.most == len(self.candidates)

    def extend(self, chosen: Chosen, order: Sequence[int]) -> Chosen:
        """Add what can be added, in this order: more attributes never make the loss larger."""
        for item in order:
            if item not in chosen and self.admits(chosen | {item}):
                chosen |= {item}
        return chosen
