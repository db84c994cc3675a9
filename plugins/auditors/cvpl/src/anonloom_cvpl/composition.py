"""Several releases of one population: what they allow together (section 10.10)."""

from collections.abc import Sequence

import numpy as np

from anonloom import AuditInput, Finding, StageContext
from anonloom.findings import FindingBuilder
from anonloom_cvpl.attacker import rows_behind
from anonloom_cvpl.configuration import LinkageSetup
from anonloom_cvpl.evidence import Evidence


def composition(
    finding: FindingBuilder,
    case: AuditInput,
    setup: LinkageSetup,
    evidence: Evidence,
    sides: Sequence[int],
    threshold: float,
    context: StageContext,
) -> list[Finding]:
    """Link every record to every release, and put the links together.

    Parameters
    ----------
    sides
        Numbers of the other releases among the tables of the columns.
    """
    if not case.other_releases:
        return []
    assert case.original is not None
    results = [evidence]
    for side, release in zip(sides, case.other_releases, strict=True):
        owner = release.rows_in(case.original)
        truth = None if owner is None else rows_behind(owner, len(evidence))
        results.append(setup.task(published=side).evidence(context, truth))
    linked = np.stack([item.best >= threshold for item in results])
    known = all(item.has_true_row.any() for item in results)
    missed = np.prod(np.stack([1 - np.nan_to_num(item.hit) for item in results]), axis=0)
    about = (
        f"{len(results)} releases of the same people",
        "blocks and space are fitted to the first",
    )
    lacking = "" if known else "nobody says whose the rows of every release are"
    return [
        finding("releases", len(results), "Releases that were linked together.", "neither"),
        finding("linkage_rate_any", float(linked.any(axis=0).mean()),
                "Share of the records that are linked in at least one release.", assumptions=about),
        finding("linkage_rate_every", float(linked.all(axis=0).mean()),
                "Share of the records that are linked in every release.", assumptions=about),
        finding("precision_any", float(1 - missed.mean()) if known else None,
                "Share of the records whose own row is the most similar in at least one release.",
                lacking=lacking, assumptions=(*about, "ties are drawn in each release apart")),
    ]  # fmt: skip
