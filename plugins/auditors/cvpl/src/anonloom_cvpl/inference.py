"""What linking tells about the sensitive columns: attribute inference from the best candidates."""

from typing import Any

import numpy as np

from anonloom import AuditInput, Finding, StageContext
from anonloom.findings import FindingBuilder
from anonloom.typing import BoolArray, IntArray
from anonloom_cvpl.configuration import LinkageSetup
from anonloom_cvpl.evidence import Evidence, LinkageTask
from anonloom_linkage.aligned_columns import AlignedColumn, align_columns

#: Records whose values are guessed.
SAMPLED = 2_000
#: A number is guessed right if it is this near, in standard deviations of the original.
NEAR = 0.1


def inference(
    finding: FindingBuilder,
    case: AuditInput,
    setup: LinkageSetup,
    evidence: Evidence,
    context: StageContext,
) -> list[Finding]:
    """Guess sensitive values from the best candidates, and from other people's records.

    What other records of the original tell is no fault of the release: statistics may be learnt
    from it. The gain is what is learnt because the person's own row is in it.
    """
    assert case.original is not None
    release = case.release
    names = [
        name
        for name in case.original.schema.names_with_role("sensitive")
        if name in release.frame.columns
    ]
    linked = np.flatnonzero(evidence.row >= 0)
    if not names or len(linked) < 2:
        return []
    chosen = np.sort(context.rng.choice(linked, min(SAMPLED, len(linked) // 2), replace=False))
    others = np.setdiff1d(np.arange(len(evidence)), chosen)
    strangers = LinkageTask(setup.space, setup.schemes, 0, 0, chosen=chosen, among=others).evidence(
        context
    )
    results = []
    for column in align_columns(case.original, [release], names):
        by_release = _right(column, chosen, 1, evidence.row[chosen])
        by_others = _right(column, chosen, 0, strangers.row)
        about = (f"{len(chosen):,} records", *_nearness(column))
        value, null = float(by_release.mean()), float(by_others.mean())
        gain = by_release.astype(float) - by_others
        error = 1.96 * float(gain.std()) / np.sqrt(len(gain))
        results += [
            finding(f"inference.{column.name}", value,
                    f"Share of the records whose '{column.name}' is guessed right from the most "
                    "similar row of the release.", assumptions=about),
            finding(f"inference_null.{column.name}", null,
                    f"Share whose '{column.name}' is guessed right from the most similar other "
                    "record.", "neither", assumptions=about),
            finding(f"inference_gain.{column.name}", value - null,
                    f"How much better '{column.name}' is guessed because of the release.",
                    interval=(value - null - error, value - null + error), assumptions=about),
        ]  # fmt: skip
    return results


def _right(column: AlignedColumn, records: IntArray, side: int, rows: IntArray) -> BoolArray:
    """Whether the value of each row is that of its record; a row of -1 tells nothing."""
    own = column.sides[0][records]
    guess = column.sides[side][np.maximum(rows, 0)] if len(column.sides[side]) else own * 0
    if column.is_ordered:
        spread = NEAR * _deviation(column)
        right: Any = np.abs(column.lo[own] - column.lo[guess]) <= spread
    else:
        right = own == guess
    # A cell that says nothing covers everything, the right value included.
    return np.asarray(right & (rows >= 0) & ~column.missing[own] & ~column.open[guess])


def _deviation(column: AlignedColumn) -> float:
    values = column.lo[column.sides[0]]
    return float(np.nanstd(values)) if not np.isnan(values).all() else 0.0


def _nearness(column: AlignedColumn) -> tuple[str, ...]:
    if not column.is_ordered:
        return ()
    return (f"right is what is within {NEAR:g} standard deviations",)
