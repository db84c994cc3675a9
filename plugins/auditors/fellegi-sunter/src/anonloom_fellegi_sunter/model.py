"""The model of Fellegi and Sunter, estimated from counts of patterns of agreement.

A pair matches or it does not; within either class columns agree independently of each other, with
the probabilities m and u (section 3.3 of the paper; Winkler 1988 for EM). Pairs that agree in the
same columns are alike, so that a table of patterns and counts is all that EM needs to see.

Where columns depend on each other, EM finds the pairs that this makes agree, not the matches. Who
holds the original can do better: its records are different people, and how they agree, columns
together, is how pairs agree that do not match. EM then has to find only what is left.
"""

from collections.abc import Sequence
from typing import Literal

import attrs
import numpy as np

from anonloom import short_repr
from anonloom.typing import FloatArray, IntArray

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

#: Added to every count of the null: what was not seen there is rare, not impossible.
UNSEEN = 0.5

Verdict = Literal["sound", "degenerate"]
#: How pairs agree that do not match.
Others = Literal["null", "independent"]


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

    pattern: IntArray = attrs.field(repr=False)
    count: IntArray = attrs.field(repr=False)
    masks: IntArray = attrs.field(repr=False)
    columns: int

    @classmethod
    def of(cls, table: IntArray, masks: IntArray, columns: int) -> "Counts":
        """Keep what occurs of a table of all patterns."""
        pattern = np.flatnonzero(table)
        return cls(pattern, table[pattern], masks, columns)

    @property
    def pairs(self) -> int:
        """Number of pairs."""
        return int(self.count.sum())

    def agreement_matrix(self) -> FloatArray:
        """(patterns x columns): 1 where the column agrees."""
        agreeing: FloatArray = ((self.pattern[:, None] >> np.arange(self.columns)) & 1).astype(
            float
        )
        return agreeing

    def stated_matrix(self) -> FloatArray:
        """(patterns x columns): 1 where the row says something about the column."""
        mask = self.masks[self.pattern >> self.columns]
        silent = (mask[:, None] >> np.arange(self.columns)) & 1
        spoken: FloatArray = (1 - silent).astype(float)
        return spoken


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

    m: FloatArray
    u: FloatArray
    prior: float
    likelihood: float = -np.inf

    @property
    def agreement(self) -> FloatArray:
        """What the agreement of every column adds to a pair's weight, in bits."""
        result: FloatArray = np.log2(self.m / self.u)
        return result

    @property
    def disagreement(self) -> FloatArray:
        """What its disagreement adds."""
        result: FloatArray = np.log2((1 - self.m) / (1 - self.u))
        return result

    def flaws(self, pairs: int) -> tuple[str, ...]:
        """Say why this is no model of matching pairs; nothing if it may be one."""
        results = []
        if (self.m <= self.u).sum() > len(self.m) / 2:
            results.append("most columns agree no more often in its matching pairs than in others")
        if self.prior * pairs < 1:
            results.append("it expects less than one matching pair")
        if self.prior > MOST_PRIOR:
            results.append(f"it takes more than {MOST_PRIOR:.0%} of all pairs for matches")
        divergence = (self.m - self.u) @ (self.agreement - self.disagreement) * np.log(2)
        if divergence < LEAST_DIVERGENCE:
            results.append("its two classes of pairs hardly differ")
        return tuple(results)


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
    others
        How pairs agree that do not match.
    flaws
        Why EM gave no model; the estimate is then the start.
    """

    estimate: Estimate
    used: IntArray
    left_out: dict[int, str]
    others: Others = "independent"
    flaws: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """Whether the estimate is EM's own."""
        return "degenerate" if self.flaws else "sound"

    @property
    def odds(self) -> float:
        """Odds that any pair matches, in bits."""
        return float(np.log2(self.estimate.prior / (1 - self.estimate.prior)))

    def weights(self, masks: IntArray) -> FloatArray:
        """Weight of every pattern: a sum over the columns that were not left open (eq. 17)."""
        columns = len(self.estimate.m)
        patterns = np.arange(len(masks) << columns)
        mask = np.repeat(masks, 1 << columns)
        weights = np.zeros(len(patterns))
        agreement, disagreement = self.estimate.agreement, self.estimate.disagreement
        for index in self.used:
            of_column = np.where((patterns >> index) & 1, agreement[index], disagreement[index])
            weights += np.where((mask >> index) & 1, 0.0, of_column)
        # Zero has one sign.
        return np.round(weights, DIGITS) + 0.0


def fit(
    counts: Counts, chance: Sequence[float], prior: float, most: float, null: IntArray | None = None
) -> Model:
    """Estimate the model by EM from several starts.

    Parameters
    ----------
    chance
        Share of random pairs in which every column agrees.
    prior
        Share of the pairs that match if every record has one match.
    most
        Largest share of the pairs that can match, as a published row is one record's at most.
    null
        How often each of all patterns occurs among pairs of different people; None leaves it to
        EM how often they agree, column by column.
    """
    agreeing, spoken = counts.agreement_matrix(), counts.stated_matrix()
    agree, stated = counts.count @ agreeing, counts.count @ spoken
    left_out = _useless(agree, stated)
    used = np.setdiff1d(np.arange(counts.columns), list(left_out))
    observed = np.divide(agree, stated, out=np.full(counts.columns, 0.5), where=stated > 0)
    most = min(max(most, CLIP / max(counts.pairs, 1)), 1 - CLIP)
    prior = min(prior, most, 0.5)
    usual = _start(observed[used], SHARES[0], prior)
    if len(used) < LEAST_COLUMNS:
        few = f"EM needs {LEAST_COLUMNS} columns that tell pairs apart, and there are {len(used)}"
        return Model(_spread(usual, used, observed), used, left_out, flaws=(few,))
    starts = [_start(observed[used], share, p) for share in SHARES for p in (prior, prior / 10)]
    starts.append(_start(np.asarray(chance, float)[used], SHARES[0], prior))
    free = Evidence(
        agreeing[:, used], (spoken - agreeing)[:, used], counts.count.astype(float), most
    )
    if null is not None and null.any():
        result, _ = free.with_null(null[counts.pattern], int(null.sum())).best(starts)
        # Matches agree at least as often as strangers; or the release agrees otherwise with
        # strangers than the original does, and EM found that.
        if result is not None and (result.m > result.u).all():
            return Model(_spread(result, used, observed), used, left_out, "null")
    result, flaws = free.best(starts)
    if result is None:
        return Model(_spread(usual, used, observed), used, left_out, flaws=flaws)
    return Model(_spread(result, used, observed), used, left_out)


def _useless(agree: FloatArray, stated: FloatArray) -> dict[int, str]:
    """Columns from which nothing can be learnt, and why."""
    reasons = {}
    for index, (agreements, pairs) in enumerate(zip(agree, stated, strict=True)):
        if not pairs:
            reasons[index] = "is open in every row of the release"
        elif not agreements:
            reasons[index] = "agrees in no pair"
        elif agreements == pairs:
            reasons[index] = "agrees in every pair"
    return reasons


def _start(observed: FloatArray, share: float, prior: float) -> Estimate:
    """Nearly all pairs are no matches: u is what was observed, and m lies above it."""
    u = np.clip(observed, CLIP, 1 - CLIP)
    return Estimate(np.clip(1 - (1 - share) * (1 - u), CLIP, 1 - CLIP), u, prior)


def _spread(estimate: Estimate, used: IntArray, observed: FloatArray) -> Estimate:
    """Give the columns that were left out probabilities that weigh nothing."""
    m = np.clip(observed, CLIP, 1 - CLIP)
    u = m.copy()
    m[used], u[used] = estimate.m, estimate.u
    return attrs.evolve(estimate, m=m, u=u)


@short_repr
@attrs.frozen(eq=False)
class Evidence:
    """Agreements and disagreements of every pattern, and its count.

    Attributes
    ----------
    others
        Logarithm of every pattern's probability among pairs that do not match, where it is known.
    """

    agreeing: FloatArray
    disagreeing: FloatArray
    count: FloatArray
    most: float
    others: FloatArray | None = None

    def with_null(self, null: IntArray, total: int) -> "Evidence":
        """Return the evidence with the patterns of pairs that do not match."""
        return attrs.evolve(self, others=np.log((null + UNSEEN) / (total + UNSEEN)))

    def best(self, starts: Sequence[Estimate]) -> tuple[Estimate | None, tuple[str, ...]]:
        """Return the likeliest estimate without flaws, or the flaws of the likeliest."""
        flaws: tuple[str, ...] = ()
        tried = [self.run_em(start, FIRST_STEPS) for start in starts]
        for item in sorted(tried, key=lambda estimate: -estimate.likelihood):
            result = item if self.flaws(item) else self.run_em(item, MOST_STEPS)
            wrong = self.flaws(result)
            if not wrong:
                return result, ()
            flaws = flaws or wrong
        return None, flaws

    def flaws(self, estimate: Estimate) -> tuple[str, ...]:
        """Say why an estimate is no model of matching pairs; nothing if it may be one."""
        pairs = float(self.count.sum())
        result = estimate.flaws(int(pairs))
        # Schwarz's criterion: m of every column and the prior are what the second class costs.
        cost = (len(estimate.m) + 1) / 2 * np.log(pairs)
        if estimate.likelihood - self.of_one_class() < cost:
            result = (*result, "a single class of pairs explains as well how they agree")
        return result

    def of_one_class(self) -> float:
        """Likelihood if no pair matches."""
        if self.others is not None:
            return float(self.count @ self.others)
        agree, disagree = self.count @ self.agreeing, self.count @ self.disagreeing
        return float(self.count @ self._independent(agree / (agree + disagree)))

    def run_em(self, estimate: Estimate, steps: int) -> Estimate:
        """Take steps of EM while the likelihood rises."""
        before = -np.inf
        for _ in range(steps):
            likelihood, matching = self._e_step(estimate)
            # Nothing more to gain than rounding.
            if likelihood - before <= max(1e-5, 1e-13 * abs(likelihood)):
                break
            before = likelihood
            estimate = self._m_step(estimate, matching)
        return attrs.evolve(estimate, likelihood=self._e_step(estimate)[0])

    def _e_step(self, estimate: Estimate) -> tuple[float, FloatArray]:
        """Return the likelihood, and how many of the pairs of every pattern match."""
        # Both classes at once: the table of patterns is long, and is read once.
        both = [estimate.m] if self.others is not None else [estimate.m, estimate.u]
        of_class = self._independent(np.stack(both, axis=1))
        others = of_class[:, -1] if self.others is None else self.others
        match = np.log(estimate.prior) + of_class[:, 0]
        either = np.logaddexp(match, np.log1p(-estimate.prior) + others)
        return float(self.count @ either), self.count * np.exp(match - either)

    def _independent(self, probability: FloatArray) -> FloatArray:
        """Logarithm of every pattern's probability if columns agree independently."""
        agree = self.agreeing @ np.log(probability)
        result: FloatArray = agree + self.disagreeing @ np.log1p(-probability)
        return result

    def _m_step(self, estimate: Estimate, matching: FloatArray) -> Estimate:
        """Return the best estimate under these shares.

        The objective is concave in every parameter, so that the best allowed value is the best
        one, moved to the nearest end of what is allowed.
        """
        pairs = np.stack([matching, self.count - matching])
        agree, disagree = pairs @ self.agreeing, pairs @ self.disagreeing
        stated = agree + disagree
        before = np.stack([estimate.m, estimate.u])
        share = np.divide(agree, stated, out=before, where=stated > 0)
        m, u = np.clip(share, CLIP, 1 - CLIP)
        total = self.count.sum()
        prior = np.clip(matching.sum() / total, CLIP / total, self.most)
        return Estimate(m, u, float(prior))
