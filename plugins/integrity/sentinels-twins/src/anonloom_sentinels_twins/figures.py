"""The paper's figures 8 and 9 from formula and simulation together, and the price of collusion."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_args

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom import Chart, Finding
from anonloom.typing import FloatArray
from anonloom_sentinels_twins import formulas
from anonloom_sentinels_twins.comparison import Comparison, Curve, Plan, all_series
from anonloom_sentinels_twins.finding_texts import APART, BLIND, say
from anonloom_sentinels_twins.simulation import Setting, Share, simulate, simulate_replicas
from anonloom_sentinels_twins.sizing import EXTREME
from anonloom_sentinels_twins.twin_pairs import count_sharing
from anonloom_sentinels_twins.work_check import Campaign

# Every control at random workers: the formulas are exact for that, and not only bounds.
_RANDOM = Setting(placement="random")
#: Figure 9(a): workers, lazy ones, what they omit, and the extra jobs at which it is read off.
NINE_A = (100, 49, 0.5, 20)
#: Figure 9(b): the share of its jobs that everybody omits where twins are nearly blind.
NEARLY_ALL = 0.99
# More classes are not drawn: their bars would be hairlines.
_DRAWN = 12
# Places of a line that are computed, and those of a curve that are simulated, at most or about.
_FINE, _POINTS = 61, 13
_UNDETECTED = "probability that nothing is noticed"

_SPREADS = {
    "data": "like the data",
    "inverse": "reciprocal",
    "reversed": "reversed",
    "uniform": "uniform",
}


@attrs.frozen(eq=False)
class Figure:
    """What was found, and what can be compared.

    Attributes
    ----------
    items
        Findings and charts.
    comparisons
        Every probability of which formula and simulation should agree.
    """

    items: tuple[Finding | Chart, ...]
    comparisons: tuple[Comparison, ...] = ()


def _curve(
    name: str,
    fine: FloatArray,
    at: Sequence[float],
    formula: Callable[[NDArray[Any]], FloatArray],
    simulated: Callable[[float], Share],
) -> Curve:
    expected = formula(np.asarray(at))
    points = tuple(
        Comparison(float(value), simulated(place))
        for place, value in zip(at, np.broadcast_to(expected, len(at)), strict=True)
    )
    line = np.asarray(np.broadcast_to(formula(fine), fine.shape))
    return Curve(name, (fine, line), tuple(at), points)


def classes(plan: Plan, rng: np.random.Generator) -> Figure:
    """Figure 8: which distribution of sentinels over the classes leaves least to guess."""
    shares = {
        spread: formulas.sentinel_classes(plan.classes, spread)
        for spread in get_args(formulas.Spread)
    }
    # One worker that omits its only job, a sentinel: unnoticed if its guess is right.
    alone = plan.campaign(workers=1, lazy=1, omission=1.0)
    points = {
        spread: Comparison(
            float(of.max()),
            simulate(alone, 1, 0, plan.runs, rng, _guess_setting(of)),
        )
        for spread, of in shares.items()
    }
    names = {"data": "guessed_like_data"} | {
        spread: f"guessed_{spread}" for spread in ("inverse", "reversed", "uniform")
    }
    results = [
        say(
            names[spread],
            points[spread].formula,
            assumptions=("The worker knows how the sentinels are spread.",),
            more=_beside(points[spread]),
        )
        for spread in _SPREADS
    ]
    distribution = _distribution(plan, shares)
    guessed = Chart(
        name="figure_8_guessed",
        kind="bars",
        title="Figure 8: sentinels that are guessed",
        data={
            "labels": list(_SPREADS.values()),
            "formula": [points[spread].formula for spread in _SPREADS],
            "simulated": [points[spread].simulated.share for spread in _SPREADS],
        },
        x="classes of the sentinels",
        y="share guessed",
        meaning="Less is better. The paper's text gives 48 % for the normalised inverse of Zipf's "
        "law over four classes: reciprocals give 40 %, the reversed distribution 48 %.",
    )
    return Figure((*results, distribution, guessed), tuple(points.values()))


def _distribution(plan: Plan, shares: Mapping[str, FloatArray]) -> Chart:
    drawn = min(_DRAWN, len(plan.classes))
    bars: dict[str, Any] = {"labels": [f"class {rank + 1}" for rank in range(drawn)]}
    bars |= {
        "data, and sentinels like the data" if spread == "data" else f"sentinels, {message}": (
            shares[spread][:drawn].tolist()
        )
        for spread, message in _SPREADS.items()
    }
    rest = f" The {drawn} most frequent of {len(plan.classes)} classes are shown."
    return Chart(
        name="figure_8",
        kind="bars",
        title="Figure 8: classes of the data, and of sentinels",
        data=bars,
        x="class, the most frequent one first",
        y="share",
        meaning="A worker that omits a sentinel answers the class with the highest bar of its "
        "colour; uniform sentinels have no highest bar."
        + (rest if drawn < len(plan.classes) else ""),
    )


def _guess_setting(of: FloatArray) -> Setting:
    return Setting(
        placement="random", sentinel_classes=tuple(of.tolist()), answered=int(of.argmax())
    )


def _beside(point: Comparison) -> str:
    return f"Simulated: {point.simulated.share:.3g}."


def replicas(plan: Plan, rng: np.random.Generator) -> Figure:
    """Figure 9(a): twins of many jobs against many copies of one."""
    workers, lazy, omission, read = NINE_A
    campaign = plan.campaign(workers=workers, lazy=lazy, omission=omission)
    largest = max(plan.classes)
    points = [1, 2, 3, 4, 5, 6, 8, 10, 12, 15, read, 25, 30]
    fine = np.arange(1, points[-1] + 1, dtype=np.float64)
    setting = (workers, lazy, omission, largest)
    pairs = _curve(
        "twins",
        fine,
        points,
        lambda extra: formulas.twins(*setting, extra),
        lambda extra: simulate(campaign, 0, int(extra), plan.runs, rng, _RANDOM),
    )
    copies = _curve(
        "copies of one job",
        fine,
        points,
        lambda extra: formulas.replicas(*setting, extra),
        lambda extra: simulate_replicas(campaign, int(extra), plan.runs, rng),
    )
    chart = Chart(
        name="figure_9a",
        kind="line",
        title="Figure 9(a): twins, or copies of one job",
        data=all_series([pairs, copies]),
        x="extra jobs",
        y=_UNDETECTED,
        meaning=f"{lazy} of {workers} workers omit half of their jobs. Copies of one job never "
        f"fall below the share of the most frequent class, {largest:.2g}.",
    )
    ends = [curve.points[points.index(read)] for curve in (pairs, copies)]
    result = (
        say("twins_undetected", ends[0].formula, assumptions=(BLIND,), more=_beside(ends[0])),
        say("replicas_undetected", ends[1].formula, assumptions=(BLIND,), more=_beside(ends[1])),
    )
    return Figure((*result, chart), pairs.points + copies.points)


def extremes(plan: Plan, rng: np.random.Generator) -> Figure:
    """Figure 9(b): twins alone are blind where everybody omits everything."""
    few = min(plan.budget, math.ceil(math.log(EXTREME) / -math.log(len(plan.classes))))
    guess, largest = 1 / len(plan.classes), max(plan.classes)
    low = [0.005, 0.01, 0.02, 0.03, 0.05, 0.08, 0.12]
    points = [*low, 0.5, *[1 - share for share in reversed(low[1:])], 1.0]
    fine = np.unique(np.concatenate([np.linspace(0, 0.15, _FINE), np.linspace(0.85, 1, _FINE)]))
    curves = []
    for name, sentinels in (("twins only", 0), (f"with {few} sentinels", few)):
        pairs = plan.budget - sentinels
        curves.append(
            _curve(
                name,
                fine,
                points,
                lambda p, s=sentinels, t=pairs: formulas.together(  # type: ignore[misc]
                    plan.workers, plan.workers, p, guess, largest, s, t, spread=False
                ),
                lambda p, s=sentinels, t=pairs: simulate(  # type: ignore[misc]
                    plan.campaign(lazy=plan.workers, omission=p), s, t, plan.runs, rng, _RANDOM
                ),
            )
        )
    chart = Chart(
        name="figure_9b",
        kind="line",
        title="Figure 9(b): everybody omits a share of the jobs",
        data=all_series(curves),
        x="share of the jobs that is omitted",
        y=_UNDETECTED,
        meaning=f"All {plan.workers} workers are lazy; {plan.budget} extra jobs. Where nearly "
        f"everything is omitted all copies agree; {few} of the controls as sentinels notice it.",
    )
    ends = [curve.points[points.index(NEARLY_ALL)] for curve in curves]
    result = (
        say("extreme_twins", ends[0].formula, assumptions=(BLIND,), more=_beside(ends[0])),
        say("extreme_with_sentinels", ends[1].formula, assumptions=(BLIND,), more=_beside(ends[1])),
    )
    return Figure((*result, chart), curves[0].points + curves[1].points)


def crossover(plan: Plan, rng: np.random.Generator) -> Figure:
    """Figure 9(c): sentinels or twins, by the share of the most frequent class."""
    number = len(plan.classes)
    least = 1 / number
    # Beyond that twins notice next to nothing, and the crossing would be too small to see.
    most = least + 0.75 * (1 - least)
    points, fine = np.linspace(least, most, _POINTS).tolist(), np.linspace(least, most, _FINE)
    setting = (plan.workers, plan.lazy, plan.omission)

    def of(share: float) -> Campaign:
        return plan.campaign(classes=(share, *[(1 - share) / (number - 1)] * (number - 1)))

    sentinels = _curve(
        "sentinels",
        fine,
        points,
        lambda share: formulas.sentinels_at_random(*setting, least, plan.budget) + 0 * share,
        lambda share: simulate(of(share), plan.budget, 0, plan.runs, rng, _RANDOM),
    )
    twins = _curve(
        "twins",
        fine,
        points,
        lambda share: formulas.twins(*setting, share, plan.budget),
        lambda share: simulate(of(share), 0, plan.budget, plan.runs, rng, _RANDOM),
    )
    exact = float(formulas.threshold(*setting, number))
    limit = float(formulas.small_threshold(number))
    chart = Chart(
        name="figure_9c",
        kind="line",
        title="Figure 9(c): sentinels or twins",
        data=all_series([sentinels, twins]),
        x="share of the most frequent class",
        y=_UNDETECTED,
        meaning=f"{plan.lazy} of {plan.workers} workers omit {plan.omission:.3g} of their jobs; "
        f"{plan.budget} extra jobs, {number} classes. {_where(exact, number)}",
    )
    better = "sentinels" if max(plan.classes) > exact else "twins"
    result = (
        say(
            "crossing",
            max(0.0, exact),
            interval=_undecided_range(sentinels, twins),
            assumptions=(BLIND, APART),
        ),
        say("crossing_if_little", limit, assumptions=(BLIND, APART)),
        say("crossing_as_printed", 0.5 * (1 + number)),
        say(
            "better_control",
            better,
            assumptions=(BLIND, APART),
            more=f"The most frequent class has a share of {max(plan.classes):.3g}.",
        ),
    )
    return Figure((*result, chart), sentinels.points + twins.points)


def _where(exact: float, number: int) -> str:
    if exact <= 1 / number:
        return "Sentinels are better throughout."
    return (
        f"The lines cross at {exact:.3f}; the limit for little omission is "
        f"{float(formulas.small_threshold(number)):.3f}, the rule as printed "
        f"{0.5 * (1 + number):.3g}."
    )


def _undecided_range(sentinels: Curve, twins: Curve) -> tuple[float, float]:
    """Return the places between which the simulation does not say which is better."""
    low, high = 0.0, 1.0
    for place, point, other in zip(sentinels.at, sentinels.points, twins.points, strict=True):
        mine, others = point.simulated.interval(), other.simulated.interval()
        if others[1] < mine[0]:
            low = place
        elif mine[1] < others[0]:
            high = min(high, place)
    return low, high


def collusion(plan: Plan, rng: np.random.Generator) -> Figure:
    """Twins where lazy workers compare their jobs, undeclared or declared as a group."""
    some = np.linspace(1, plan.workers - 1, min(_POINTS, plan.workers - 1)).round()
    points = sorted({*some.tolist(), float(min(plan.lazy, plan.workers - 1))})
    right = (plan.omission, max(plan.classes), plan.budget)

    def simulate_group(lazy: float, *, colluding: bool, declared: bool) -> Share:
        z = int(lazy)
        campaign = plan.campaign(
            lazy=z, colluding=colluding, groups=[range(z)] if declared and z > 1 else []
        )
        setting = attrs.evolve(_RANDOM, who=tuple(range(z)) if declared else None)
        return simulate(campaign, 0, plan.budget, plan.runs, rng, setting)

    curves = [
        _curve(
            name,
            np.asarray(points),
            points,
            formula,
            lambda z, c=colluding, d=declared: simulate_group(z, colluding=c, declared=d),  # type: ignore[misc]
        )
        for name, colluding, declared, formula in (
            ("alone", False, False, lambda z: formulas.twins(plan.workers, z, *right)),
            ("colluding", True, False, lambda z: formulas.twins(plan.workers, z, *right, True)),
            ("declared group", True, True, lambda z: _undetected_of_group(plan, z)),
        )
    ]
    chart = Chart(
        name="collusion",
        kind="line",
        title="Twins where lazy workers compare their jobs",
        data=all_series(curves),
        x=f"lazy workers of {plan.workers}",
        y=_UNDETECTED,
        meaning=f"{plan.budget} twins; lazy workers omit {plan.omission:.3g} of their jobs. Those "
        "who compare them answer alike what two of them have. If they are declared as a group, "
        "they have no job in common, and every twin that one of them has is watched by somebody "
        "else.",
    )
    if plan.lazy >= plan.workers:
        return Figure((chart,), tuple(point for curve in curves for point in curve.points))
    place = points.index(plan.lazy)
    names = ("undetected_alone", "undetected_colluding", "undetected_declared")
    results = [
        say(
            name,
            curve.points[place].formula,
            assumptions=(BLIND, *((APART,) if name == "undetected_alone" else ())),
            more=f"{points[place]:.0f} lazy workers, {plan.budget} twins. "
            + _beside(curve.points[place]),
        )
        for name, curve in zip(names, curves, strict=True)
    ]
    return Figure((*results, chart), tuple(point for curve in curves for point in curve.points))


def _undetected_of_group(plan: Plan, lazy: NDArray[Any]) -> FloatArray:
    """Return what twins leave unnoticed of a group that is lazy as a whole and shares no job.

    Of the M pairs of workers that may share a job, z (W - z) have one lazy worker, none has two.
    """
    pairs = np.array([count_sharing(plan.workers, [frozenset(range(int(z)))]) for z in lazy])
    watched = lazy * (plan.workers - lazy) / pairs
    chance = watched * plan.omission * (1 - max(plan.classes))
    return np.asarray((1 - chance) ** plan.budget)
