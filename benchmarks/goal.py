"""A goal: a figure and its limit, printed the same by every benchmark that has some."""

from collections.abc import Iterable
from typing import Any

import attrs


@attrs.frozen
class Goal:
    """One figure and its limit.

    Attributes
    ----------
    times
        The records whose times the figure compares, if it does: on a busy machine they are worth
        a second look.
    least
        Whether the limit is the least that the figure may be, and not the most.
    """

    name: str
    figure: float
    limit: float
    met: bool
    times: tuple[Any, ...] = ()
    least: bool = False

    @classmethod
    def at_most(
        cls,
        name: str,
        figure: float,
        limit: float,
        slack: float = 0.0,
        times: tuple[Any, ...] = (),
    ) -> "Goal":
        """Return a goal that is met up to a limit."""
        return cls(name, figure, limit, figure <= limit + slack, times)

    @classmethod
    def at_least(
        cls, name: str, figure: float, limit: float, times: tuple[Any, ...] = ()
    ) -> "Goal":
        """Return a goal that is met from a limit on."""
        return cls(name, figure, limit, figure >= limit, times, least=True)

    def __str__(self) -> str:
        verdict = "met" if self.met else "MISSED"
        limit = "at least" if self.least else "limit"
        return f"{verdict:7}{self.name:66}{self.figure:10.4f}  {limit} {self.limit:.4f}"


def verdicts(judged: Iterable[Goal]) -> str:
    """Every goal on a line, and how many are met."""
    goals = list(judged)
    met = sum(goal.met for goal in goals)
    return "\n".join([*map(str, goals), f"{met} of {len(goals)} goals met"])
