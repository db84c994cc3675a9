"""Attributes left out one by one, each time those that cost least: the way for wide tables."""

from anonloom_prism.admissible import Chosen, Rule
from anonloom_prism.problem import Fit, Problem

#: Up to so many attributes everything is weighed anew after each one that is left out; beyond, a
#: tenth of them goes at once.
WEIGHED_ALONE = 30
#: Digits of a loss, which is 1 per class without any attribute.
DIGITS = 9


def leave_out(problem: Problem, rule: Rule, everything: Fit) -> Chosen:
    """Return an admissible set to which nothing can be added.

    Parameters
    ----------
    everything
        The optimum with all candidates.
    """
    chosen, fit = rule.candidates, everything
    left: dict[int, float] = {}
    while not rule.admits(chosen):
        # Rounded: of equally harmful ones the last goes, whatever the final digits say.
        harms = {key: round(harm, DIGITS) for key, harm in problem.harm(fit).items()}
        at_once = 1 if len(chosen) <= WEIGHED_ALONE else len(chosen) // 10
        for _ in range(at_once):
            one = _cheapest(rule, chosen, harms)
            if one is None:
                break
            left[one] = harms[one]
            chosen -= {one}
        if not rule.admits(chosen):
            fit = problem.fit(chosen)
    # What was left out for a correlation that others broke up later comes back.
    return rule.extend(chosen, sorted(left, key=lambda one: -left[one]))


def _cheapest(rule: Rule, chosen: Chosen, harms: dict[int, float]) -> int | None:
    """Return the attribute to leave out next; None when the rest is admissible."""
    broken = rule.whole_correlations(chosen)
    if broken:
        breaks = {item: sum(item in some for some in broken) for item in frozenset().union(*broken)}
        # Harm per correlation that is broken up, as in the greedy cover of sets.
        return min(breaks, key=lambda one: (max(harms.get(one, 0.0), 0.0) / breaks[one], -one))
    if len(chosen) > rule.most:
        return min(chosen, key=lambda one: (harms.get(one, 0.0), -one))
    return None
