"""A bound that chance cannot pass, for rare values: exact where the gamma distribution only fits.

The hits of a block are dealt among its levels, h_l of the r_l rows of level l; blocks are dealt
each on its own. For every t > 0 the chance that the gain G reaches g is at most (Chernoff)

    E[exp(t G)] / exp(t g),      G = sum over blocks of ( sum_l h_l^2 / r_l  -  H^2 / R )

and the expectation of a block is a coefficient of a polynomial: that of z^H in the product over l
of sum_h C(r_l, h) exp(t h^2 / r_l) z^h, divided by C(R, H). All terms are positive, so that nothing
cancels, and the bound holds for whatever t is used; the best one is searched for.
"""

import numpy as np
from scipy.special import gammaln

from anonloom.typing import FloatArray

#: Where the search for t begins, and where it ends at the latest.
_GENTLEST, _STEEPEST = 1 / 16, 64.0
#: How many t are tried between the two doubled ones that enclose the best.
_BETWEEN = 7


def chernoff(rows: FloatArray, hits: FloatArray) -> float:
    """Return a bound of the chance to gain as much when the hits of every block are dealt anew.

    Parameters
    ----------
    rows, hits
        (blocks x levels): rows of every level in a block, and those that the target is true of.
    """
    of_block = rows.sum(axis=1)
    # Dealing hits is dealing the others, and the gain is the same: the rarer ones cost less.
    many = 2 * hits.sum(axis=1) > of_block
    hits = np.where(many[:, None], rows - hits, hits)
    blocks = [
        _Block(of_rows[of_rows > 0], float(dealt.sum()))
        for of_rows, dealt in zip(rows, hits, strict=True)
        if dealt.sum() > 0
    ]
    gain = (hits**2 / np.where(rows > 0, rows, 1.0)).sum()

    def exponent(steep: float) -> float:
        return float(sum(block.log_mean(steep) for block in blocks) - steep * gain)

    # Convex, and 0 at 0: t is doubled for as long as it falls, and then tried in between.
    steep, lowest = _GENTLEST, 0.0
    while steep <= _STEEPEST and (reached := exponent(steep)) < lowest:
        steep, lowest = 2 * steep, reached
    between = np.geomspace(steep / 4, steep, _BETWEEN + 2)[1:-1]
    return float(np.exp(min(lowest, *map(exponent, between))))


class _Block:
    """Rows of the levels of one block, and how many hits are dealt among them."""

    def __init__(self, rows: FloatArray, hits: float) -> None:
        share = hits / rows.sum()
        self.hits = int(hits)
        # Weighed like binomial counts of this share, of which the products stay near 1.
        counts = [np.arange(min(int(row), self.hits) + 1.0) for row in rows]
        self.squares = [count**2 / row for count, row in zip(counts, rows, strict=True)]
        self.ways = [
            _log_choose(row, count) + count * np.log(share) + (row - count) * np.log1p(-share)
            for count, row in zip(counts, rows, strict=True)
        ]
        total = float(rows.sum())
        self.all_ways = float(
            _log_choose(total, np.array(hits))
            + hits * np.log(share)
            + (total - hits) * np.log1p(-share)
        )

    def log_mean(self, steep: float) -> float:
        """Logarithm of the expectation of exp(steep * sum of h^2 / r)."""
        product, scale = np.ones(1), 0.0
        for ways, squares in zip(self.ways, self.squares, strict=True):
            logs = ways + steep * squares
            most = logs.max()
            product = np.convolve(product, np.exp(logs - most))[: self.hits + 1]
            largest = product.max()
            if largest == 0:
                # Too steep for numbers of this range; a gentler t gives a bound, too.
                return np.inf
            product, scale = product / largest, scale + most + np.log(largest)
        reached = product[self.hits]
        return float(np.log(reached) + scale - self.all_ways) if reached > 0 else np.inf


def _log_choose(of: float, taken: FloatArray) -> FloatArray:
    result: FloatArray = gammaln(of + 1) - gammaln(taken + 1) - gammaln(of - taken + 1)
    return result
