"""The best admissible set by mixed-integer linear programming (scipy's HiGHS).

One binary variable z_a per attribute says whether it is used; the rest is the linear programme of
`problem`. With the weights of attribute a in class k written as positive and negative parts:

    sum of both parts over the features of a, per class   <=  M z_a
    sum of z_a over a sensitive correlation               <=  its size - 1
    sum of z_a                                            <=  the most attributes
    objective                                             <=  that of the greedy set
    objective  >=  all + (without_a - all) (1 - z_a)

*M.* A set at least as good as the greedy one has penalty * |w|_1 + hinge <= greedy, and its hinge
loss is at least the least one that any weights reach. So |w|_1 <= (greedy - least) / penalty = M
holds for every solution that is still of interest, and the bound cuts none of them off.

*The last row.* Leaving attributes out never makes the optimum smaller. A set without a is
therefore no better than the optimum with everything but a. Without these rows the relaxation uses
a little of every attribute and knows nothing: with M large, z_a may be almost 0.
"""

from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

from anonloom_prism.admissible import Chosen, Rule
from anonloom_prism.problem import Fit, Problem, margins_of

#: Where HiGHS stops: the relative distance of the best set to the bound.
GAP = 1e-6
#: What objectives may be wrong by, in parts of that of the greedy set: limits are put so far off
#: that rounding excludes nothing.
SLACK = 1e-7
#: What scipy calls a problem without a solution.
_INFEASIBLE = 2


@attrs.frozen
class Proof:
    """What the programme found.

    Attributes
    ----------
    chosen
        The best set, None when none was found that is better than the greedy one.
    bound
        No admissible set has a smaller objective.
    """

    chosen: Chosen | None
    bound: float


def solve(
    problem: Problem, rule: Rule, everything: Fit, greedy: float, *, node_limit: int
) -> Proof:
    """Search for the best admissible set in at most so many nodes of the tree of cases.

    Nodes, not seconds: how busy a machine is must not decide which attributes are used.
    """
    without = _without(problem, rule, everything)
    order = sorted(rule.candidates)
    limit = greedy * (1 + SLACK)
    least = problem.fit(order, free=True).value
    shape = _Shape(problem, order, (limit - least) / problem.penalty)
    constraints = [
        *shape.machines(),
        *shape.choices(rule),
        *shape.objective(limit, everything.value, without),
    ]
    result: Any = milp(
        shape.costs,
        integrality=shape.integrality,
        bounds=shape.bounds,
        constraints=constraints,
        options={"node_limit": node_limit, "mip_rel_gap": GAP},
    )
    bound = everything.value
    if result.mip_dual_bound is not None:
        bound = float(result.mip_dual_bound) * problem.unit
    if result.status == _INFEASIBLE:
        # Nothing is better than the greedy set, which only rounding kept out.
        bound = greedy
    chosen = None
    if result.x is not None:
        picked = result.x[shape.binary] > 0.5
        chosen = frozenset(item for item, used in zip(order, picked, strict=True) if used)
    return Proof(chosen, max(min(bound, greedy), everything.value))


def _without(problem: Problem, rule: Rule, everything: Fit) -> dict[int, float]:
    """Optimum with everything but one attribute, for those that may have to go."""
    open_ones = frozenset().union(*rule.correlations)
    going = rule.candidates if rule.most < len(rule.candidates) else open_ones
    return {
        item: max(problem.fit(rule.candidates - {item}).value, everything.value)
        for item in sorted(going)
    }


@attrs.frozen(eq=False)
class _Shape:
    """Where the variables are: per class both parts of the weights, intercept, slacks; then z.

    Attributes
    ----------
    order
        The candidates; their binary variables are in this order.
    large
        The M.
    """

    problem: Problem
    order: list[int]
    large: float
    used: NDArray[np.int64] = attrs.field(init=False)

    @used.default
    def _used_features(self) -> NDArray[np.int64]:
        return np.flatnonzero(np.isin(self.problem.block, self.order))

    @property
    def width(self) -> int:
        """Variables of one class."""
        return 2 * len(self.used) + 1 + len(self.problem.points)

    @property
    def binary(self) -> slice:
        """Where the binary variables are."""
        first = self.width * self.problem.classes
        return slice(first, first + len(self.order))

    @property
    def costs(self) -> NDArray[np.float64]:
        weights = np.full(2 * len(self.used), self.problem.penalty)
        own = np.concatenate([weights, [0.0], self.problem.shares]) / self.problem.unit
        return np.concatenate([np.tile(own, self.problem.classes), np.zeros(len(self.order))])

    @property
    def integrality(self) -> NDArray[np.int64]:
        kinds = np.zeros(self.binary.stop, np.int64)
        kinds[self.binary] = 1
        return kinds

    @property
    def bounds(self) -> Any:
        count = 2 * len(self.used)
        low = np.zeros(self.binary.stop)
        high = np.full(self.binary.stop, np.inf)
        for index in range(self.problem.classes):
            first = index * self.width
            high[first : first + count] = self.large
            low[first + count] = -np.inf
        high[self.binary] = 1
        return Bounds(low, high)

    def machines(self) -> list[Any]:
        """Margins of all points, and weights that need their attribute."""
        problem, count = self.problem, len(self.order)
        points = problem.points[:, self.used]
        margins = sparse.block_diag([margins_of(points, signs) for signs in problem.signs])
        empty = sparse.csr_array((margins.shape[0], count))
        place = {item: index for index, item in enumerate(self.order)}
        of = np.array([place[item] for item in problem.block[self.used].tolist()], np.int64)
        sums = sparse.csr_array(
            (np.ones(2 * len(of)), (np.tile(of, 2), np.arange(2 * len(of)))),
            shape=(count, self.width),
        )
        weights = sparse.block_diag([sums] * problem.classes)
        used = sparse.vstack([-self.large * sparse.eye_array(count)] * problem.classes)
        return [
            LinearConstraint(sparse.hstack([margins, empty]).tocsr(), lb=1),
            LinearConstraint(sparse.hstack([weights, used]).tocsr(), ub=0),
        ]

    def choices(self, rule: Rule) -> list[Any]:
        """What makes a set admissible."""
        sets = [*rule.correlations, rule.candidates]
        limits = [*(len(correlation) - 1 for correlation in rule.correlations), rule.most]
        rows = np.zeros((len(sets), self.binary.stop))
        for row, item in zip(rows[:, self.binary], sets, strict=True):
            row[:] = [attribute in item for attribute in self.order]
        return [LinearConstraint(sparse.csr_array(rows), ub=limits)]

    def objective(self, most: float, everything: float, without: dict[int, float]) -> list[Any]:
        """What is known of the objective beforehand."""
        rows = np.tile(self.costs, (1 + len(without), 1))
        unit = self.problem.unit
        # Rounded down: a row must not demand more than the truth.
        least = (np.array([everything, *without.values()]) - SLACK * most) / unit
        most_of = np.full(len(rows), np.inf)
        most_of[0] = most / unit
        for row, (item, value) in zip(rows[1:], without.items(), strict=True):
            row[self.binary.start + self.order.index(item)] = (value - everything) / unit
        return [LinearConstraint(sparse.csr_array(rows), lb=least, ub=most_of)]
