"""The four kinds of anomaly of section 7.3, and which rows they hit."""

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

Anomaly = Literal["rare channel", "long-tail product", "odd time", "lag outlier"]
ANOMALIES: tuple[Anomaly, ...] = get_args(Anomaly)

#: Channels that nobody else meets.
RARE_CHANNELS = ("Podcast", "Print", "Affiliate", "Billboard")
#: The least popular products, as a share of all.
TAIL = 0.2
#: Hours, the last one not included, at which hardly anybody shops.
NIGHT = (2, 5)
#: Days of spikes, counted from the first day: 14 February, 8 and 31 March 2024.
HOLIDAYS = (44, 67, 90)
#: Days of a purchase long after the ad.
LATE = (90.0, 365.0)


class Hit:
    """The rows that anomalies hit: a given share of them, each kind equally often.

    Attributes
    ----------
    kind
        Of every row the number of its anomaly in `ANOMALIES`, or -1.
    """

    def __init__(self, rows: int, share: float, rng: np.random.Generator) -> None:
        self.kind: NDArray[np.int8] = np.full(rows, -1, np.int8)
        chosen = rng.permutation(rows)[: round(rows * share)]
        self.kind[chosen] = np.arange(len(chosen)) % len(ANOMALIES)
        # Two of the kinds have two faces: early and late, at night and on a holiday.
        self._other_face: NDArray[np.bool_] = np.zeros(rows, bool)
        self._other_face[chosen] = np.arange(len(chosen)) // len(ANOMALIES) % 2 == 1

    def of(self, kind: Anomaly) -> NDArray[np.int64]:
        """Rows of one kind."""
        return np.flatnonzero(self.kind == ANOMALIES.index(kind))

    def halves(self, kind: Anomaly) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Rows of one kind, in two halves."""
        rows = self.of(kind)
        return rows[~self._other_face[rows]], rows[self._other_face[rows]]
