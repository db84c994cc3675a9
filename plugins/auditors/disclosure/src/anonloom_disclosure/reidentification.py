"""Who could be found: prosecutor, journalist and marketer risk (El Emam 2013, chapter 16)."""

import numpy as np

from anonloom import AuditInput, Chart, Finding
from anonloom.findings import PrivateRows, Status
from anonloom_disclosure.counting import Published
from anonloom_disclosure.population import Population

#: How many of the most exposed rows the steward is shown.
SHOWN = 1000

KNOWS = "the attacker knows every quasi-identifier of the person exactly"
TARGET = "the attacker knows that the person is in the release"


def reidentification(
    case: AuditInput,
    published: Published,
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
    k = Finding(
        name="k",
        value=int(sizes.min()),
        better="higher",
        status=status,
        meaning=f"Every combination of published quasi-identifiers belongs to this many {unit} "
        "or more.",
        assumptions=(*counting, "suppressed records are in no class"),
        unit=unit,
    )
    prosecutor = (KNOWS, TARGET, *counting)
    return [
        k,
        _risk(
            "prosecutor_max",
            float(risk.max()),
            "Chance to pick the right record for the most exposed person, knowing that they are "
            "in the release.",
            prosecutor,
            status,
        ),
        _risk(
            "prosecutor_average",
            len(published) / published.total,
            "Chance to pick the right record for an average person, knowing that they are in the "
            "release.",
            prosecutor,
            status,
        ),
        _risk(
            "records_at_risk",
            at_risk,
            f"Share of the {unit} whose record could be picked with a chance above {threshold:g}.",
            (*prosecutor, f"threshold {threshold:g}"),
            status,
        ),
        *_journalist(published, population, counting, status),
        _risk(
            "marketer",
            len(published) / published.total,
            f"Share of the {unit} that somebody would get right who links every record of the "
            "release to a register.",
            (KNOWS, "the register holds everybody in the release", *counting),
            status,
        ),
    ]


def _journalist(
    published: Published, population: Population, counting: tuple[str, ...], status: Status
) -> list[Finding]:
    if not population.sampled:
        status = "bound"
    assumed = (
        KNOWS,
        "the attacker does not know who is in the release",
        population.known,
        *counting,
    )
    risk = population.risk(population.sizes)
    results = [
        _risk(
            "journalist_max",
            float(risk.max()),
            "Chance to pick the right person for the most exposed record, not knowing who is in "
            "the release.",
            assumed,
            status,
        ),
        _risk(
            "journalist_average",
            float(risk @ published.sizes) / published.total,
            "Chance to pick the right person for an average record, not knowing who is in the "
            "release.",
            assumed,
            status,
        ),
    ]
    before = population.before
    if before is None or not len(before):
        return results
    earlier = population.risk(before.sizes)
    return [
        *results,
        _risk(
            "journalist_max_before",
            float(earlier.max()),
            "The same as journalist_max, had no class been sampled.",
            assumed,
            status,
        ),
        _risk(
            "journalist_average_before",
            float(earlier @ before.sizes) / before.total,
            "The same as journalist_average, had no class been sampled.",
            assumed,
            status,
        ),
    ]


def _risk(
    name: str, value: float, meaning: str, assumptions: tuple[str, ...], status: Status
) -> Finding:
    return Finding(
        name=name,
        value=value,
        better="lower",
        status=status,
        meaning=meaning,
        assumptions=assumptions,
    )


def exposed_rows(case: AuditInput, published: Published, threshold: float) -> list[PrivateRows]:
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


def exposure_chart(published: Published) -> Chart:
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
