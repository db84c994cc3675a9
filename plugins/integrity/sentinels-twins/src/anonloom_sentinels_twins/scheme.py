"""Integrity scheme sentinels-twins: results that are known, and results that must be equal."""

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np

from anonloom import param
from anonloom.errors import UsageError
from anonloom.lazy import pd
from anonloom.params import between
from anonloom_sentinels_twins import assignment, sentinel_indistinguishability, sizing, verdicts
from anonloom_sentinels_twins.key import Key
from anonloom_sentinels_twins.sizing import ESCAPE
from anonloom_sentinels_twins.tolerant import LEVEL
from anonloom_sentinels_twins.work_check import Assignment, Campaign, Judgement, Sizing, WorkCheck


@attrs.frozen(kw_only=True)
class SentinelsTwins(WorkCheck):
    """Hides sentinels and twins among the jobs of untrusted workers.

    Why omitted work is noticed: a worker that does not know which of its jobs are controls omits
    controls as often as other jobs, and an omitted control shows unless the guess is right. Why
    honest workers are not accused: only a worker's own sentinels accuse it, of which honest work
    fails none if honest results are always the same, and no more than the binomial tests allow if
    not. What other workers answer, and whether they collude, does not matter for it. Every worker
    has sentinels; `size` states how probably a lazy one passes all of them.
    """

    disguise: Mapping[str, float] = param(
        help="Column -> largest change that leaves the result as it is: the second job of a twin "
        "is changed by as much at most, so that workers who compare their jobs do not find it.",
        default=attrs.Factory(dict),
    )
    accuse_at: float | None = param(
        help="Accuse a worker whose sentinels failed only from this probability of laziness on, "
        "given all controls. Without it failed sentinels are enough.",
        check=between(0.5, 1, least_open=True, most_open=True),
        default=None,
    )
    level: float = param(
        help="Where honest results may differ: the probability at which all tests of a campaign "
        "together may accuse honest work.",
        check=between(0, 1, least_open=True, most_open=True),
        default=LEVEL,
    )
    prior: float | None = param(
        help="The probability that a worker is lazy before any evidence; without it the share of "
        "lazy workers that the campaign expects.",
        check=between(0, 1, least_open=True, most_open=True),
        default=None,
    )
    escape: float = param(
        help="Where an epsilon sizes the controls: the probability at which a worker who omits "
        "what is expected may pass all of its own sentinels.",
        check=between(0, 1, least_open=True, most_open=True),
        default=ESCAPE,
    )
    likeness: bool = param(
        help="Whether to try to tell the known rows from the others, and to warn if that works.",
        default=True,
    )

    def size(self, campaign: Campaign) -> Sizing:
        """Choose between sentinels and twins by the exact rule, and state what goes unnoticed.

        Raises
        ------
        UsageError
            When the campaign makes no sense, or no number of controls reaches what it asks.
        """
        return sizing.size(campaign, level=self.level, escaping=self.escape)

    def assign(
        self,
        jobs: "pd.DataFrame",
        known: "pd.DataFrame",
        campaign: Campaign,
        sizing: Sizing,
        rng: np.random.Generator,
    ) -> Assignment:
        """Hide the controls and deal the jobs.

        Where likeness is measured, the campaign's classes must be in the order of the results'
        names: how frequent each is decides which rows are compared.

        Raises
        ------
        DataError
            When there are too few known rows, or columns differ.
        UsageError
            When the numbers of controls cannot be placed.
        """
        made = assignment.assign(jobs, known, campaign, sizing, rng, self.disguise)
        if not self.likeness or not sizing.controls.get("sentinels", 0):
            return made
        result = sentinel_indistinguishability.measure(jobs, known, rng, mix=campaign.classes)
        return attrs.evolve(made, warnings=(*made.warnings, *result.warnings))

    def verify(self, key: Any, answers: "Sequence[pd.DataFrame | None]") -> Judgement:
        """Judge the workers by their answers.

        Raises
        ------
        OmittedWork
            When a control failed beyond what is allowed, or answers are missing or strange; it
            carries the evidence.
        UsageError
            When there are not as many answers as workers.
        """
        if not isinstance(key, Key):
            raise UsageError("the key is none of this scheme")
        rules = verdicts.Rules(accuse_at=self.accuse_at, level=self.level, prior=self.prior)
        return verdicts.verify(key, answers, rules)
