"""tau, and the rates of sections 5.4 to 6.3: all from the arrays of one pass."""

import attrs
import numpy as np

from anonloom.typing import FloatArray
from anonloom_cvpl.evidence import Evidence

#: The attacker's strictness is swept over these (Appendix C).
THRESHOLDS: FloatArray = np.round(np.arange(0.70, 0.995, 0.01), 2)


def share_reaching(values: FloatArray, thresholds: FloatArray, of: int | None = None) -> FloatArray:
    """Share of the values that reach each threshold; NaN reaches none.

    Parameters
    ----------
    of
        What the share is of; the number of values by default.
    """
    known = np.sort(values[~np.isnan(values)])
    total = len(values) if of is None else of
    rows_reaching = len(known) - np.searchsorted(known, thresholds, side="left")
    return rows_reaching / max(total, 1)


def linkage_rate(evidence: Evidence, thresholds: FloatArray) -> FloatArray:
    """CVPL-LR (26): share of the records with a candidate that reaches the threshold."""
    return share_reaching(evidence.best, thresholds)


def true_link_rate(evidence: Evidence, thresholds: FloatArray) -> FloatArray:
    """TLR (28): share of the true pairs that share a block whose similarity reaches it."""
    return share_reaching(evidence.true, thresholds, int(evidence.shares_block.sum()))


def false_link_rate(evidence: Evidence, thresholds: FloatArray) -> FloatArray:
    """FLR (29): share of all records with a wrong candidate that reaches the threshold."""
    return share_reaching(evidence.wrong, thresholds)


@attrs.frozen
class Recall:
    """Recall and its two factors (31 to 33)."""

    block: float
    match: float
    total: float


def recall(evidence: Evidence, threshold: float) -> Recall:
    """Decompose the recall: what blocking loses, and what the threshold loses."""
    matched = int(evidence.has_true_row.sum())
    met = int(evidence.shares_block.sum())
    result = int((evidence.true >= threshold).sum())
    return Recall(
        met / matched if matched else 0.0, result / met if met else 0.0, result / max(matched, 1)
    )


def precision_at_1(evidence: Evidence) -> float:
    """Prec@1 (30): share of the matched records whose best candidate is the true one.

    A record whose true counterpart is outside its block counts as wrong; ties count as the chance
    to draw the true one among them.
    """
    matched = evidence.has_true_row
    return float(evidence.hit[matched].mean()) if matched.any() else 0.0


def chance_at_1(evidence: Evidence) -> FloatArray:
    """Chance of every record that a candidate drawn at random is the true one (baseline B2)."""
    return np.where(evidence.shares_block, 1.0 / np.maximum(evidence.candidates, 1), 0.0)


def calibrated_threshold(wrong: FloatArray, alpha: float) -> float:
    """Strategy A (36): the least threshold with a false link rate of at most alpha.

    It lies just above one of the observed maxima, not on a grid.
    """
    allowed = int(np.floor(alpha * len(wrong) + 1e-9))
    if allowed >= len(wrong):
        return -1.0
    # The allowed+1-th largest must not reach it.
    limit = np.partition(wrong, len(wrong) - 1 - allowed)[len(wrong) - 1 - allowed]
    return float(np.nextafter(limit, np.inf)) if np.isfinite(limit) else -1.0


def integrated_rate(evidence: Evidence, low: float, high: float) -> float:
    """Strategy C (38): the integral of the linkage rate from `low` to `high`, exactly.

    A record adds the stretch of thresholds that its best candidate reaches.
    """
    return float((np.clip(evidence.best, low, high) - low).mean())


def area_under_curve(true: FloatArray, wrong: FloatArray) -> float:
    """Chance that a true pair is more similar than a wrong one, ties by half."""
    both = np.concatenate([true, wrong])
    _, rank, count = np.unique(both, return_inverse=True, return_counts=True)
    upto = np.cumsum(count)
    middle = upto - (count - 1) / 2
    ranks = middle[rank[: len(true)]].sum()
    return float((ranks - len(true) * (len(true) + 1) / 2) / (len(true) * len(wrong)))
