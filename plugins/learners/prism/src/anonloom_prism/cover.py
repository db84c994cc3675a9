"""The largest admissible set, where nothing says which attribute is worth more."""

from typing import Any

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

from anonloom_prism.admissible import Chosen, Rule


def largest(rule: Rule) -> Chosen:
    """Leave out as few attributes as possible; of equally large sets the solver's first."""
    order = sorted(rule.candidates)
    if rule.settled or not order:
        return rule.candidates
    sets = [*rule.correlations, rule.candidates]
    limits = [*(len(one) - 1 for one in rule.correlations), rule.most]
    rows = np.array([[attribute in one for attribute in order] for one in sets], float)
    found: Any = milp(
        -np.ones(len(order)),
        integrality=np.ones(len(order)),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(rows, ub=limits),
    )
    if found.x is None:
        raise RuntimeError(f"the largest admissible set was not found: {found.message}")
    return frozenset(one for one, used in zip(order, found.x > 0.5, strict=True) if used)
