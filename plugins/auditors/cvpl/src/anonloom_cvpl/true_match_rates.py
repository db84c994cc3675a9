"""Who was really found: rates that need the truth (sections 5.5 and 5.6)."""

import numpy as np

from anonloom import Finding
from anonloom.findings import FindingBuilder
from anonloom.typing import FloatArray
from anonloom_cvpl import rates
from anonloom_cvpl.evidence import Evidence
from anonloom_linkage.bootstrap import block_bootstrap

NO_TRUTH = "nobody says which row of the release is whose"


def _mean(values: FloatArray) -> float:
    return float(values.mean()) if len(values) else 0.0


def true_match_rates(
    finding: FindingBuilder,
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
    if known and not evidence.has_true_row.any():
        lacking = "no row of the release belongs to a record of the original"
    return [
        *_precision(finding, evidence, threshold, lacking, rng),
        *_links(finding, evidence, wrong, threshold, lacking, unknown),
    ]


def _apart(evidence: Evidence, lacking: str) -> str:
    """Why nothing can be said of true pairs that share a block."""
    return lacking or ("" if evidence.shares_block.any() else "no true pair shares a block")


def _precision(
    finding: FindingBuilder,
    evidence: Evidence,
    threshold: float,
    lacking: str,
    rng: np.random.Generator,
) -> list[Finding]:
    """Judge the best candidates."""
    precision, chance = rates.precision_at_1(evidence), rates.chance_at_1(evidence)
    matched = evidence.has_true_row
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
        finding("precision_at_1", precision,
                "Share of the records whose most similar row is really theirs, ties drawn by lot.",
                interval=resampled[0], lacking=lacking, key=True),
        finding("precision_chance", by_chance,
                "The share that would be right if a candidate were drawn at random.", "neither",
                lacking=lacking),
        finding("precision_excess", precision - by_chance,
                "How much more often the most similar row is right than one drawn at random.",
                interval=resampled[1], lacking=lacking),
        finding("precision_in_block", _mean(hit[evidence.shares_block]),
                "The same among records whose true row is a candidate.",
                lacking=_apart(evidence, lacking)),
        finding("precision_linked", _mean(hit[linked]),
                "The same among records that are linked.",
                lacking=lacking or ("" if linked.any() else "no record is linked")),
    ]  # fmt: skip


def _links(
    finding: FindingBuilder,
    evidence: Evidence,
    wrong: FloatArray,
    threshold: float,
    lacking: str,
    unknown: str,
) -> list[Finding]:
    """Judge all links, right and wrong."""
    thresholds = np.array([threshold])
    parts = rates.recall(evidence, threshold)
    return [
        finding("true_link_rate", float(rates.true_link_rate(evidence, thresholds)[0]),
                "Share of the true pairs in a block that are similar enough: TLR.",
                lacking=_apart(evidence, lacking)),
        finding("false_link_rate", float(rates.false_link_rate(evidence, thresholds)[0]),
                "Share of the records that resemble a row which is not theirs: FLR.", "neither",
                lacking=unknown),
        finding("false_link_rate_pairs", float(rates.share_reaching(wrong, thresholds)[0]),
                "Share of the wrong pairs that are similar enough.", "neither",
                lacking=unknown or ("" if len(wrong) else "there is no wrong pair"),
                assumptions=(f"{len(wrong):,} wrong pairs",)),
        finding("recall_block", parts.block, "Share of the true pairs that share a block.",
                "neither", lacking=lacking),
        finding("recall_match", parts.match,
                "Share of the true pairs in a block that are similar enough.",
                lacking=_apart(evidence, lacking)),
        finding("recall_total", parts.total, "Share of the true pairs that are linked.",
                lacking=lacking),
    ]  # fmt: skip
