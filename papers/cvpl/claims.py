"""The paper's claims, and what became of each in an experiment."""

from collections.abc import Callable
from itertools import pairwise
from typing import Literal

import attrs
import numpy as np

from papers.cvpl import paper_tables
from papers.cvpl.paper_runs import (
    CLOSER,
    CLOSER_EXCESS,
    DCR,
    FS,
    FS_P1,
    LADDER,
    LR,
    LR_LOWEST,
    NOT_QUASI,
    NULL,
    P1,
    PROXIES,
    TLR,
    TYPICAL,
    TYPICAL_K,
    Runs,
)
from papers.cvpl.utility_and_risk import LEVEL, relations

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


def regimes(runs: Runs, name: str = "k-anonymity") -> tuple[list[str], list[str]]:
    """The protections of family A in the two regimes of Table 12: k below 10, and the others."""
    cases = runs.by_k(name)
    low = [case for k, case in cases.items() if k < paper_tables.HIGH_K]
    return low, [case for case in cases.values() if case not in low]


def rises_with_k(runs: Runs, figure: str, name: str = "k-anonymity") -> tuple[str, str]:
    """A rate in both regimes, and what became of the claim that it is larger in the second."""
    low, high = (runs.over(figure, cases) for cases in regimes(runs, name))
    return _text(low, high), verdict(_difference(high, low))


def _more_links_at_large_k(runs: Runs) -> Claim:
    return Claim(
        "R1, Table 12, Figure 2", "The linkage rate rises with k, while 1/k falls.",
        "0.032 / 0.149", *rises_with_k(runs, LR),
    )  # fmt: skip


def _nobody_at_small_k(runs: Runs) -> Claim:
    low = regimes(runs)[0]
    rate, found = runs.over(TLR, low), runs.mean(P1, "k-anonymity, k = 5")
    worst = None if rate is None or found is None else min(rate, found)
    return Claim(
        "Tables 12, 13", "At small k no true pair is linked, and at k = 5 nobody is found.",
        "TLR 0.000; P@1 0.000", f"TLR {_text(rate)}; P@1 {_text(found)}",
        "not assessable" if worst is None
        else "contradicted" if worst > MARGIN else "reproduced",
    )  # fmt: skip


def _surface_rises(runs: Runs) -> Claim:
    return Claim(
        "R2, Figure 3", "At similarity 0.70 the rate rises with k, to 0.36.",
        f"- / {paper_tables.PEAK:.3f}", *rises_with_k(runs, LR_LOWEST),
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
    cases = list(paper_tables.TABLE_13)
    paper = paper_tables.TABLE_13_AVERAGE
    return Claim(
        "R5, Tables 13, 14", "Fellegi-Sunter links more than CVPL, under every protection.",
        f"{_text(paper[1])} against {_text(paper[0])} on average",
        f"{_text(runs.over(FS, cases))} against {_text(runs.over(LR, cases))}",
        verdict(min(known) if known else None, 0.0),
    )  # fmt: skip


def _identifies_better(runs: Runs) -> Claim:
    # The paper's means count synthetic rows as failures; they belong to nobody who could be found.
    cases = [case for case in paper_tables.TABLE_13 if not case.startswith("synthetic")]
    paper = [float(np.mean([paper_tables.TABLE_13[case][at] for case in cases])) for at in (2, 3)]
    ours, theirs = runs.over(P1, cases), runs.over(FS_P1, cases)
    return Claim(
        "R5, Tables 13, 14", "CVPL identifies better than Fellegi-Sunter.",
        f"P@1 {_text(paper[0])} against {_text(paper[1])} where rows correspond",
        f"P@1 {_text(ours)} against {_text(theirs)}", verdict(_difference(ours, theirs)),
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
    share, excess = runs.over(CLOSER, cases), runs.over(CLOSER_EXCESS, cases)
    return Claim(
        "8.7, RCE", "Synthetic rows are closer to the original than chance makes them.",
        "0.812, baseline 0.5", f"{_text(share)}, beyond its baseline by {_text(excess)}",
        verdict(excess),
    )  # fmt: skip


def _no_frontier(runs: Runs) -> Claim:
    found = {name: relations(runs, figure) for name, figure in PROXIES.items()}
    known = {name: relation for name, relation in found.items() if relation is not None}
    related = [name for name, relation in known.items() if relation.is_related]
    r, p = paper_tables.UTILITY_AND_RISK[:2]
    if not known:
        message = "not assessable"
    elif len(related) in (0, len(known)):
        message = "contradicted" if related else "reproduced"
    else:
        message = f"depends on the proxy: related with {' and '.join(related)}"
    return Claim(
        "R9", f"Utility and risk are not related overall (no p is below {LEVEL:g}).",
        f"r = {r:g}, p = {p:g}",
        ", ".join(f"{name} r = {relation.r:.2f}" for name, relation in known.items()) or "-",
        message,
    )  # fmt: skip


def _not_quasi_dominates(runs: Runs) -> Claim:
    share = runs.everywhere(NOT_QUASI)
    return Claim(
        "R10, Table 19", "More than half of the contribution is not of quasi-identifiers.",
        "0.604", _text(share), verdict(_difference(share, 0.5)),
    )  # fmt: skip


def _never_less(where: str, paper: str, values: list[float | None]) -> Claim:
    """Larger blocks hold all candidates of the smaller ones: any loss contradicts the theorem."""
    steps = [_difference(b, a) for a, b in pairwise(values)]
    worst = None if None in steps else min(step for step in steps if step is not None)
    return Claim(
        where, "Larger blocks never link less.", paper, _text(*values),
        "not assessable" if worst is None else "reproduced" if worst >= 0 else "contradicted",
    )  # fmt: skip


def _monotone(runs: Runs) -> Claim:
    ladder = ("strong", "default", "weak", "no blocking")
    values = [runs.mean(f"cvpl-variants:blocking.{name}.linkage_rate", TYPICAL) for name in ladder]
    paper = _text(*(paper_tables.TABLE_23[name][0] for name in ladder))
    return _never_less("Theorem 4.4, Table 23", paper, values)


def _ladder(runs: Runs) -> Claim:
    values = [runs.mean(f"{name}:linkage_rate", TYPICAL) for name in LADDER]
    return _never_less("R11, section 8.11", _text(*paper_tables.LADDER), values)


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
    table: str, name: str, words: str, where: str, sign: int, of: Literal["rate", "precision"]
) -> Callable[[Runs], Claim]:
    """A claim on the difference between a variant and the default; of sign 0, that it is small."""
    paper = {"projection": paper_tables.TABLE_24, "similarity": paper_tables.TABLE_25,
             "fit": paper_tables.TABLE_26}[table]  # fmt: skip
    against = next(iter(paper))
    index, figure = {"rate": (0, "linkage_rate"), "precision": (1, "precision_at_1")}[of]

    def claim(runs: Runs) -> Claim:
        base, ours = (
            runs.mean(f"cvpl-variants:{table}.{variant}.{figure}", TYPICAL)
            for variant in (against, name)
        )
        difference = _difference(ours, base)
        if difference is None or sign:
            result = verdict(None if difference is None else sign * difference)
        else:
            result = "reproduced" if abs(difference) <= MARGIN else "contradicted"
        prefix = "P@1 " if of == "precision" else ""
        return Claim(
            where, words, f"{prefix}{_text(paper[against][index], paper[name][index])}",
            f"{prefix}{_text(base, ours)}", result,
        )  # fmt: skip

    return claim


CLAIMS: tuple[Callable[[Runs], Claim], ...] = (
    _more_links_at_large_k,
    _nobody_at_small_k,
    _surface_rises,
    _falls_with_noise,
    _links_without_identities,
    _flat_in_rho,
    _over_links,
    _identifies_better,
    _distance_is_blind,
    _memorizes,
    _no_frontier,
    _not_quasi_dominates,
    _ladder,
    _monotone,
    _stable_mean,
    _heavier_tail,
    *(
        _variant(*variant)
        for variant in (
            ("projection", "none", "Without the projection more is linked.",
             "Tables 21, 24", 1, "rate"),
            ("projection", "none", "Without the projection fewer best candidates are right.",
             "Tables 21, 24", -1, "precision"),
            ("projection", "robust", "Robust PCA links as much (within 0.02).",
             "Table 24", 0, "rate"),
            ("projection", "umap", "UMAP links as much (within 0.02).", "Table 24", 0, "rate"),
            ("projection", "random", "A random projection links more.", "Table 24", 1, "rate"),
            ("similarity", "rbf (Euclidean)", "Euclidean similarity links more.",
             "Table 25", 1, "rate"),
            ("similarity", "whitened (Mahalanobis)", "Mahalanobis similarity links less.",
             "Table 25", -1, "rate"),
            ("similarity", "jaccard", "Jaccard similarity links less.", "Table 25", -1, "rate"),
            ("fit", "source", "Fitted on the original alone, less is linked.",
             "Table 26", -1, "rate"),
            ("fit", "target", "Fitted on the release alone, less is linked.",
             "Table 26", -1, "rate"),
        )
    ),
)  # fmt: skip
