"""Who was really found: rates that need the truth (sections 5.5 and 5.6)."""

import numpy as np

from anonloom import Finding
from anonloom.typing import FloatArray
from anonloom_cvpl import rates
from anonloom_cvpl.evidence import Evidence
from anonloom_cvpl.figures import Says
from anonloom_linkage.bootstrap import block_bootstrap

NO_TRUTH = "nobody says which row of the release is whose"


def _mean(values: FloatArray) -> float:
    return float(values.mean()) if len(values) else 0.0


def identified(
    says: Says,
    evidence: Evidence,
    wrong: FloatArray,
    threshold: float,
    known: bool,
    rng: np.random.Generator,
) -> list[Finding]:
    """Judge the links by the truth.

    Parameters
    ----------
    wrong
        Similarities of wrong pairs.
    known
        Whether anybody says whose the rows are.
    """
    lacking = unknown = "" if known else NO_TRUTH
    if known and not evidence.matched.any():
        lacking = "no row of the release belongs to a record of the original"
    return [
        *_precision(says, evidence, threshold, lacking, rng),
        *_links(says, evidence, wrong, threshold, lacking, unknown),
    ]


def _apart(evidence: Evidence, lacking: str) -> str:
    """Why nothing can be said of true pairs that share a block."""
    return lacking or ("" if evidence.met.any() else "no true pair shares a block")


def _precision(
    says: Says, evidence: Evidence, threshold: float, lacking: str, rng: np.random.Generator
) -> list[Finding]:
    """Judge the best candidates."""
    precision, chance = rates.precision_at_1(evidence), rates.chance_at_1(evidence)
    matched = evidence.matched
    by_chance = _mean(chance[matched])
    hit = np.nan_to_num(evidence.hit)
    resampled = block_bootstrap(
        evidence.block,
        np.stack([hit, np.where(matched, hit - chance, 0.0)], axis=1),
        rng,
        counted=matched.astype(float),
    ).interval()
    linked = matched & (evidence.best >= threshold)
    return [
        says("precision_at_1", precision,
             "Share of the records whose most similar row is really theirs, ties drawn by lot.",
             interval=resampled[0], lacking=lacking),
        says("precision_chance", by_chance,
             "The share that would be right if a candidate were drawn at random.", "neither",
             lacking=lacking),
        says("precision_excess", precision - by_chance,
             "How much more often the most similar row is right than one drawn at random.",
             interval=resampled[1], lacking=lacking),
        says("precision_in_block", _mean(hit[evidence.met]),
             "The same among records whose true row is a candidate.",
             lacking=_apart(evidence, lacking)),
        says("precision_linked", _mean(hit[linked]),
             "The same among records that are linked.",
             lacking=lacking or ("" if linked.any() else "no record is linked")),
    ]  # fmt: skip


def _links(
    says: Says, evidence: Evidence, wrong: FloatArray, threshold: float, lacking: str, unknown: str
) -> list[Finding]:
    """Judge all links, right and wrong."""
    index = np.array([threshold])
    parts = rates.recall(evidence, threshold)
    return [
        says("true_link_rate", float(rates.true_link_rate(evidence, index)[0]),
             "Share of the true pairs in a block that are similar enough: TLR.",
             lacking=_apart(evidence, lacking)),
        says("false_link_rate", float(rates.false_link_rate(evidence, index)[0]),
             "Share of the records that resemble a row which is not theirs: FLR.", "neither",
             lacking=unknown),
        says("false_link_rate_pairs", float(rates.share_reaching(wrong, index)[0]),
             "Share of the wrong pairs that are similar enough.", "neither",
             lacking=unknown or ("" if len(wrong) else "there is no wrong pair"),
             assumptions=(f"{len(wrong):,} wrong pairs",)),
        says("recall_block", parts.block, "Share of the true pairs that share a block.",
             "neither", lacking=lacking),
        says("recall_match", parts.match,
             "Share of the true pairs in a block that are similar enough.",
             lacking=_apart(evidence, lacking)),
        says("recall_total", parts.total, "Share of the true pairs that are linked.",
             lacking=lacking),
    ]  # fmt: skip
