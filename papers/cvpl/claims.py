"""The paper's claims, and what became of each in an experiment."""

from collections.abc import Callable
from itertools import pairwise

import attrs
import numpy as np

from papers.cvpl import paper_tables
from papers.cvpl.paper_runs import (
    CORRELATION,
    DCR,
    FS,
    FS_P1,
    LR,
    NOT_QUASI,
    NULL,
    P1,
    TYPICAL,
    TYPICAL_K,
    Runs,
)

#: Differences below this are not called differences; runs with other seeds differ by less.
MARGIN = 0.02


@attrs.frozen
class Claim:
    """A claim of the paper and what became of it."""

    where: str
    words: str
    paper: str
    ours: str
    verdict: str


def judge_claims(runs: Runs) -> list[Claim]:
    """Judge all claims."""
    return [claim(runs) for claim in CLAIMS]


def verdict(difference: float | None, margin: float = MARGIN) -> str:
    """Judge a claim that a difference is positive."""
    if difference is None:
        return "not assessable"
    if difference > margin:
        return "reproduced"
    return "contradicted" if difference < -margin else "not reproduced"


def _difference(a: float | None, b: float | None) -> float | None:
    return None if a is None or b is None else a - b


def _text(*values: float | None) -> str:
    return " / ".join("-" if value is None else f"{value:.3f}" for value in values)


def _rises_with_k(runs: Runs) -> Claim:
    cases = runs.family("k-anonymity")
    low = runs.over(LR, [c for c in cases if int(c.split("=")[1]) <= 7])
    high = runs.over(LR, [c for c in cases if int(c.split("=")[1]) >= 10])
    return Claim(
        "R1, Table 12", "The linkage rate rises with k.", "0.032 / 0.149", _text(low, high),
        verdict(_difference(high, low)),
    )  # fmt: skip


def _falls_with_noise(runs: Runs) -> Claim:
    values = [runs.mean(LR, f"perturbation, {level}") for level in ("low", "medium", "high")]
    steps = [_difference(a, b) for a, b in pairwise(values)]
    worst = None if None in steps else min(step for step in steps if step is not None)
    return Claim(
        "R6, Table 15", "More noise, fewer links.", "0.803 / 0.590 / 0.364", _text(*values),
        verdict(worst),
    )  # fmt: skip


def _links_without_identities(runs: Runs) -> Claim:
    cases = runs.family("synthetic")
    rate, null = runs.over(LR, cases), runs.over(NULL, cases)
    outcome = verdict(_difference(rate, null))
    words = {
        "reproduced": "reproduced",
        "contradicted": "not a risk: independent rows link less than chance",
        "not reproduced": "not a risk: independent rows link as often as chance",
    }.get(outcome, outcome)
    return Claim(
        "R4, R7", "Synthetic data remain linkable though nobody can be identified.",
        "0.185; no null", f"{_text(rate)}; null {_text(null)}", words,
    )  # fmt: skip


def _flat_in_rho(runs: Runs) -> Claim:
    values = [runs.mean(LR, case) for case in runs.family("synthetic")]
    known = [value for value in values if value is not None]
    spread = max(known) - min(known) if known else None
    return Claim(
        "R7", "The linkage rate of synthetic data does not depend on rho (range below 0.02).",
        "0.184 to 0.185", f"range {_text(spread)}",
        "not assessable" if spread is None
        else "reproduced" if spread < MARGIN else "not reproduced",
    )  # fmt: skip


def _over_links(runs: Runs) -> Claim:
    gaps = [_difference(runs.mean(FS, case), runs.mean(LR, case)) for case in runs.cases]
    known = [gap for gap in gaps if gap is not None]
    return Claim(
        "R5, Table 14", "Fellegi-Sunter links more than CVPL, under every protection.",
        "0.927 against 0.260 on average",
        f"{_text(runs.over(FS, runs.cases))} against {_text(runs.over(LR, runs.cases))}",
        verdict(min(known) if known else None, 0.0),
    )  # fmt: skip


def _identifies_better(runs: Runs) -> Claim:
    cases = [case for case in runs.cases if not case.startswith("synthetic")]
    ours, theirs = runs.over(P1, cases), runs.over(FS_P1, cases)
    return Claim(
        "R5, Table 14", "CVPL identifies better than Fellegi-Sunter.",
        "P@1 0.316 against 0.124", f"P@1 {_text(ours)} against {_text(theirs)}",
        verdict(_difference(ours, theirs)),
    )  # fmt: skip


def _distance_is_blind(runs: Runs) -> Claim:
    high, synthetic = "perturbation, high", runs.family("synthetic")
    a, b = runs.mean(DCR, high), runs.over(DCR, synthetic)
    p1 = runs.mean(P1, high)
    if a is None or b is None or p1 is None:
        message = "not assessable"
    else:
        apart = abs(a - b) / max(a, b)
        message = "reproduced" if apart < 0.15 and p1 > MARGIN else "not reproduced"
    return Claim(
        "R8, Table 16",
        "The distance to the closest record cannot tell what can be recovered from what cannot.",
        "DCR 0.208 and 0.187; P@1 0.675 and 0.005",
        f"DCR {_text(a)} and {_text(b)}; P@1 {_text(p1)} and none", message,
    )  # fmt: skip


def _memorizes(runs: Runs) -> Claim:
    cases = runs.family("synthetic")
    share = runs.over("distance:closer_to_train_share", cases)
    excess = runs.over("distance:closer_to_train_excess", cases)
    return Claim(
        "8.7, RCE", "Synthetic rows are closer to the original than chance makes them.",
        "0.812, baseline 0.5", f"{_text(share)}, beyond its baseline by {_text(excess)}",
        verdict(excess),
    )  # fmt: skip


def _no_frontier(runs: Runs) -> Claim:
    pairs = [
        (rate, utility)
        for case in runs.cases
        for rate, utility in [(runs.mean(LR, case), runs.mean(CORRELATION, case))]
        if rate is not None and utility is not None
    ]
    if len(pairs) < 4:
        return Claim("R9", "Utility and risk are not related overall.", "r = 0.43, p = 0.14",
                     "-", "not assessable")  # fmt: skip
    r = float(np.corrcoef(np.array(pairs).T)[0, 1])
    # Beyond this |r| differs from 0 at the 5 % level, for so many pairs (Fisher's z).
    limit = float(np.tanh(1.96 / np.sqrt(len(pairs) - 3)))
    return Claim(
        "R9", "Utility and risk are not related overall.", "r = 0.43, p = 0.14",
        f"r = {r:.2f} with correlations preserved, {len(pairs)} protections",
        "reproduced" if abs(r) < limit else "contradicted",
    )  # fmt: skip


def _not_quasi_dominates(runs: Runs) -> Claim:
    share = runs.everywhere(NOT_QUASI)
    return Claim(
        "R10, Table 19", "More than half of the contribution is not of quasi-identifiers.",
        "0.604", _text(share), verdict(_difference(share, 0.5)),
    )  # fmt: skip


def _monotone(runs: Runs) -> Claim:
    ladder = ("strong", "default", "weak", "no blocking")
    values = [runs.mean(f"cvpl-variants:blocking.{name}.linkage_rate", TYPICAL) for name in ladder]
    steps = [_difference(b, a) for a, b in pairwise(values)]
    worst = None if None in steps else min(step for step in steps if step is not None)
    return Claim(
        "R11, Theorem 4.4", "Larger blocks never link less.", "0.28 / 0.42 / 0.55 / 0.61",
        _text(*values), verdict(worst, 0.0),
    )  # fmt: skip


def _stable_mean(runs: Runs) -> Claim:
    values = [runs.mean(LR, TYPICAL_K, share) for share in paper_tables.TABLE_20]
    known = [value for value in values if value is not None]
    spread = max(known) - min(known) if len(known) == len(values) else None
    return Claim(
        "R12, Table 20", "Outliers do not move the mean linkage rate (by more than 0.02).",
        "0.149 / 0.149 / 0.149", _text(*values),
        "not assessable" if spread is None
        else "reproduced" if spread <= MARGIN else "contradicted",
    )  # fmt: skip


def _heavier_tail(runs: Runs) -> Claim:
    figure = "cvpl-variants:blocks.sd"
    values = [runs.mean(figure, TYPICAL_K, share) for share in paper_tables.TABLE_20]
    return Claim(
        "R12, Table 20", "Outliers make the linkage rates of blocks differ more.",
        "sd 0.08 / 0.08 / 0.12", f"sd {_text(*values)}",
        verdict(_difference(values[-1], values[0]), 0.01),
    )  # fmt: skip


def _variant(
    table: str, name: str, against: str, words: str, where: str, sign: int
) -> Callable[[Runs], Claim]:
    def claim(runs: Runs) -> Claim:
        figure = f"cvpl-variants:{table}."
        ours = runs.mean(f"{figure}{name}.linkage_rate", TYPICAL)
        base = runs.mean(f"{figure}{against}.linkage_rate", TYPICAL)
        paper = {"projection": paper_tables.TABLE_24, "similarity": paper_tables.TABLE_25,
                 "fit": paper_tables.TABLE_26}[table]  # fmt: skip
        difference = _difference(ours, base)
        return Claim(
            where, words, _text(paper[against][0], paper[name][0]), _text(base, ours),
            verdict(None if difference is None else sign * difference),
        )  # fmt: skip

    return claim


CLAIMS: tuple[Callable[[Runs], Claim], ...] = (
    _rises_with_k,
    _falls_with_noise,
    _links_without_identities,
    _flat_in_rho,
    _over_links,
    _identifies_better,
    _distance_is_blind,
    _memorizes,
    _no_frontier,
    _not_quasi_dominates,
    _monotone,
    _stable_mean,
    _heavier_tail,
    _variant("projection", "none", "pca", "Without the projection more is linked.",
             "Tables 21, 24", 1),
    _variant("similarity", "rbf (Euclidean)", "cosine", "Euclidean similarity links more.",
             "Table 25", 1),
    _variant("similarity", "whitened (Mahalanobis)", "cosine", "Mahalanobis similarity links less.",
             "Table 25", -1),
    _variant("similarity", "jaccard", "cosine", "Jaccard similarity links less.", "Table 25", -1),
    _variant("fit", "source", "joint", "Fitted on the original alone, less is linked.",
             "Table 26", -1),
    _variant("fit", "target", "joint", "Fitted on the release alone, less is linked.",
             "Table 26", -1),
)  # fmt: skip
