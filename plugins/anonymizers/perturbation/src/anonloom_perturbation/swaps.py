"""Swapping: of some rows, each takes the value of another."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from anonloom_perturbation.noise import Level

How = Literal["permute", "redraw"]

#: Share of the cells of a category that are swapped.
OF_CATEGORIES: dict[Level, float] = {"low": 0.02, "medium": 0.05, "high": 0.10}


def donors(
    present: NDArray[np.bool_], share: float, how: How, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return for every row the row whose value it takes: mostly itself.

    Parameters
    ----------
    present
        Rows that have a value; the others neither give nor take one.
    share
        Share of the present rows that take another's value; at least two rows if it is above 0,
        since one alone has nobody to swap with.
    how
        `permute`: the chosen rows pass their values on in a circle, so that every value stays as
        frequent as it was. `redraw`: each takes the value of any row.
    """
    source = np.arange(len(present))
    rows = np.flatnonzero(present)
    if not share or len(rows) < 2:
        return source
    chosen = rng.choice(rows, max(2, round(share * len(rows))), replace=False)
    source[chosen] = np.roll(chosen, 1) if how == "permute" else rng.choice(rows, len(chosen))
    return source
