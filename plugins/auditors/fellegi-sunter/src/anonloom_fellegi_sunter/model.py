"""The model of Fellegi and Sunter, estimated from counts of patterns of agreement.

A pair matches or it does not; within either class columns agree independently of each other, with
the probabilities m and u (section 3.3 of the paper; Winkler 1988 for EM). Pairs that agree in the
same columns are alike, so that a table of patterns and counts is all that EM needs to see.
"""

from collections.abc import Sequence
from typing import Literal

import attrs
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: No probability is nearer to 0 or 1: a pattern that was never seen is not impossible.
CLIP = 1e-4
#: What a column that was published as it is might agree with; the first is the usual one.
SHARES = (0.9, 0.99, 0.6)
#: Steps of every start before the best one goes on.
FIRST_STEPS = 20
MOST_STEPS = 500
#: Two classes of pairs cannot be told apart by fewer columns, whatever their counts are.
LEAST_COLUMNS = 3
#: Classes whose weights differ by less on average (in nats, Jeffreys' divergence) are one class.
LEAST_DIVERGENCE = 1.0
#: A class that holds more than this is not that of the rare matches.
MOST_PRIOR = 0.95
#: Weights that differ by less are equal: sums of logarithms are rounded.
DIGITS = 9

Verdict = Literal["sound", "degenerate"]


@attrs.frozen(eq=False)
class Counts:
    """How often each pattern occurs.

    Attributes
    ----------
    pattern
        Patterns that occur: a bit per column behind the number of a mask.
    count
        Pairs that have it.
    masks
        Combinations of columns that are left open, a bit per column.
    """

    pattern: Ints = attrs.field(repr=False)
    count: Ints = attrs.field(repr=False)
    masks: Ints = attrs.field(repr=False)
    columns: int

    @classmethod
    def of(cls, table: Ints, masks: Ints, columns: int) -> "Counts":
        """Keep what occurs of a table of all patterns."""
        pattern = np.flatnonzero(table)
        return cls(pattern, table[pattern], masks, columns)

    @property
    def pairs(self) -> int:
        """Number of pairs."""
        return int(self.count.sum())

    def agreeing(self) -> Floats:
        """(patterns x columns): 1 where the column agrees."""
        return ((self.pattern[:, None] >> np.arange(self.columns)) & 1).astype(float)

    def spoken(self) -> Floats:
        """(patterns x columns): 1 where the row says something about the column."""
        mask = self.masks[self.pattern >> self.columns]
        return 1.0 - ((mask[:, None] >> np.arange(self.columns)) & 1)


@attrs.frozen(eq=False)
class Estimate:
    """Parameters of the two classes.

    Attributes
    ----------
    m, u
        Probability of every column to agree in a matching pair, and in another.
    prior
        Share of the pairs that match.
    likelihood
        Logarithm of the probability of all that was counted.
    """

    m: Floats
    u: Floats
    prior: float
    likelihood: float = -np.inf

    @property
    def agreement(self) -> Floats:
        """What the agreement of every column adds to a pair's weight, in bits."""
        found: Floats = np.log2(self.m / self.u)
        return found

    @property
    def disagreement(self) -> Floats:
        """What its disagreement adds."""
        found: Floats = np.log2((1 - self.m) / (1 - self.u))
        return found

    def flaws(self, pairs: int) -> tuple[str, ...]:
        """Say why this is no model of matching pairs; nothing if it may be one."""
        found = []
        if (self.m <= self.u).sum() > len(self.m) / 2:
            found.append("most columns agree no more often in its matching pairs than in others")
        if self.prior * pairs < 1:
            found.append("it expects less than one matching pair")
        if self.prior > MOST_PRIOR:
            found.append(f"it takes more than {MOST_PRIOR:.0%} of all pairs for matches")
        divergence = (self.m - self.u) @ (self.agreement - self.disagreement) * np.log(2)
        if divergence < LEAST_DIVERGENCE:
            found.append("its two classes of pairs hardly differ")
        return tuple(found)


@attrs.frozen(eq=False)
class Model:
    """The estimate that is used, for all columns.

    Attributes
    ----------
    estimate
        Of all columns; those that were left out have m = u and weigh nothing.
    used
        Columns that it is about.
    left_out
        Why each of the other columns is not, by its place.
    flaws
        Why EM gave no model; the estimate is then the start.
    """

    estimate: Estimate
    used: Ints
    left_out: dict[int, str]
    flaws: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """Whether the estimate is EM's own."""
        return "degenerate" if self.flaws else "sound"

    @property
    def odds(self) -> float:
        """Odds that any pair matches, in bits."""
        return float(np.log2(self.estimate.prior / (1 - self.estimate.prior)))

    def weights(self, masks: Ints) -> Floats:
        """Weight of every pattern: a sum over the columns that were not left open (eq. 17)."""
        columns = len(self.estimate.m)
        patterns = np.arange(len(masks) << columns)
        mask = np.repeat(masks, 1 << columns)
        weights = np.zeros(len(patterns))
        agreement, disagreement = self.estimate.agreement, self.estimate.disagreement
        for at in self.used:
            of_column = np.where((patterns >> at) & 1, agreement[at], disagreement[at])
            weights += np.where((mask >> at) & 1, 0.0, of_column)
        # Zero has one sign.
        return np.round(weights, DIGITS) + 0.0


def fit(counts: Counts, chance: Sequence[float], prior: float, most: float) -> Model:
    """Estimate the model by EM from several starts.

    Parameters
    ----------
    chance
        Share of random pairs in which every column agrees.
    prior
        Share of the pairs that match if every record has one match.
    most
        Largest share of the pairs that can match, as a published row is one record's at most.
    """
    agreeing, spoken = counts.agreeing(), counts.spoken()
    agree, said = counts.count @ agreeing, counts.count @ spoken
    left_out = _useless(agree, said)
    used = np.setdiff1d(np.arange(counts.columns), list(left_out))
    observed = np.divide(agree, said, out=np.full(counts.columns, 0.5), where=said > 0)
    most = min(max(most, CLIP / max(counts.pairs, 1)), 1 - CLIP)
    prior = min(prior, most, 0.5)
    evidence = _Evidence(
        agreeing[:, used], (spoken - agreeing)[:, used], counts.count.astype(float), most
    )
    usual = _start(observed[used], SHARES[0], prior)
    if len(used) < LEAST_COLUMNS:
        few = f"EM needs {LEAST_COLUMNS} columns that tell pairs apart, and there are {len(used)}"
        return Model(_spread(usual, used, observed), used, left_out, (few,))
    starts = [_start(observed[used], share, p) for share in SHARES for p in (prior, prior / 10)]
    starts.append(_start(np.asarray(chance, float)[used], SHARES[0], prior))
    tried = [evidence.climbed(start, FIRST_STEPS) for start in starts]
    flaws: tuple[str, ...] = ()
    for one in sorted(tried, key=lambda estimate: -estimate.likelihood):
        if one.flaws(counts.pairs):
            flaws = flaws or one.flaws(counts.pairs)
            continue
        found = evidence.climbed(one, MOST_STEPS)
        if not found.flaws(counts.pairs):
            return Model(_spread(found, used, observed), used, left_out)
        flaws = flaws or found.flaws(counts.pairs)
    return Model(_spread(usual, used, observed), used, left_out, flaws)


def _useless(agree: Floats, said: Floats) -> dict[int, str]:
    """Columns from which nothing can be learnt, and why."""
    reasons = {}
    for at, (agreements, pairs) in enumerate(zip(agree, said, strict=True)):
        if not pairs:
            reasons[at] = "is open in every row of the release"
        elif not agreements:
            reasons[at] = "agrees in no pair"
        elif agreements == pairs:
            reasons[at] = "agrees in every pair"
    return reasons


def _start(observed: Floats, share: float, prior: float) -> Estimate:
    """Nearly all pairs are no matches: u is what was observed, and m lies above it."""
    u = np.clip(observed, CLIP, 1 - CLIP)
    return Estimate(np.clip(1 - (1 - share) * (1 - u), CLIP, 1 - CLIP), u, prior)


def _spread(estimate: Estimate, used: Ints, observed: Floats) -> Estimate:
    """Give the columns that were left out probabilities that weigh nothing."""
    m = np.clip(observed, CLIP, 1 - CLIP)
    u = m.copy()
    m[used], u[used] = estimate.m, estimate.u
    return attrs.evolve(estimate, m=m, u=u)


@attrs.frozen(eq=False)
class _Evidence:
    """Agreements and disagreements of every pattern, and its count."""

    agreeing: Floats
    disagreeing: Floats
    count: Floats
    most: float

    def climbed(self, estimate: Estimate, steps: int) -> Estimate:
        """Take steps of EM while the likelihood rises."""
        before = -np.inf
        for _ in range(steps):
            likelihood, matching = self._expected(estimate)
            # Nothing more to gain than rounding.
            if likelihood - before <= max(1e-5, 1e-13 * abs(likelihood)):
                break
            before = likelihood
            estimate = self._maximized(estimate, matching)
        return attrs.evolve(estimate, likelihood=self._expected(estimate)[0])

    def _expected(self, estimate: Estimate) -> tuple[float, Floats]:
        """Return the likelihood, and how many of the pairs of every pattern match."""
        of_class = []
        for probability in (estimate.m, estimate.u):
            found = self.agreeing @ np.log(probability)
            of_class.append(found + self.disagreeing @ np.log1p(-probability))
        match = np.log(estimate.prior) + of_class[0]
        other = np.log1p(-estimate.prior) + of_class[1]
        either = np.logaddexp(match, other)
        return float(self.count @ either), self.count * np.exp(match - either)

    def _maximized(self, estimate: Estimate, matching: Floats) -> Estimate:
        """Return the best estimate under these shares.

        The objective is concave in every parameter, so that the best allowed value is the best
        one, moved to the nearest end of what is allowed.
        """
        found = []
        for pairs, before in ((matching, estimate.m), (self.count - matching, estimate.u)):
            agree, disagree = pairs @ self.agreeing, pairs @ self.disagreeing
            said = agree + disagree
            share = np.divide(agree, said, out=before.copy(), where=said > 0)
            found.append(np.clip(share, CLIP, 1 - CLIP))
        prior = float(matching.sum() / self.count.sum())
        least = CLIP / self.count.sum()
        return Estimate(found[0], found[1], float(np.clip(prior, least, self.most)))
