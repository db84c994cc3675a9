"""The scale of all attacks: success beyond the baseline, as a share of what was left to find."""

import math


def normalized_excess(success: float, baseline: float) -> float:
    """Return (success - baseline) / (1 - baseline): 0 is chance, 1 is everybody."""
    return (success - baseline) / (1.0 - baseline) if baseline < 1.0 else 0.0


def excess_interval(
    success: float, people: float, baseline: float, strangers: float, level: float = 0.95
) -> tuple[float, float]:
    """Return an interval of the normalized excess.

    Wilson's interval of either share, combined as Newcombe (1998) does for a difference. Answers
    that are right by chance vary less than yes and no with the same mean, so that the interval is
    wide enough for them, too.
    """
    if not people or not strangers or baseline >= 1.0:
        return -math.inf, math.inf
    # Imported here: light commands know findings, too, and compute none.
    from statistics import NormalDist

    z = NormalDist().inv_cdf(0.5 + level / 2)
    low, high = _wilson(success, people, z)
    base_low, base_high = _wilson(baseline, strangers, z)
    difference, left = success - baseline, 1.0 - baseline
    below = math.hypot(success - low, base_high - baseline)
    above = math.hypot(high - success, baseline - base_low)
    return (difference - below) / left, min((difference + above) / left, 1.0)


def percent(share: float) -> str:
    """Write an estimated share as a percentage with two digits that matter."""
    if 0 < share < 0.001:
        return "< 0.1 %"
    digits = 1 if share < 0.0995 or 0.995 <= share < 1 else 0
    return f"{100 * share:.{digits}f}".removesuffix(".0") + " %"


def _wilson(share: float, number: float, z: float) -> tuple[float, float]:
    centre = share + z * z / (2 * number)
    spread = z * math.sqrt(max(share * (1 - share), 0.0) / number + z * z / (4 * number**2))
    scale = 1 + z * z / number
    return max((centre - spread) / scale, 0.0), min((centre + spread) / scale, 1.0)
