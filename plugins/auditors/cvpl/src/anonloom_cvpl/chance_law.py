"""How linkage by chance grows with the number of candidates: 1 - (1 - p)^C of section 8.1 (44).

p is the chance that a wrong candidate is similar enough, and C how many candidates a record has.
The law takes candidates for independent of each other and records for equal. Neither is the case:
who resembles one person resembles many, so that chance links fewer records than the law says.
"""

import numpy as np

from anonloom import Chart, Findings
from anonloom.findings import FindingBuilder
from anonloom.typing import FloatArray, IntArray
from anonloom_cvpl.evidence import Evidence

#: Groups of records of like numbers of candidates, and the least that each has.
GROUPS, LEAST_RECORDS = 10, 30


def by_law(share: float, candidates: IntArray) -> FloatArray:
    """Chance of every record to be linked if its candidates were drawn independently."""
    result: FloatArray = -np.expm1(candidates * np.log1p(-min(share, 1 - 1e-12)))
    return result


def chance_law(
    finding: FindingBuilder,
    evidence: Evidence,
    wrong: FloatArray,
    threshold: float,
    known: bool,
) -> Findings:
    """Put the law beside what is observed.

    Parameters
    ----------
    wrong
        Similarities of wrong pairs; of any pairs where nobody says which are right.
    known
        Whether anybody does.
    """
    if not len(wrong) or not len(evidence):
        return Findings()
    share = float((wrong >= threshold).mean())
    law = by_law(share, evidence.candidates)
    observed = (evidence.wrong if known else evidence.best) >= threshold
    value = finding(
        "linkage_rate_by_law",
        float(law.mean()),
        "Share of the records that would be linked by chance if all their candidates were "
        "independent: 1 - (1 - p)^C (44).",
        "neither",
        assumptions=(f"p = {share:.3g}, of {len(wrong):,} pairs", f"at similarity {threshold:g}"),
    )
    order = np.argsort(evidence.candidates, kind="stable")
    parts = np.array_split(order, max(min(GROUPS, len(order) // LEAST_RECORDS), 1))
    x = [float(evidence.candidates[part].mean()) for part in parts]
    chart = Chart(
        name="chance_law",
        kind="line",
        title="Linkage and the number of candidates",
        x="candidates of a record",
        y="share of the records",
        meaning="Chance alone links more records, the more candidates they have: rates of tables "
        "of different size are not to be compared.",
        data={
            "wrong links" if known else "links": {
                "x": x,
                "y": [float(observed[part].mean()) for part in parts],
            },
            "1 - (1 - p)^C": {"x": x, "y": [float(law[part].mean()) for part in parts]},
        },
    )
    return Findings.of(value, [] if finding.unfit else [chart])
