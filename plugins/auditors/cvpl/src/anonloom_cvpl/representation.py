"""Whether the space can tell records apart at all: validity of the representation (10.6, U25)."""

from typing import Literal

import attrs

from anonloom.typing import FloatArray
from anonloom_cvpl.configuration import LinkageSetup
from anonloom_cvpl.evidence import Evidence
from anonloom_cvpl.rates import area_under_curve, recall

Verdict = Literal["valid", "weak", "not assessable"]

#: With more records than this without a candidate, nothing can be said (U7).
MOST_WITHOUT = 0.05
#: Less retained variance, less discrimination or more vectors without a direction make it weak.
LEAST_RETAINED = 0.5
LEAST_AUC = 0.7
MOST_ZERO = 0.05
#: Records whose own copy is hardly more similar than the next record are not told apart.
MOST_ALIKE = 0.95
#: If chance links more than this, links say nothing.
MOST_BY_CHANCE = 0.9
#: If blocks lose more true pairs than this, a stronger attacker finds more.
MOST_LOST = 0.1
#: If more cells of a column cannot be read, nothing can be said.
MOST_UNREAD = 0.01


def unfit_reason(without: float) -> str:
    """Why nothing can be said if so many records have no candidate; nothing if something can."""
    if without <= MOST_WITHOUT:
        return ""
    return (
        f"{without:.1%} of the records have no candidate, more than {MOST_WITHOUT:.0%}: the blocks "
        "do not fit the release"
    )


@attrs.frozen
class Validity:
    """How far the figures can be trusted.

    Attributes
    ----------
    retained
        Share of the variance that the projection keeps, where that has a meaning.
    without
        Share of the records that have no candidate.
    candidates
        Mean number of candidates of a record.
    zero
        Share of the records whose vector has no direction.
    alike
        Share of the records that another record of the original equals.
    auc
        Chance that a true pair is more similar than a wrong one, where the truth is known.
    by_chance
        Share of the records that resemble another record of the original.
    block_recall
        Share of the true pairs that share a block, where the truth is known.
    unread
        What is said of the column of which most cells cannot be read; nothing if hardly any.
    """

    retained_share: float | None
    without: float
    candidates: float
    zero: float
    alike: float
    auc: float | None
    by_chance: float = 0.0
    block_recall: float | None = None
    unread: str = ""

    @property
    def unfit(self) -> str:
        """Why nothing can be said; nothing if something can."""
        return self.unread or unfit_reason(self.without)

    @property
    def saturated(self) -> str:
        """Why links say nothing of the release; nothing if they do."""
        if self.by_chance <= MOST_BY_CHANCE:
            return ""
        return (
            f"{self.by_chance:.1%} of the records resemble another record anyhow, more than "
            f"{MOST_BY_CHANCE:.0%}"
        )

    @property
    def weaknesses(self) -> tuple[str, ...]:
        """What makes the space a weak one."""
        results = []
        if self.retained_share is not None and self.retained_share < LEAST_RETAINED:
            results.append(f"the projection keeps only {self.retained_share:.0%} of the variance")
        if self.zero > MOST_ZERO:
            results.append(f"{self.zero:.1%} of the records have a vector without a direction")
        if self.alike > MOST_ALIKE:
            results.append(f"{self.alike:.1%} of the records equal another one in what is compared")
        if self.auc is not None and self.auc < LEAST_AUC:
            results.append(
                f"a true pair is more similar than a wrong one with a chance of {self.auc:.2f} only"
            )
        # Where nothing can be said at all, the reason says more.
        lost = 0.0 if self.block_recall is None or self.unfit else 1 - self.block_recall
        if lost > MOST_LOST:
            results.append(f"blocks lose {lost:.1%} of the true pairs: others may link more")
        if self.saturated:
            results.append(self.saturated)
        return tuple(results)

    @property
    def verdict(self) -> Verdict:
        """Whether figures of this space mean something."""
        if self.unfit:
            return "not assessable"
        return "weak" if self.weaknesses else "valid"


def validity(
    setup: LinkageSetup,
    evidence: Evidence,
    null_evidence: Evidence,
    wrong: FloatArray | None,
    threshold: float,
) -> Validity:
    """Judge the space at a threshold.

    Parameters
    ----------
    null_evidence
        Evidence of the original against itself, each record apart.
    wrong
        Similarities of wrong pairs, where the truth is known.
    """
    vectors = setup.space.records_of(0, None)
    zero = float((~vectors.any(axis=1)).mean()) if len(vectors) else 0.0
    true = evidence.true[evidence.shares_block]
    known = wrong is not None and len(wrong) > 0 and len(true) > 0
    return Validity(
        retained_share=setup.projection.retained_share,
        without=float((evidence.candidates == 0).mean()),
        candidates=float(evidence.candidates.mean()),
        zero=zero,
        alike=float((null_evidence.wrong >= 1 - 1e-6).mean()),
        auc=area_under_curve(true, wrong) if known and wrong is not None else None,
        by_chance=float((null_evidence.wrong >= threshold).mean()),
        block_recall=(recall(evidence, threshold).block if evidence.has_true_row.any() else None),
        unread=_unread(setup),
    )


def _unread(setup: LinkageSetup) -> str:
    """Name the column of the release of which most cells cannot be read, if they are many."""
    worst = max(setup.columns, key=lambda column: column.unread[1])
    rows = len(worst.sides[1])
    if worst.unread[1] <= MOST_UNREAD * rows:
        return ""
    return f"column '{worst.name}': {worst.unread[1]} of {rows} cells of the release cannot be read"
