"""What is linked at which threshold: the strategies of section 6.3."""

from anonloom import Finding
from anonloom.findings import FindingBuilder
from anonloom_cvpl import rates
from anonloom_cvpl.evidence import Evidence
from anonloom_cvpl.rates import THRESHOLDS


def strategies(
    finding: FindingBuilder,
    evidence: Evidence,
    null_evidence: Evidence,
    alpha: float,
    tolerable: float,
    known: bool,
) -> list[Finding]:
    """Choose thresholds by the strategies A, B and C, and by a rate that is tolerable.

    Parameters
    ----------
    null_evidence
        Evidence of the original against itself, where nobody says whose the rows are.
    known
        Whether somebody does.
    """
    wrong, source = evidence.wrong, "the best wrong candidates"
    if not known:
        wrong, source = null_evidence.wrong, "the original against itself"
    calibrated = rates.calibrated_threshold(wrong, alpha)
    low, high = float(THRESHOLDS[0]), float(THRESHOLDS[-1])
    area = rates.integrated_rate(evidence, low, high)
    safe = THRESHOLDS[rates.linkage_rate(evidence, THRESHOLDS) <= tolerable]
    span = f"thresholds from {low:g} to {high:g}"
    calibration = (f"strategy A: false links at most {alpha:g}, judged by {source}",)
    # A threshold that nobody can reach links nobody, which would read as safety.
    never = "false links are more frequent even at similarity 1" if calibrated > 1 else ""
    return [
        finding("threshold_calibrated", calibrated,
                "The least similarity at which false links are as rare as demanded.", "neither",
                lacking=never, assumptions=calibration),
        finding("linkage_rate_calibrated", float((evidence.best >= calibrated).mean()),
                "Share of the records that are linked at that threshold.",
                lacking=never, assumptions=calibration),
        finding("linkage_rate_worst", float((evidence.best >= low).mean()),
                "The highest linkage rate: that of the least strict attacker.",
                assumptions=("strategy B", span)),
        finding("linkage_rate_integrated", area,
                "Area under the curve of the linkage rate.", assumptions=("strategy C", span)),
        finding("linkage_rate_average", area / (high - low),
                "The linkage rate of an average attacker.",
                assumptions=("strategy C, divided by the range", span)),
        finding("threshold_safe", float(safe[0]) if len(safe) else None,
                f"Attackers as strict as this link no more than {tolerable:g} of the records.",
                lacking="" if len(safe) else f"more than {tolerable:g} are linked throughout",
                assumptions=("safe region (45)", span)),
    ]  # fmt: skip
