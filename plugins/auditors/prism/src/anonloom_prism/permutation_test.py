"""The chance to gain as much, by dealing many times: where bounds are too wide to decide."""

import numpy as np

from anonloom.typing import FloatArray

#: So many times the fewest deals that can tell whether a p-value is below a level.
_TIMES = 10
#: Most cells that are dealt in all, and at a time.
_MOST, _TOGETHER = 20_000_000, 200_000


def by_dealing(rows: FloatArray, hits: FloatArray, level: float) -> float | None:
    """Return a p-value that is exact up to the number of deals; None when too many were needed.

    The hits of every block are dealt anew among its rows. Who counts the table itself among the
    deals has a valid test, however few there are. It ends early once the level is out of reach.

    Parameters
    ----------
    rows, hits
        (blocks x levels).
    level
        Up to which a p-value would be believed.
    """
    wanted = int(np.ceil(_TIMES / level))
    if wanted * rows.size > _MOST:
        return None
    # Always the same deals: the same table must not have other findings the next time.
    rng = np.random.default_rng(0)
    inverse = 1 / np.where(rows > 0, rows, 1.0)
    # Equal gains are equal, whatever rounding says.
    seen = (hits**2 * inverse).sum() * (1 - 1e-12)
    blocks = list(zip(rows.astype(np.int64), hits.sum(axis=1).astype(np.int64), strict=True))
    dealt = reached = 0
    while dealt < wanted and reached <= level * wanted:
        count = min(max(_TOGETHER // rows.size, 1), wanted - dealt)
        gains = np.zeros(count)
        for (of_rows, dealing), over in zip(blocks, inverse, strict=True):
            drawn = rng.multivariate_hypergeometric(of_rows, dealing, count, method="marginals")
            gains += drawn.astype(np.float64) ** 2 @ over
        dealt, reached = dealt + count, reached + int((gains >= seen).sum())
    return (1 + reached) / (1 + dealt)
