"""What each figure of the auditor is called and means, in words for whoever pays the workers."""

from collections.abc import Iterable

from anonloom import Finding
from anonloom.findings import Better, Status

BLIND = "For blind omission: which jobs a worker omits does not depend on the rows."
NOT_BLIND = "Not blind: these workers omit what their model is sure of."
APART = "Workers do not compare their jobs."
TOO_FEW = "the budget leaves some workers without a sentinel"

MEANINGS: dict[str, dict[str, tuple[Better, str]]] = {
    "classes": {
        "guessed_like_data": (
            "lower",
            "Share of the sentinels that a worker guesses if their classes are as frequent as in "
            "the data: it answers the most frequent class.",
        ),
        "guessed_inverse": (
            "lower",
            "Share of the sentinels that a worker guesses if their classes are in proportion to "
            "the reciprocals of the frequencies: it answers the rarest class.",
        ),
        "guessed_reversed": (
            "lower",
            "Share of the sentinels that a worker guesses if the frequencies are reversed, the "
            "rarest class having the largest one: it answers that one.",
        ),
        "guessed_uniform": (
            "lower",
            "Share of the sentinels that a worker guesses if all classes have as many of them: "
            "nothing leaves less to guess, and it is what the scheme does.",
        ),
    },
    "replicas": {
        "twins_undetected": (
            "lower",
            "Probability that 20 twins of different jobs notice nothing, where 49 of 100 workers "
            "omit half of their jobs.",
        ),
        "replicas_undetected": (
            "lower",
            "Probability that 20 extra copies of one job notice nothing of the same: never below "
            "the share of the most frequent class, however many copies.",
        ),
    },
    "extremes": {
        "extreme_twins": (
            "lower",
            "Probability that twins alone notice nothing if all workers omit 99 % of their jobs: "
            "they all give the same answer.",
        ),
        "extreme_with_sentinels": (
            "lower",
            "Probability that nothing is noticed if all workers omit 99 % of their jobs, and a few "
            "of the twins are exchanged for sentinels.",
        ),
    },
    "crossing": {
        "crossing": (
            "neither",
            "Where the most frequent class has a larger share than this, a sentinel notices more "
            "than a twin; the interval is where the simulation does not tell them apart.",
        ),
        "crossing_if_little": (
            "neither",
            "What the crossing tends to if hardly anything is omitted: 1/2 (1 + 1/c) for c "
            "classes.",
        ),
        "crossing_as_printed": (
            "neither",
            "The rule as the paper prints it, 1/2 (1 + c): no share is ever above it, so it never "
            "prefers sentinels. A fraction was lost in print.",
        ),
        "better_control": (
            "neither",
            "Which control notices more for one extra job, in the declared campaign.",
        ),
    },
    "campaign": {
        "sentinels": ("neither", "Sentinels that the scheme buys with the declared budget."),
        "twins": ("neither", "Twins that the scheme buys with the declared budget."),
        "detection_stated": (
            "higher",
            "Probability that the omission is noticed, as stated before anything is paid.",
        ),
        "detection_simulated": (
            "higher",
            "Share of the simulated campaigns in which it was noticed.",
        ),
        "honest_accused": (
            "lower",
            "Share of the judged campaigns in which any honest worker was accused.",
        ),
        "lazy_accused": (
            "higher",
            "Share of the lazy workers who were accused. To notice that something was omitted "
            "takes one control, to name who did takes many: a larger budget names more.",
        ),
        "honest_campaign_accused": (
            "lower",
            "Share of the campaigns in which everybody works and somebody was accused.",
        ),
    },
    "collusion": {
        "undetected_alone": (
            "lower",
            "Probability that twins notice nothing if lazy workers do not compare their jobs.",
        ),
        "undetected_colluding": (
            "lower",
            "Probability that twins notice nothing if lazy workers compare their jobs, and answer "
            "alike those that two of them have.",
        ),
        "undetected_declared": (
            "lower",
            "Probability that twins notice nothing if lazy workers collude, and were declared as a "
            "group, which shares no job.",
        ),
        "majority_honest_accused": (
            "lower",
            "Share of the judged campaigns in which any honest worker was accused, though most of "
            "the others collude and contradict it: only its own sentinels accuse a worker.",
        ),
        "majority_disputed": (
            "lower",
            "Share of these campaigns in which sentinels did not settle who of the workers that "
            "contradict each other omits work, so that both sides are distrusted.",
        ),
    },
    "proxies": {
        "proxy_omitted": (
            "lower",
            "Share of its jobs on which a worker with a cheap model does not work, because the "
            "model is sure of them.",
        ),
        "proxy_right": (
            "higher",
            "Share of the omitted jobs on which the cheap model is right all the same.",
        ),
        "proxy_per_sentinel": (
            "higher",
            "Share of all sentinels that notice workers with a cheap model.",
        ),
        "blind_per_sentinel": (
            "higher",
            "Share of all sentinels that would notice blind workers who omit as much, by formula.",
        ),
        "proxy_per_twin": (
            "higher",
            "Share of all twins that notice workers with a cheap model.",
        ),
        "blind_per_twin": (
            "higher",
            "Share of all twins that would notice blind workers who omit as much, by formula.",
        ),
        "proxy_undetected": (
            "lower",
            "Probability that the declared budget notices nothing of workers with a cheap model, "
            "from what sentinels and twins were measured to notice.",
        ),
        "blind_undetected": (
            "lower",
            "Probability that the declared budget notices nothing of blind workers who omit as "
            "much, by formula.",
        ),
    },
    "": {
        "largest_deviation": (
            "lower",
            "The largest difference between formula and simulation over all points of all figures.",
        ),
    },
}

_ALL = {name: message for group in MEANINGS.values() for name, message in group.items()}


def say(
    name: str,
    value: float | int | str | None,
    *,
    interval: tuple[float, float] | None = None,
    status: Status = "measured",
    assumptions: Iterable[str] = (),
    unit: str = "",
    more: str = "",
) -> Finding:
    """Return a finding with what its name means.

    Parameters
    ----------
    more
        A further sentence of its meaning.
    """
    better, meaning = _ALL[name]
    return Finding(
        name=name,
        value=value,
        interval=interval,
        better=better,
        status=status,
        meaning=f"{meaning} {more}".strip(),
        assumptions=tuple(assumptions),
        unit=unit,
    )


def unknown(figures: Iterable[str], reason: str) -> list[Finding]:
    """Say of every finding of these figures that there is none, and why."""
    return [
        say(name, None, status="not assessable", more=f"Not assessable: {reason}.")
        for figure in figures
        for name in MEANINGS[figure]
    ]
