"""The claims of the paper's section 6, and what became of each in an experiment."""

from typing import Literal

import attrs

from papers.anonify import claim_checks as checks
from papers.anonify.claim_checks import (
    ARX,
    CLEARLY,
    CLOSE,
    CLOSE_OTHERS,
    ENOUGH,
    HALF,
    LEAST,
    METRICS,
    OLD,
    RESEMBLES,
    VARIES_SLIGHTLY,
    WHOLE_DOMAIN,
    Judge,
)
from papers.anonify.experiment import Experiment

Verdict = Literal["holds", "does not hold", "not comparable"]


@attrs.frozen
class Claim:
    """A claim and what became of it.

    Attributes
    ----------
    figure
        Where the paper makes it.
    words
        What it says, in our words.
    how
        How it was checked.
    paper, ours
        The figures of both.
    """

    figure: str
    words: str
    how: str
    paper: str
    ours: str
    verdict: Verdict


@attrs.frozen
class Check:
    """A claim before it is judged.

    Attributes
    ----------
    chapter
        Which part of the page it belongs to.
    judge
        See `papers.anonify.claim_checks`.
    """

    chapter: str
    figure: str
    words: str
    how: str
    paper: str
    judge: Judge

    def of(self, experiment: Experiment) -> Claim:
        """Judge it."""
        ours, holds = self.judge(experiment) or ("no such runs", None)
        verdict: Verdict = (
            "not comparable" if holds is None else "holds" if holds else "does not hold"
        )
        return Claim(self.figure, self.words, self.how, self.paper, ours, verdict)


def judge_claims(experiment: Experiment, chapter: str) -> list[Claim]:
    """Judge the claims of a chapter."""
    return [check.of(experiment) for check in CHECKS if check.chapter == chapter]


LOSS, GROUPS, LEARNING, FOUND, DONATION = "loss", "groups", "learning", "found", "donation"
_NONE = "a plot only"

CHECKS = (
    Check(
        LOSS, "6", "ARX loses less than Mondrian and OKA, at every k.",
        f"NCP of '{ARX}' below both at every k", _NONE, checks.below_rivals(ARX),
    ),
    Check(
        LOSS, "6", "It loses much less, also where k is large.",
        f"at most {CLEARLY:.0%} of the better one's NCP at every k", _NONE,
        checks.below_rivals(ARX, CLEARLY),
    ),
    Check(
        LOSS, "6", "The same, if its ARX gave the whole table one level per column.",
        f"NCP of '{WHOLE_DOMAIN}' below both at every k", _NONE, checks.below_rivals(WHOLE_DOMAIN),
    ),
    Check(
        LOSS, "6, ours", "Our local-recoding loses less than Mondrian and OKA, at every k.",
        "NCP below both at every k", "not in the paper", checks.below_rivals("local-recoding"),
    ),
    Check(
        LOSS, "6, ours", "Our level-order loses less than Mondrian and OKA, at every k.",
        "NCP below both at every k", "not in the paper", checks.below_rivals("level-order"),
    ),
    Check(
        LOSS, "6", "With every anonymizer NCP rises as k does.",
        "NCP of each k against the next smaller one", _NONE, checks.rises,
    ),
    Check(
        GROUPS, "7", "Mean blood glucose by age hardly changes, anonymized or sampled.",
        f"mean deviation at most {RESEMBLES:.0%}", _NONE, checks.resembles("glucose", RESEMBLES),
    ),
    Check(
        GROUPS, "8", "People with hypertension by gender vary slightly.",
        f"mean deviation at most {VARIES_SLIGHTLY:.0%}", _NONE,
        checks.resembles("hypertension", VARIES_SLIGHTLY),
    ),
    Check(
        GROUPS, "9", "People with diabetes by age are altered more than those with hypertension.",
        f"mean deviation of the {HALF} % samples", _NONE, checks.more_for_diabetes,
    ),
    Check(
        GROUPS, "9", f"They are altered most from {OLD} years on.",
        "mean deviation of both parts of the ranges", _NONE, checks.among_the_old,
    ),
    Check(
        GROUPS, "9", "It is sampling that alters them: smaller shares deviate more.",
        "mean deviation of single samples rises as the share falls", _NONE, checks.by_sampling,
    ),
    Check(
        LEARNING, "10", f"Accuracy on {LEAST} % samples is that of the original, or slightly "
        "better.",
        f"at least {ENOUGH} of eight classifiers within {CLOSE:g}", _NONE, checks.close_at_least,
    ),
    Check(
        LEARNING, "10", "No version differs noticeably from the original.",
        f"all classifiers within {CLOSE:g} on every version", _NONE, checks.close_everywhere,
    ),
    *(
        Check(
            LEARNING, str(number), f"{METRICS[number].capitalize()} on {LEAST} % samples keeps up "
            "with the original.",
            f"at least {ENOUGH} of eight classifiers lose at most {CLOSE_OTHERS:g}", _NONE,
            checks.as_good(METRICS[number]),
        )
        for number in (13, 14, 15)
    ),
    Check(
        FOUND, "11", "Journalist risk is one in the class before sampling.",
        "highest risk against 1 / smallest class, every run", "1 / |EC|", checks.exact_risk,
    ),
    Check(
        FOUND, "11", "It is very low in all versions.",
        "highest risk of all runs at most 1 / 250", "at most 1 / 250 by its formula",
        checks.risk_is_low,
    ),
    Check(
        FOUND, "11", "It falls with the share that is sampled.",
        "mean risk falls by 1 % or more from share to share",
        "falls; its formula has no share in it", checks.risk_falls,
    ),
    Check(
        FOUND, "11", f"Its mean is 0.057075 at {LEAST} %.",
        "nothing to check: above what k = 250 allows; read as a percentage, classes have 1,752 "
        "rows in the mean",
        "0.057075", checks.stated_risk,
    ),
    Check(
        FOUND, "12", "Certainty is 100 % before sampling.", "certainty of the anonymized table",
        "100 %", checks.kept_whole,
    ),
    Check(
        FOUND, "12", "After it, certainty is the share that is sampled.",
        f"mean certainty from the share to {CLOSE:g} above it: shares of a class are rounded up",
        "the share", checks.certainty_is_share,
    ),
    Check(
        DONATION, "section 4", "The protocol publishes what a trusted curator would.",
        "figures that do not depend on who was drawn, with both collectors", "by construction",
        checks.as_the_curator,
    ),
)  # fmt: skip
