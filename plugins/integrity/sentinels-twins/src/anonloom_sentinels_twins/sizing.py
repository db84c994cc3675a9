"""How many controls: the better sort by the exact rule, as many as the budget or the risk asks.

Every worker has sentinels. Twins notice that copies differ, and not who is to blame; where many
omit work together, or nearly everybody nearly everything, they agree, and only a result that the
client knows says otherwise. With an epsilon, every worker has as many that it does not escape them.
A budget is spent on what notices first, then on what names: a sentinel for each worker and the few
against extreme omission; the better sort until what is expected goes unnoticed in 1 of 100
campaigns; sentinels until a lazy worker escapes its own in 1 of 1,000; the better sort again.
"""

import math
from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from anonloom.errors import UsageError
from anonloom_sentinels_twins.formulas import (
    escape,
    mismatch_rates,
    small_threshold,
    undetected_probability,
    unnoticed_extreme,
)
from anonloom_sentinels_twins.tolerant import LEVEL, campaign_level, most_tolerated
from anonloom_sentinels_twins.twin_pairs import count_sharing
from anonloom_sentinels_twins.work_check import Campaign, Sizing

#: With a budget, the probability at which everybody may omit everything and stay unnoticed; and at
#: which a lazy worker may escape its own sentinels before more controls are paid that notice.
EXTREME = 1e-3
#: With a budget, the probability at which what is expected may stay unnoticed before controls are
#: paid that name.
NOTICED = 1e-2
#: With an epsilon, the probability at which a lazy worker may pass all of its own sentinels.
ESCAPE = 0.1
#: More controls than this are not looked for: nobody would pay them.
MOST = 10_000_000
#: More workers than this are not judged together: every two of them are looked at.
MOST_WORKERS = 1000
# A smaller probability is not told from this one.
_TINY = 1e-12
# So far below a number that is enough, another one may be, too.
_WINDOW = 1000

Sort = Literal["sentinels", "twins"]
Chance = Callable[[NDArray[np.int64]], NDArray[np.float64]]


def size(
    campaign: Campaign,
    *,
    only: Sort | None = None,
    level: float = LEVEL,
    escaping: float = ESCAPE,
) -> Sizing:
    """Choose sentinels or twins, and how many, and state what goes unnoticed.

    Parameters
    ----------
    campaign
        What is expected, and a budget or an epsilon.
    only
        The sort to use for the bulk of the controls, whatever the rule says.
    level
        The probability at which tolerant tests may accuse honest work.
    escaping
        With an epsilon: the probability at which a lazy worker may pass all of its own sentinels.

    Raises
    ------
    UsageError
        When the campaign makes no sense, or no number of controls reaches what it asks.
    """
    check(campaign)
    if not 0 < level < 1:
        raise UsageError(f"the level of the tests must lie between 0 and 1, not {level:g}")
    sort, reasons = _choice(campaign, only, level)
    few = _few(campaign, level)
    if campaign.epsilon is not None:
        base = max(few, campaign.workers * _own(campaign, escaping, level))
        controls = _enough(campaign, campaign.epsilon, base, sort, level)
    else:
        controls = _spend_budget(campaign, few, sort, level)
    own = float(escape(campaign, controls["sentinels"] // campaign.workers, level=level))
    reached = float(
        undetected_probability(campaign, controls["sentinels"], controls["twins"], level=level)
    )
    reasons += _numbers(campaign, controls, few, sort, level)
    return Sizing(
        controls=controls,
        undetected=reached,
        escape=own,
        reasons=(
            *reasons,
            _naming_text(campaign, controls, own),
            _probability_text(campaign, controls, reached),
        ),
        assumptions=_assumptions(campaign, level),
    )


def check(campaign: Campaign) -> None:
    """Refuse a campaign that makes no sense.

    Raises
    ------
    UsageError
        With the first thing that is wrong.
    """
    for number, what in ((campaign.jobs, "jobs"), (campaign.workers, "workers")):
        if number < 1:
            raise UsageError(f"there must be at least one of the {what}, not {number}")
    if campaign.workers > MOST_WORKERS:
        raise UsageError(
            f"there may be at most {MOST_WORKERS} workers, not {campaign.workers}",
            hint="Divide the rows, and make a plan for each part.",
        )
    if not 1 <= campaign.lazy <= campaign.workers:
        raise UsageError(
            f"between 1 and {campaign.workers} workers can be expected to be lazy, "
            f"not {campaign.lazy:g}",
            hint="Controls are sized for the laziness that is to be noticed: the least that would "
            "do harm.",
        )
    if not 0 < campaign.omission <= 1:
        raise UsageError(
            "the share of the jobs that a lazy worker omits must be above 0 and at most 1, "
            f"not {campaign.omission:g}",
            hint="Who omits nothing cannot be noticed.",
        )
    _check_classes(campaign.classes)
    if not 0 <= campaign.error < 1:
        raise UsageError(
            f"the share of honest answers that differ must lie in [0, 1), not {campaign.error:g}"
        )
    if (campaign.budget is None) == (campaign.epsilon is None):
        raise UsageError("either a budget or an epsilon is needed, and not both")
    if campaign.budget is not None and campaign.budget < 1:
        raise UsageError(
            f"a budget of {campaign.budget} extra jobs leaves room for no control at all"
        )
    if campaign.budget is not None and campaign.budget < campaign.workers:
        raise UsageError(
            f"a budget of {campaign.budget} extra jobs leaves some of the {campaign.workers} "
            "workers without a sentinel",
            hint="Only a worker's own sentinels show that it was this one who omitted work. "
            f"Pay for {campaign.workers} extra jobs at least, or use fewer workers.",
        )
    if campaign.budget is not None and campaign.budget > MOST:
        raise UsageError(f"the budget may be at most {MOST} extra jobs, not {campaign.budget}")
    if campaign.epsilon is not None and not 0 < campaign.epsilon < 1:
        raise UsageError(f"epsilon must lie between 0 and 1, not {campaign.epsilon:g}")
    strange = sorted({w for group in campaign.groups for w in group} - set(range(campaign.workers)))
    if strange:
        raise UsageError(
            f"a group names worker {strange[0]}, and workers are numbered "
            f"from 0 to {campaign.workers - 1}"
        )


def _check_classes(classes: tuple[float, ...]) -> None:
    if len(classes) < 2:
        raise UsageError(
            "at least two classes are needed",
            hint="With one possible result every guess is right, and no control can fail.",
        )
    if not all(0 < share < 1 for share in classes):
        raise UsageError("the share of every class must lie between 0 and 1")
    if not math.isclose(math.fsum(classes), 1, abs_tol=1e-6):
        raise UsageError(f"the shares of the classes sum to {math.fsum(classes):g}, not to 1")


def _choice(campaign: Campaign, only: Sort | None, level: float) -> tuple[Sort, tuple[str, ...]]:
    """The sort that notices more per job, and why."""
    pairs = count_sharing(campaign.workers, campaign.groups)
    if only is None and pairs == 0:
        return "sentinels", ("Sentinels, as no two workers may share a job.",)
    if only == "twins" and pairs == 0:
        undetected_probability(campaign, 0, 1)  # says what is wrong
    if only is not None:
        return only, (f"{only.capitalize()}, as asked.",)
    e, c, largest = campaign.error, len(campaign.classes), max(campaign.classes)
    fails, differs = mismatch_rates(campaign)
    if e > 0:
        return _tolerant_choice(campaign, level)
    # 1 - fails / P_1 of formulas.threshold, with the groups accounted for.
    limit = 1 - fails * (1 - largest) / differs if differs > 0 else -math.inf
    figures = (
        f"one sentinel notices something with probability {fails:.3g}, one twin with "
        f"{differs:.3g}: the most frequent class has a share of {largest:.3g}, and sentinels are "
        f"better above {max(0.0, limit):.3g} (above {float(small_threshold(c)):.3g} if hardly "
        "anything is omitted)"
    )
    # The same comparison as largest > limit, without a division.
    if fails > differs:
        return "sentinels", (f"Mostly sentinels: {figures}.",)
    return "twins", (f"Mostly twins: {figures}.",)


def _tolerant_choice(campaign: Campaign, level: float) -> tuple[Sort, tuple[str, ...]]:
    """Where honest answers differ: the sort whose test needs fewer controls for the same power."""
    aim = campaign.epsilon if campaign.epsilon is not None else EXTREME

    def alone(sort: Sort) -> int:
        zero = np.zeros(1, dtype=np.int64)
        if sort == "sentinels":
            return _least(
                lambda n: undetected_probability(campaign, n, zero, level=level), aim, 1, MOST
            )
        return _least(
            lambda n: undetected_probability(campaign, zero, n, level=level), aim, 1, MOST
        )

    fails, differs = mismatch_rates(campaign)
    needed = {sort: alone(sort) for sort in ("sentinels", "twins")}
    sort: Sort = "sentinels" if needed["sentinels"] < needed["twins"] else "twins"
    if needed[sort] > MOST:
        raise UsageError(
            f"no number of controls tells omission from honest error: honest answers differ in "
            f"{campaign.error:.3g} of all cases, sentinels would fail in {fails:.3g} and twins "
            f"differ in {differs:.3g}"
        )
    words = {
        sort: f"{number} {sort}" if number <= MOST else f"no number of {sort}"
        for sort, number in needed.items()
    }
    return sort, (
        f"Mostly {sort}: honest answers differ in {campaign.error:.3g} of all cases, with omission "
        f"sentinels fail in {fails:.3g} and twins differ in {differs:.3g}; alone, "
        f"{words['sentinels']} or {words['twins']} would leave it unnoticed with probability "
        f"{aim:.3g}.",
    )


def _few(campaign: Campaign, level: float) -> int:
    """The sentinels that notice it when everybody omits everything."""
    aim = campaign.epsilon if campaign.epsilon is not None else EXTREME
    few = _least(lambda n: unnoticed_extreme(campaign, n, level=level), aim, 1, MOST)
    if few > MOST:
        raise UsageError(
            "no number of sentinels tells it from honest error if everybody omits everything: "
            f"honest answers differ in {campaign.error:.3g} of all cases, guesses in "
            f"{1 - 1 / len(campaign.classes):.3g}"
        )
    return few


def _own(campaign: Campaign, escaping: float, level: float) -> int:
    """The sentinels that every worker must have."""
    own = _least(lambda n: escape(campaign, n, level=level), escaping, 1, MOST)
    if own > MOST:
        raise UsageError(
            "no number of sentinels tells one lazy worker from honest error: honest answers differ "
            f"in {campaign.error:.3g} of all cases, and such a worker omits "
            f"{campaign.omission:.3g} of its jobs"
        )
    return own


def _spend_budget(campaign: Campaign, few: int, sort: Sort, level: float) -> dict[str, int]:
    """All of the budget: on what notices first, then on what names, then on the better sort."""
    budget = campaign.budget or 0
    if sort == "sentinels":
        return {"sentinels": budget, "twins": 0}
    sentinels = min(max(few, campaign.workers), budget)
    most = min(budget - sentinels, campaign.jobs)
    base = np.asarray([sentinels])
    twins = _least(
        lambda n: undetected_probability(campaign, base, n, level=level), NOTICED, 0, most
    )
    twins = min(twins, most)
    own = _least(lambda n: escape(campaign, n, level=level), EXTREME, 1, MOST)
    naming = max(0, campaign.workers * own - sentinels) if own <= MOST else 0
    sentinels += min(naming, budget - sentinels - twins)
    twins = min(budget - sentinels, campaign.jobs)
    return {"sentinels": budget - twins, "twins": twins}


def _enough(campaign: Campaign, aim: float, few: int, sort: Sort, level: float) -> dict[str, int]:
    """The fewest controls of the better sort, beside the sentinels needed, that reach epsilon."""
    twins = 0
    if sort == "twins":
        few_ = np.asarray([few])
        twins = _least(
            lambda n: undetected_probability(campaign, few_, n, level=level), aim, 0, campaign.jobs
        )
        if twins <= campaign.jobs:
            return {"sentinels": few, "twins": twins}
        # A job is twinned once; what all twins together do not reach, more sentinels must.
        twins = campaign.jobs
    twins_ = np.asarray([twins])
    sentinels = _least(
        lambda n: undetected_probability(campaign, n, twins_, level=level), aim, few, MOST
    )
    if sentinels > MOST:
        raise UsageError(
            f"more than {MOST} controls would be needed for an epsilon of {aim:g}",
            hint="Expect more omission, or accept a larger epsilon.",
        )
    return {"sentinels": sentinels, "twins": twins}


def _least(chance: Chance, aim: float, start: int, most: int) -> int:
    """The least number from `start` on whose chance is at most `aim`; `most` + 1 if none is.

    Halving finds the number of exact controls, whose chance only falls. That of a tolerant test
    has a small step up wherever it tolerates one more: so the numbers below are looked through.
    """

    def reaches(numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
        return np.asarray(chance(numbers) <= aim)

    tries = start + np.append(0, 2 ** np.arange(int(most - start + 1).bit_length() + 1))
    tries = np.unique(np.minimum(tries, most))
    good = np.flatnonzero(reaches(tries))
    if start > most or len(good) == 0:
        return most + 1
    high = int(tries[good[0]])
    low = int(tries[good[0] - 1]) if good[0] else start - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reaches(np.asarray([middle]))[0] else (middle, high)
    below = np.arange(max(start, high - _WINDOW), high + 1)
    return int(below[np.argmax(reaches(below))])


def _numbers(
    campaign: Campaign, controls: dict[str, int], few: int, sort: Sort, level: float
) -> tuple[str, ...]:
    """Why so many."""
    s, t = controls["sentinels"], controls["twins"]
    extreme = float(unnoticed_extreme(campaign, s, level=level))
    missed = f"{extreme:.2g}" if extreme >= _TINY else f"less than {_TINY:g}"
    messages = [
        f"If everybody omitted everything, all twins would agree, and {s} sentinels would miss it "
        f"with probability {missed} ({few} are needed for {campaign.epsilon or EXTREME:.2g})."
    ]
    if campaign.budget is not None and campaign.budget < few:
        messages.append(f"The budget of {campaign.budget} does not reach that number.")
    if sort == "twins" and t == campaign.jobs:
        messages.append(f"All {campaign.jobs} jobs are twinned; the other controls are sentinels.")
    if campaign.error > 0:
        each = campaign_level(level)
        messages.append(
            f"Of {s} sentinels {int(most_tolerated(s, campaign.error, each))} may fail and of {t} "
            f"twins {int(most_tolerated(t, campaign.error, each))} may differ before it is called "
            "omission."
        )
    return tuple(messages)


def _naming_text(campaign: Campaign, controls: dict[str, int], own: float) -> str:
    each = controls["sentinels"] // campaign.workers
    number = f"{each} sentinel{'s' if each > 1 else ''}"
    if own == 1:
        return f"Every worker has at least {number}, too few to tell it from honest error."
    return (
        f"Every worker has at least {number}: who blindly omits {campaign.omission:.1%} of its "
        f"jobs passes all of its own with probability {own:.2g} at most, whomever it colludes with."
    )


def _probability_text(campaign: Campaign, controls: dict[str, int], reached: float) -> str:
    extra = sum(controls.values())
    if reached == 1:
        return (
            f"{controls['sentinels']} sentinels and {controls['twins']} twins are too few to tell "
            "omission from honest error: no probability below 1 can be promised."
        )
    return (
        f"{controls['sentinels']} sentinels and {controls['twins']} twins, {extra} extra jobs "
        f"({extra / campaign.jobs:.1%} of {campaign.jobs}): if {campaign.lazy} of "
        f"{campaign.workers} workers blindly omit {campaign.omission:.1%} of their jobs, nobody "
        f"notices with probability {reached:.3g} at most."
    )


def _assumptions(campaign: Campaign, level: float) -> tuple[str, ...]:
    messages = [
        "For blind omission: which jobs are omitted does not depend on the rows. Workers with a "
        "cheap model of the computation are noticed less often.",
        "Workers cannot tell controls from genuine jobs.",
        "Each lazy worker omits its jobs independently of each other, and answers the most "
        "frequent class.",
        f"At most a share of {max(campaign.classes):.3g} of the results is of one class, and "
        "sentinels are spread evenly over the classes and the workers.",
    ]
    if campaign.colluding:
        messages.append(
            "Lazy workers compare their jobs and answer twins that they have in common alike; of "
            "their other jobs they omit the share that is stated."
        )
    else:
        messages.append(
            "Workers do not compare their jobs, but for those in one group, who share none."
        )
    if campaign.error > 0:
        messages.append(
            f"Honest answers differ from each other, and from the client's, in at most "
            f"{campaign.error:.3g} of all cases; tests accuse honest work with probability "
            f"{level:.3g} at most."
        )
    return tuple(messages)
