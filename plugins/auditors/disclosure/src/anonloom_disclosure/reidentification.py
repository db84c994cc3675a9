"""Who could be found: prosecutor, journalist and marketer risk (El Emam 2013, chapter 16)."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anonloom.data.case import Case
from anonloom.data.findings import Chart, Finding, PrivateRows, Status
from anonloom.data.release import Release
from anonloom_disclosure.counting import Published, class_sizes, persons_of

#: How many of the most exposed rows the steward is shown.
SHOWN = 1000

KNOWS = "the attacker knows every quasi-identifier of the person exactly"
TARGET = "the attacker knows that the person is in the release"


def population_sizes(case: Case, published: Published) -> NDArray[np.int64] | None:
    """Size of every published class before sampling; None when there was no sampling."""
    before = case.before_sampling
    if before is None:
        return None
    names = list(case.release.schema.quasi)
    both = pd.concat([before.frame[names], case.release.frame[names]], ignore_index=True)
    groups = Release(schema=case.release.schema, frame=both).groups()
    earlier, later = groups[: len(before)], groups[len(before) :]
    # Classes of the release, found again among those before sampling.
    of_group = np.full(int(groups.max(initial=-1)) + 1, -1, np.int64)
    kept = published.label >= 0
    of_group[later[kept]] = published.label[kept]
    sizes = class_sizes(of_group[earlier], persons_of(case, before))
    sizes = np.r_[sizes, np.zeros(len(published) - len(sizes), np.int64)]
    return np.maximum(sizes, published.sizes)


def reidentification(
    case: Case, published: Published, threshold: float, counting: tuple[str, ...]
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
        *_journalist(case, published, counting, status),
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
    case: Case, published: Published, counting: tuple[str, ...], status: Status
) -> list[Finding]:
    population = population_sizes(case, published)
    if population is None:
        population, status = published.sizes, "bound"
        known = "no population beyond the release is known: the same as the prosecutor's"
    else:
        known = "the population is the table before sampling"
    risk = 1.0 / population
    assumed = (KNOWS, "the attacker does not know who is in the release", known, *counting)
    return [
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


def exposed_rows(case: Case, published: Published, threshold: float) -> list[PrivateRows]:
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
