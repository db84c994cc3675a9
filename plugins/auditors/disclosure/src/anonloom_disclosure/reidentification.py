"""Who could be found: prosecutor, journalist and marketer risk (El Emam 2013, chapter 16)."""

import numpy as np

from anonloom import AuditInput, Chart, Finding
from anonloom.findings import FindingBuilder, PrivateRows, Status
from anonloom_disclosure.counting import PublishedClasses
from anonloom_disclosure.population import Population

#: How many of the most exposed rows the steward is shown.
SHOWN = 1000

KNOWS = "the attacker knows every quasi-identifier of the person exactly"
TARGET = "the attacker knows that the person is in the release"


def reidentification(
    case: AuditInput,
    published: PublishedClasses,
    population: Population,
    threshold: float,
    counting: tuple[str, ...],
) -> list[Finding]:
    """Figures of the three attackers."""
    status: Status = "measured"
    if case.release.origin is None:
        status = "bound"
        counting = (*counting, "every row is taken for a person's, as its origin is not known")
    sizes, unit = published.sizes, published.unit
    risk = 1.0 / sizes
    at_risk = float(sizes[risk > threshold].sum()) / published.total
    classes = FindingBuilder((*counting, "suppressed records are in no class"))
    prosecutor = FindingBuilder((KNOWS, TARGET, *counting))
    marketer = FindingBuilder((KNOWS, "the register holds everybody in the release", *counting))
    return [
        classes("k", int(sizes.min()),
                "Every combination of published quasi-identifiers belongs to this many "
                f"{unit} or more.", "higher", status=status, unit=unit),
        prosecutor("prosecutor_max", float(risk.max()),
                   "Chance to pick the right record for the most exposed person, knowing that they "
                   "are in the release.", status=status, key=True),
        prosecutor("prosecutor_average", len(published) / published.total,
                   "Chance to pick the right record for an average person, knowing that they are "
                   "in the release.", status=status),
        prosecutor("records_at_risk", at_risk,
                   f"Share of the {unit} whose record could be picked with a chance above "
                   f"{threshold:g}.", status=status, assumptions=(f"threshold {threshold:g}",),
                   key=True),
        *_journalist(published, population, counting, status),
        marketer("marketer", len(published) / published.total,
                 f"Share of the {unit} that somebody would get right who links every record of the "
                 "release to a register.", status=status),
    ]  # fmt: skip


def _journalist(
    published: PublishedClasses, population: Population, counting: tuple[str, ...], status: Status
) -> list[Finding]:
    if not population.is_sample:
        status = "bound"
    journalist = FindingBuilder(
        (
            KNOWS,
            "the attacker does not know who is in the release",
            population.known,
            *counting,
        )
    )
    risk = population.risk(population.sizes)
    results = [
        journalist("journalist_max", float(risk.max()),
                   "Chance to pick the right person for the most exposed record, not knowing who "
                   "is in the release.", status=status),
        journalist("journalist_average", float(risk @ published.sizes) / published.total,
                   "Chance to pick the right person for an average record, not knowing who is in "
                   "the release.", status=status),
    ]  # fmt: skip
    before = population.before
    if before is None or not len(before):
        return results
    earlier = population.risk(before.sizes)
    return [
        *results,
        journalist("journalist_max_before", float(earlier.max()),
                   "The same as journalist_max, had no class been sampled.", status=status),
        journalist("journalist_average_before", float(earlier @ before.sizes) / before.total,
                   "The same as journalist_average, had no class been sampled.", status=status),
    ]  # fmt: skip


def exposed_rows(
    case: AuditInput, published: PublishedClasses, threshold: float
) -> list[PrivateRows]:
    """Rows of the original whose risk is above the threshold, the most exposed first."""
    rows = case.release.rows_in(case.original) if case.original is not None else None
    if rows is None:
        return []
    kept = np.flatnonzero(published.label >= 0)
    risk = 1.0 / published.sizes[published.label[kept]]
    over = np.flatnonzero(risk > threshold)
    over = over[np.argsort(-risk[over], kind="stable")][:SHOWN]
    if not len(over):
        return []
    return [
        PrivateRows(
            name="most_exposed",
            rows=rows[kept[over]],
            scores=risk[over],
            meaning=f"Rows that could be picked with a chance above {threshold:g}.",
        )
    ]


def exposure_chart(published: PublishedClasses) -> Chart:
    """How many records are in classes of which size."""
    edges = np.array([1, 2, 3, 5, 10, 20, 50, 100, np.inf])
    counts = np.histogram(published.sizes, edges, weights=published.sizes)[0]
    labels = ["1", "2", "3-4", "5-9", "10-19", "20-49", "50-99", "100 or more"]
    return Chart(
        name="exposure",
        kind="bars",
        title="How well hidden",
        x=f"{published.unit} with the same published quasi-identifiers",
        y=f"share of the {published.unit}",
        meaning="The more there are with the same cells, the less each can be told apart.",
        data={"labels": labels, "share": (counts / published.total).tolist()},
    )
