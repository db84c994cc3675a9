"""How many predicates single somebody out: the measure of Giomi et al., section 4.1.

Predicates that match one row of the release are tried on the original, and on the control, where
chance alone makes some of them match one person. People who are alike count once.
"""

from collections.abc import Iterable

import numpy as np

from anonloom import Findings
from anonloom.findings import FindingBuilder
from anonloom.typing import BoolArray, IntArray
from anonloom_risk.nearest_rows import CONTROL, ORIGINAL, RELEASE
from anonloom_singling_out.predicates import Evidence, Family, occurrences

__all__ = ["predicate_findings"]


def predicate_findings(
    name: str,
    evidence: Evidence,
    families: Iterable[Family],
    rng: np.random.Generator,
    most: int | None = None,
) -> Findings:
    """Return how many predicates there are, and the shares that single out.

    Parameters
    ----------
    most
        So many predicates are enough, and the first families give them; None for all.
    """
    known = len(evidence.columns[0].sides) > CONTROL
    people = {side: evidence.distinct(side) for side in (ORIGINAL, CONTROL)[: 1 + known]}
    tried, alone = 0, np.zeros(len(people))
    for family in families:
        keys, rows = np.unique(
            evidence.keys(family, RELEASE, _readable(evidence, family)), return_counts=True
        )
        single = keys[rows == 1]
        if most is not None and len(single) > most - tried:
            single = rng.choice(single, most - tried, replace=False)
        tried += len(single)
        for index, (side, own) in enumerate(people.items()):
            matched = occurrences(evidence.keys(family, side, own), single)
            alone[index] += (matched == 1).sum()
        if tried == most:
            break
    shares = alone / max(tried, 1)
    nothing = "" if tried else "no predicate matches exactly one row of the release"
    finding = FindingBuilder(unfit=nothing)
    about = (f"{tried} predicates, each of which matches one row of the release",)
    return Findings.of(
        finding(
            f"{name}_predicates",
            float(shares[0]),
            f"Share of {name} predicates that match exactly one person of the original, as "
            "Anonymeter counts.",
            "neither",
            assumptions=about,
        ),
        finding(
            f"{name}_predicates_in_control",
            float(shares[-1]),
            "Share of the same predicates that match exactly one person of the control.",
            "neither",
            lacking="" if known else "there is no control",
            assumptions=about,
        ),
    )


def _readable(evidence: Evidence, family: Family) -> IntArray:
    """Rows of the release with something to say in every column."""
    columns = [evidence.columns[column] for column, _ in family]
    silent: BoolArray = np.any([c.open[c.sides[RELEASE]] for c in columns], axis=0)
    return np.flatnonzero(~silent)
