"""The choice of attributes: exact on a bounded problem where that is possible, greedy elsewhere."""

import time
from typing import Literal

import attrs

from anonloom_prism.admissible import Rule
from anonloom_prism.exact import solve
from anonloom_prism.greedy import leave_out
from anonloom_prism.problem import Problem

Solver = Literal["auto", "exact", "greedy"]

#: With more attributes, `auto` is greedy.
WIDE = 40
#: With more numbers in the constraints, `auto` is greedy.
LARGE = 400_000
#: Up to this relative distance to the bound a choice is called exact; HiGHS stops at a tenth of it.
EXACT = 1e-5


@attrs.frozen(kw_only=True)
class Selection:
    """The attributes that were chosen, and what is known of how good the choice is.

    Attributes
    ----------
    attributes
        Numbers of the attributes, ascending.
    by
        `settled`: there was nothing to choose; `exact` or `greedy`: what was asked for.
    objective, bound
        Value of the linear programme with these attributes, and what no admissible set can fall
        below; None when there was nothing to choose.
    points, rows, sampled
        Size of the programme, of the table, and whether the points are a sample of its rows.
    """

    attributes: tuple[int, ...]
    by: Literal["settled", "exact", "greedy"]
    objective: float | None = None
    bound: float | None = None
    points: int = 0
    rows: int = 0
    sampled: bool = False

    @property
    def gap(self) -> float:
        """How far the objective may be above the best one, as a part of it."""
        if self.objective is None or self.bound is None or self.objective <= 0:
            return 0.0
        return max(0.0, (self.objective - self.bound) / self.objective)

    @property
    def exact(self) -> bool:
        """Whether no admissible set is better on the points of the programme."""
        return self.by == "settled" or self.gap <= EXACT


def settled(rule: Rule, rows: int) -> Selection:
    """All candidates, where they can be used together."""
    return Selection(attributes=tuple(sorted(rule.candidates)), by="settled", rows=rows)


def select(problem: Problem, rule: Rule, *, solver: Solver, time_limit: float) -> Selection:
    """Choose the admissible set with the smallest objective.

    The greedy set is always found. It limits the search for a better one, and is what remains when
    the time is over.
    """
    if rule.settled:
        return settled(rule, problem.rows)
    deadline = time.monotonic() + time_limit
    everything = problem.fit(rule.candidates)
    chosen = leave_out(problem, rule, everything)
    objective, bound = problem.fit(chosen).value, everything.value
    exactly = solver == "exact" or (solver == "auto" and not _wide(problem, rule))
    if exactly and objective > bound:
        proof = solve(problem, rule, everything, objective, deadline=deadline)
        bound = proof.bound
        if proof.chosen is not None and rule.admits(proof.chosen):
            better = rule.completed(proof.chosen, sorted(rule.candidates))
            # Judged anew: a z of almost 0 lets weights through that are not quite 0.
            value = problem.fit(better).value
            if value < objective:
                chosen, objective = better, value
    return Selection(
        attributes=tuple(sorted(chosen)),
        by="exact" if exactly else "greedy",
        objective=objective,
        bound=min(bound, objective),
        points=len(problem.points),
        rows=problem.rows,
        sampled=problem.sampled,
    )


def _wide(problem: Problem, rule: Rule) -> bool:
    return len(rule.candidates) > WIDE or problem.points.size * problem.classes > LARGE
