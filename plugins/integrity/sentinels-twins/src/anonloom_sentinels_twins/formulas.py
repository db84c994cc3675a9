r"""Closed formulas: the probability that omitted work goes unnoticed.

W workers, z of them lazy. A lazy worker omits each of its jobs with probability p, blindly: its
choice does not depend on the row. For an omitted job it answers the most frequent class, which is
right with probability P_max. There are c classes, and q = p z / W is the share of all jobs that is
omitted. Every formula takes numbers or arrays (of shapes that broadcast) and returns an array.

z need not be whole: a share of the workers seldom gives a whole number. Between two whole numbers
a campaign has the one or the other number of lazy workers, with z on average, and so the formulas
lie on the straight line between their values at the two.

What is asked of a placement
----------------------------
`undetected` is true (exact, or an upper bound) for a placement that

1. deals sentinels evenly: every worker has floor(s / W) of them, and the s mod W workers that have
   one more are drawn at random. All classes have equally many, and a random choice of them one
   more (or each sentinel's class is drawn on its own), dealt in random order: in the order of
   classes, six of three classes to four workers, two workers have the second class only;
2. deals twins evenly over the *pairs of workers* that may share a job (`sharing_pairs`): every
   pair has floor(t / M) of the t twins, M being the number of pairs, and the t mod M pairs that
   have one more are drawn at random; or draws a pair for every twin on its own;
3. draws which jobs are twinned at random, and all of this independently of each other.

The reasons, with Z the set of lazy workers, on whom the draw does not depend:

- A pair of workers leaves a twin unnoticed with a probability w that depends on the pair. If pairs
  are drawn on their own, t twins have (mean of w)^t. Without replacement the mean of the product is
  not larger (Hoeffding 1963, theorem 4, for the convex function exp of a sum of log w), nor is the
  geometric mean that a full round over all pairs gives.
- The same theorem holds for classes without replacement: (1 - p)^x is convex in the number x of
  sentinels that the guess misses, and a number of which one class has floor or ceiling is least in
  convex order among the whole numbers with its mean.
- It would *not* be enough to give every worker equally many twins. Of four workers two omit
  everything; with two twins dealt as a perfect matching nothing is noticed if the lazy two are
  partners: in 1/3 of the campaigns where no guess is right. Pairs drawn on their own have 1/9.

If a lazy worker omits exactly a share p of its jobs, instead of tossing a coin for each, omissions
of one worker are negatively associated (Joag-Dev and Proschan 1983). Whatever is noticed by
comparing a lazy worker with the client or with an honest worker is a decreasing function of them,
so everything said of sentinels, and of twins with `colluding=True`, remains an upper bound. The
part of twins that two lazy workers share does not: two workers with the same two jobs, each
omitting exactly one of them, agree in 1/2 of the cases, and with coins in 1/4. The difference
fades as controls become a small part of a batch; who wants a bound without it sets `colluding`.
"""

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anonloom.errors import UsageError
from anonloom.lazy import lazy_module
from anonloom.typing import FloatArray
from anonloom_sentinels_twins.tolerant import (
    LEVEL,
    campaign_level,
    more_than,
    most_tolerated,
    own_level,
)
from anonloom_sentinels_twins.twin_pairs import count_sharing, least_shared
from anonloom_sentinels_twins.work_check import Campaign

special = lazy_module("scipy.special")

#: How sentinels may be spread over the classes: `uniform` is what the scheme does.
Spread = Literal["uniform", "data", "inverse", "reversed"]

#: The rule as the paper prints it, and why it is not used.
PRINTED_RULE = (
    "The paper prefers sentinels if P_max > 0.5 (1 + c). With c >= 2 classes the right side is at "
    "least 1.5, above any probability: the rule as printed never prefers sentinels. A sentinel "
    "notices an omission with q (1 - 1/c), a twin with P_1 (1 - P_max), and each costs one job; "
    "so sentinels are better if P_max > 1 - q (1 - 1/c) / P_1. With P_1 = 2 q (1 - q) and a small "
    "q this is P_max > 0.5 (1 + 1/c): the printed rule has lost the fraction."
)


def sentinel_classes(classes: Sequence[float], spread: Spread = "uniform") -> FloatArray:
    """The share of the sentinels that each class has.

    Parameters
    ----------
    classes
        The share of the jobs that each class has.
    spread
        `uniform`: all the same. `data`: as the jobs. `inverse`: in proportion to the reciprocals
        of the jobs' shares. `reversed`: the jobs' shares in reversed order of frequency.

    Notes
    -----
    A worker that knows the shares answers the class with the largest one, and a sentinel passes
    with that share. No distribution over c classes has a largest share below 1/c: `uniform` is
    best.
    """
    shares = np.asarray(classes, dtype=np.float64)
    if spread == "uniform":
        return np.full(len(shares), 1 / len(shares))
    if spread == "inverse":
        return np.asarray((1 / shares) / (1 / shares).sum())
    if spread == "reversed":
        order = np.argsort(shares, kind="stable")
        reversed_shares = np.empty_like(shares)
        reversed_shares[order] = shares[order[::-1]]
        return reversed_shares
    return shares


def sentinel_fails(
    workers: ArrayLike, lazy: ArrayLike, omission: ArrayLike, guess: ArrayLike
) -> FloatArray:
    """The probability that one sentinel notices an omission: q (1 - guess).

    It has to be at a lazy worker (z / W), to be omitted (p), and its class has to be another one
    than the worker's guess. `guess` is the largest share of a class among the sentinels: 1/c.
    """
    W, z, p, g = _floats(workers, lazy, omission, guess)
    return np.asarray(z / W * p * (1 - g))


def sentinels_at_random(
    workers: ArrayLike,
    lazy: ArrayLike,
    omission: ArrayLike,
    guess: ArrayLike,
    sentinels: ArrayLike,
) -> FloatArray:
    """The probability that s sentinels, each at a random worker, notice nothing.

    Each is one trial of its own: [1 - q (1 - guess)]^s.
    """

    def whole(z: FloatArray) -> FloatArray:
        return _power(1 - sentinel_fails(workers, z, omission, guess), sentinels)

    return _between(lazy, whole)


def sentinels_spread(
    workers: ArrayLike,
    lazy: ArrayLike,
    omission: ArrayLike,
    guess: ArrayLike,
    sentinels: ArrayLike,
) -> FloatArray:
    """The probability that s sentinels, dealt evenly over the workers, notice nothing.

    A sentinel at a lazy worker passes with f = 1 - p (1 - guess). Every worker has floor(s / W);
    of the r = s mod W workers with one more, K are lazy, K being hypergeometric (r of W drawn, z
    of them lazy). So z floor(s / W) + K sentinels are at lazy workers, and the probability is the
    mean of f^(z floor(s / W) + K). If s is a multiple of W this is f^(s z / W), which is never
    more than random workers give: the geometric mean of f and 1 against their arithmetic mean.
    """
    W, p, g, s = _floats(workers, omission, guess, sentinels)
    passes = 1 - p * (1 - g)
    rounds, surplus = np.floor(s / W), np.mod(s, W)

    def whole(z: FloatArray) -> FloatArray:
        most = int(min(np.max(z), np.max(surplus)))
        k = np.arange(most + 1)
        chance = _hypergeometric(k, W[..., None], z[..., None], surplus[..., None])
        lucky = (chance * _power(passes[..., None], k)).sum(axis=-1)
        return np.asarray(_power(passes, z * rounds) * lucky)

    return _between(lazy, whole)


def twin_differs(
    workers: ArrayLike, lazy: ArrayLike, omission: ArrayLike, colluding: bool = False
) -> FloatArray:
    """P_1, the probability that exactly one copy of a twin is omitted.

    Two distinct workers are drawn. One is lazy with probability 2 z (W - z) / (W (W - 1)), and
    omits its copy with p. Both are with z (z - 1) / (W (W - 1)), and then exactly one of them
    omits its copy with 2 p (1 - p). Workers that `colluding` compare their jobs recognise the
    twin that both have, and answer it alike: the second part is gone. If W is large, P_1 is
    2 q (1 - q).
    """
    W, p = _floats(workers, omission)

    def whole(z: FloatArray) -> FloatArray:
        pairs = W * (W - 1)
        one = p * 2 * z * (W - z) / pairs
        both = 2 * p * (1 - p) * z * (z - 1) / pairs
        return np.asarray(one if colluding else one + both)

    return _between(lazy, whole)


def twins(
    workers: ArrayLike,
    lazy: ArrayLike,
    omission: ArrayLike,
    largest: ArrayLike,
    pairs: ArrayLike,
    colluding: bool = False,
) -> FloatArray:
    """The probability that t twins notice nothing: [1 - P_1 (1 - P_max)]^t.

    A twin is noticed if exactly one copy is omitted (`twin_differs`) and the guess was wrong. If
    both are omitted, both answers are the most frequent class, and they agree.
    """

    def whole(z: FloatArray) -> FloatArray:
        wrong = 1 - np.asarray(largest, dtype=np.float64)
        return _power(1 - twin_differs(workers, z, omission, colluding) * wrong, pairs)

    return _between(lazy, whole)


def replicas(
    workers: ArrayLike,
    lazy: ArrayLike,
    omission: ArrayLike,
    largest: ArrayLike,
    copies: ArrayLike,
) -> FloatArray:
    """The probability that r extra copies of one job, r + 1 in all, notice nothing.

    If the guess is right (P_max), nothing is noticed. Otherwise all r + 1 answers must be alike:
    nobody omitted the job, or everybody did. Of r + 1 distinct workers K are lazy, hypergeometric:
    P_max + (1 - P_max) (A_0 + A_1), A_0 the mean of (1 - p)^K and A_1 = P(K = r + 1) p^(r + 1).
    However many copies, it never falls below P_max: twins of different jobs are better.
    """
    W, p, P, r = _floats(workers, omission, largest, copies)

    def whole(z: FloatArray) -> FloatArray:
        k = np.arange(int(np.max(r)) + 2)
        chance = _hypergeometric(k, W[..., None], z[..., None], r[..., None] + 1)
        nobody = (chance * _power(1 - p[..., None], k)).sum(axis=-1)
        everybody = np.where(k == r[..., None] + 1, chance, 0).sum(axis=-1) * _power(p, r + 1)
        return np.asarray(P + (1 - P) * (nobody + everybody))

    return _between(lazy, whole)


def together(
    workers: ArrayLike,
    lazy: ArrayLike,
    omission: ArrayLike,
    guess: ArrayLike,
    largest: ArrayLike,
    sentinels: ArrayLike,
    pairs: ArrayLike,
    *,
    spread: bool = True,
    colluding: bool = False,
) -> FloatArray:
    """The probability that neither notices anything: given who is lazy, they are independent."""
    alone = sentinels_spread if spread else sentinels_at_random

    def whole(z: FloatArray) -> FloatArray:
        return np.asarray(
            alone(workers, z, omission, guess, sentinels)
            * twins(workers, z, omission, largest, pairs, colluding)
        )

    return _between(lazy, whole)


def threshold(
    workers: ArrayLike,
    lazy: ArrayLike,
    omission: ArrayLike,
    classes: ArrayLike,
    colluding: bool = False,
) -> FloatArray:
    """The exact rule: sentinels are better than twins if P_max is above this.

    Each costs one job; a sentinel notices with q (1 - 1/c), a twin with P_1 (1 - P_max). The
    first is larger if P_max > 1 - q (1 - 1/c) / P_1. Where twins notice nothing at all (P_1 = 0:
    one worker, or everybody omits everything) the threshold is below every probability.
    """
    (c,) = _floats(classes)
    single = np.asarray(workers, dtype=np.float64) < 2
    W = np.where(single, 2, workers)
    fails = sentinel_fails(W, lazy, omission, 1 / c)
    differs = np.where(single, 0.0, twin_differs(W, lazy, omission, colluding))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(differs > 0, 1 - fails / differs, -np.inf)


def small_threshold(classes: ArrayLike) -> FloatArray:
    """What the exact rule tends to if little is omitted: 1/2 (1 + 1/c).

    Then P_1 = 2 q (1 - q) is nearly 2 q, and 1 - q (1 - 1/c) / (2 q) = 1/2 (1 + 1/c).
    See `PRINTED_RULE` for the form in which the paper has it.
    """
    (c,) = _floats(classes)
    return np.asarray((1 + 1 / c) / 2)


def mismatch_rates(campaign: Campaign) -> tuple[float, float]:
    """How often a sentinel fails, and how often the copies of a twin differ, at least.

    With an honest error e: a sentinel that was worked on fails with e, one that was omitted with
    1 - 1/c. The copies of a twin differ with e if both were worked on, with 1 - P_max if one was
    omitted, and never if both were, or if lazy workers that collude have both.

    A pair of workers of which one is lazy thus exceeds e by A = p (1 - P_max - e), a pair of two
    lazy ones by B. With `one` and `both` such pairs among the M that may share a job, and
    `shared` = one + 2 both, the rate is e + (A shared - (2 A - B) both) / M; if there are groups,
    of the lazy workers for whom that is least (`least_shared`).
    """
    W, z, p, e = campaign.workers, campaign.lazy, campaign.omission, campaign.error
    wrong = 1 - max(campaign.classes)
    q = p * z / W
    fails = (1 - q) * e + q * (1 - 1 / len(campaign.classes))
    pairs = count_sharing(W, campaign.groups)
    one = p * (wrong - e)
    if pairs == 0 or one <= 0:
        return fails, min(e, e + one)
    two = -e if campaign.colluding else ((1 - p) ** 2 - 1) * e + 2 * p * (1 - p) * wrong
    shared, both = least_shared(W, z, campaign.groups, (2 * one - two) / one)
    return fails, max(0.0, e + (one * shared - (2 * one - two) * both) / pairs)


def undetected_probability(
    campaign: Campaign, sentinels: ArrayLike, pairs: ArrayLike, *, level: float = LEVEL
) -> FloatArray:
    """The probability that nothing is noticed of what the campaign expects, at most.

    For blind omission, and for a placement as the module asks for. Without an honest error this
    is `together`, with sentinels dealt evenly and the worst choice of lazy workers if there are
    groups.

    With an honest error, sentinels and twins are tested by `most_tolerated`, each at
    `campaign_level`. The number of mismatches is a sum of independent trials with different
    chances (controls drawn without replacement are strongly Rayleigh, so their count has a
    real-rooted generating function), and for it Hoeffding (1956) gives
    P(X <= k) <= P(Bin(n, mean) <= k) if k <= n mean - 1. Where that fails the bound is 1: so few
    controls show nothing. Tests of single workers can only notice more.

    Raises
    ------
    UsageError
        When there are twins, and no two workers may share a job.
    """
    s, t = np.asarray(sentinels, dtype=np.int64), np.asarray(pairs, dtype=np.int64)
    if np.any(t > 0) and count_sharing(campaign.workers, campaign.groups) == 0:
        raise UsageError(
            "twins need two workers that may share a job",
            hint="Use more workers or smaller groups, or sentinels only.",
        )
    fails, differs = mismatch_rates(campaign)
    if campaign.error == 0:
        guess = 1 / len(campaign.classes)
        known = sentinels_spread(campaign.workers, campaign.lazy, campaign.omission, guess, s)
        return np.asarray(known * _power(1 - differs, t))
    e, each = campaign.error, campaign_level(level)
    return np.asarray(_tolerant(s, fails, e, each) * _tolerant(t, differs, e, each))


def escape(campaign: Campaign, sentinels: ArrayLike, *, level: float = LEVEL) -> FloatArray:
    """The probability that a lazy worker is not proved to be by so many sentinels of its own.

    One that is omitted passes with 1/c. What other workers do is of no matter: nobody has the same
    sentinel. With an honest error a worker's sentinels are tested at `own_level`, and the bound is
    that of `undetected`.
    """
    s = np.asarray(sentinels, dtype=np.int64)
    p, e, wrong = campaign.omission, campaign.error, 1 - 1 / len(campaign.classes)
    if e == 0:
        return _power(1 - p * wrong, s)
    return _tolerant(s, (1 - p) * e + p * wrong, e, own_level(campaign.workers, level))


def unnoticed_extreme(
    campaign: Campaign, sentinels: ArrayLike, *, level: float = LEVEL
) -> FloatArray:
    """The probability that nothing is noticed although everybody omits everything.

    All twins agree then; a sentinel passes with 1/c.
    """
    s = np.asarray(sentinels, dtype=np.int64)
    chance = 1 - 1 / len(campaign.classes)
    if campaign.error == 0:
        return _power(1 - chance, s)
    allowed = most_tolerated(s, campaign.error, campaign_level(level))
    return np.asarray(1 - more_than(allowed, s, chance))


def _tolerant(n: NDArray[Any], rate: float, error: float, level: float) -> FloatArray:
    allowed = most_tolerated(n, error, level)
    bound = 1 - more_than(allowed, n, rate)
    return np.where(allowed <= n * rate - 1, bound, 1.0)


def _floats(*values: ArrayLike) -> tuple[FloatArray, ...]:
    return tuple(np.asarray(value, dtype=np.float64) for value in values)


def _power(base: ArrayLike, exponent: ArrayLike) -> FloatArray:
    return np.asarray(np.power(*_floats(base, exponent)))


def _between(lazy: ArrayLike, formula: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """The value of a formula for a number of lazy workers that lies between two whole ones."""
    (z,) = _floats(lazy)
    low = np.floor(z)
    share = z - low
    if not np.any(share):
        return formula(z)
    return np.asarray((1 - share) * formula(low) + share * formula(low + (share > 0)))


def _hypergeometric(
    k: ArrayLike, total: ArrayLike, marked: ArrayLike, drawn: ArrayLike
) -> FloatArray:
    """The probability of k marked ones among so many drawn without replacement."""
    x, N, m, n = np.broadcast_arrays(*_floats(k, total, marked, drawn))
    possible = (x >= 0) & (x <= m) & (n - x >= 0) & (n - x <= N - m)
    x = np.where(possible, x, np.maximum(0, n - (N - m)))
    logs = _log_choose(m, x) + _log_choose(N - m, n - x) - _log_choose(N, n)
    return np.where(possible, np.exp(logs), 0.0)


def _log_choose(n: FloatArray, k: FloatArray) -> FloatArray:
    return np.asarray(special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1))
