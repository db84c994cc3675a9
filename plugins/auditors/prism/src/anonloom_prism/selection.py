"""The choice of attributes: exact on a bounded problem where that is possible, greedy elsewhere."""

from collections.abc import Sequence
from typing import Literal

import attrs

from anonloom_prism.admissible import Chosen, Rule
from anonloom_prism.exact import SLACK, solve
from anonloom_prism.greedy import leave_out
from anonloom_prism.problem import Problem

Solver = Literal["auto", "exact", "greedy"]

#: With more attributes, `auto` is greedy.
WIDE = 40
#: With more numbers in the constraints, `auto` is greedy.
LARGE = 400_000
#: Up to so many sets are tried one by one, which is faster than the programme and needs no search.
FEW = 100
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
        `select_all`: there was nothing to choose; `exact` or `greedy`: what was asked for.
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


def select_all(rule: Rule, rows: int) -> Selection:
    """All candidates, where they can be used together."""
    return Selection(attributes=tuple(sorted(rule.candidates)), by="settled", rows=rows)


def select(
    problem: Problem, rule: Rule, *, solver: Solver, node_limit: int, few: int = FEW
) -> Selection:
    """Choose the admissible set with the smallest objective.

    Where few sets come into question, all of them are tried. Elsewhere the greedy set is found
    first. It limits the search for a better one, and is what remains when the search ends at its
    limit. Nothing depends on time or chance, and rounding decides nothing: of sets that are equally
    good the one with the lowest numbers is taken among few, the greedy one otherwise.

    Parameters
    ----------
    node_limit
        Most nodes of the search by mixed-integer programming.
    few
        Most sets that are tried one by one.
    """
    if rule.is_unconstrained:
        return select_all(rule, problem.rows)
    exactly = solver == "exact" or (solver == "auto" and not _wide(problem, rule))
    sets = rule.maximal(few) if exactly else None
    if sets is not None:
        chosen, objective, bound = _best_set(problem, sets)
    else:
        chosen, objective, bound = _search_set(problem, rule, node_limit if exactly else None)
    return Selection(
        attributes=tuple(sorted(chosen)),
        by="exact" if exactly else "greedy",
        objective=objective,
        bound=min(bound, objective),
        points=len(problem.points),
        rows=problem.rows,
        sampled=problem.sampled,
    )


def _best_set(problem: Problem, sets: Sequence[Chosen]) -> tuple[Chosen, float, float]:
    """Return the first of the best sets, its objective, and the smallest of all."""
    values = [problem.fit(item).value for item in sets]
    best = min(values)
    first = next(index for index, value in enumerate(values) if value <= best * (1 + SLACK))
    return sets[first], values[first], best


def _search_set(
    problem: Problem, rule: Rule, node_limit: int | None
) -> tuple[Chosen, float, float]:
    """Return a set, its objective, and what none falls below; without a limit the greedy set."""
    everything = problem.fit(rule.candidates)
    chosen = leave_out(problem, rule, everything)
    objective, bound = problem.fit(chosen).value, everything.value
    if node_limit is not None and objective > bound:
        proof = solve(problem, rule, everything, objective, node_limit=node_limit)
        bound = proof.bound
        if proof.chosen is not None and rule.admits(proof.chosen):
            better = rule.extend(proof.chosen, sorted(rule.candidates))
            # Judged anew: a z of almost 0 lets weights through that are not quite 0.
            value = problem.fit(better).value
            if value < objective * (1 - SLACK):
                chosen, objective = better, value
    return chosen, objective, bound


def _wide(problem: Problem, rule: Rule) -> bool:
    return len(rule.candidates) > WIDE or problem.points.size * problem.classes > LARGE
