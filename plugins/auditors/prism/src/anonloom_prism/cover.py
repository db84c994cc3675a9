"""The largest admissible set, where nothing says which attribute is worth more."""

from typing import Any

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

from anonloom_prism.admissible import Chosen, Rule


def largest(rule: Rule) -> Chosen:
    """Leave out as few attributes as possible; of equally large sets the solver's first."""
    order = sorted(rule.candidates)
    if rule.is_unconstrained or not order:
        return rule.candidates
    sets = [*rule.correlations, rule.candidates]
    limits = [*(len(correlation) - 1 for correlation in rule.correlations), rule.most]
    rows = np.array([[attribute in item for attribute in order] for item in sets], float)
    result: Any = milp(
        -np.ones(len(order)),
        integrality=np.ones(len(order)),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(rows, ub=limits),
    )
    if result.x is None:
        raise RuntimeError(f"the largest admissible set was not found: {result.message}")
    return frozenset(item for item, used in zip(order, result.x > 0.5, strict=True) if used)
