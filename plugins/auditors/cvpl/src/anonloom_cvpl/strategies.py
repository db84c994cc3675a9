"""What is linked at which threshold: the strategies of section 6.3."""

from anonloom import Finding
from anonloom_cvpl import rates
from anonloom_cvpl.evidence import Evidence
from anonloom_cvpl.figures import Says
from anonloom_cvpl.rates import THRESHOLDS


def strategies(
    says: Says, evidence: Evidence, left_out: Evidence, alpha: float, known: bool
) -> list[Finding]:
    """Choose thresholds by the strategies A, B and C.

    Parameters
    ----------
    left_out
        Evidence of the original against itself, where nobody says whose the rows are.
    known
        Whether somebody does.
    """
    wrong, source = evidence.wrong, "the best wrong candidates"
    if not known:
        wrong, source = left_out.wrong, "the original against itself"
    calibrated = rates.calibrated_threshold(wrong, alpha)
    low, high = float(THRESHOLDS[0]), float(THRESHOLDS[-1])
    area = rates.integrated(evidence, low, high)
    span = f"thresholds from {low:g} to {high:g}"
    calibration = (f"strategy A: false links at most {alpha:g}, judged by {source}",)
    # A threshold that nobody can reach links nobody, which would read as safety.
    never = "false links are more frequent even at similarity 1" if calibrated > 1 else ""
    return [
        says("threshold_calibrated", calibrated,
             "The least similarity at which false links are as rare as demanded.", "neither",
             lacking=never, assumptions=calibration),
        says("linkage_rate_calibrated", float((evidence.best >= calibrated).mean()),
             "Share of the records that are linked at that threshold.",
             lacking=never, assumptions=calibration),
        says("linkage_rate_worst", float((evidence.best >= low).mean()),
             "The highest linkage rate: that of the least strict attacker.",
             assumptions=("strategy B", span)),
        says("linkage_rate_integrated", area,
             "Area under the curve of the linkage rate.", assumptions=("strategy C", span)),
        says("linkage_rate_average", area / (high - low),
             "The linkage rate of an average attacker.",
             assumptions=("strategy C, divided by the range", span)),
    ]  # fmt: skip
