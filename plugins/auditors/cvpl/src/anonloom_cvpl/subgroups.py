"""Who is linked: the set function mu over subgroups (27), and the rate within each.

Subgroups are the values of a category and the quarters of a number. They are named by their rank,
since a report shows no value of the table: `sex, value 1` is the most frequent one.
"""

from collections.abc import Iterator, Sequence

import attrs
import numpy as np

from anonloom import Chart, Findings
from anonloom.findings import FindingBuilder
from anonloom.typing import BoolArray, IntArray
from anonloom_cvpl.evidence import Evidence
from anonloom_linkage.aligned_columns import AlignedColumn

#: Values of a category that are subgroups, the most frequent ones.
MOST_VALUES = 8
#: Smaller subgroups are left out: their rates say little, and their counts too much.
LEAST_RECORDS = 30
QUARTERS = ("lowest", "second", "third", "highest")
HEAD = ("subgroup", "records", "mu", "linked", "by chance", "right")


@attrs.frozen(eq=False)
class Subgroup:
    """Some records of the original."""

    words: str
    members: BoolArray = attrs.field(repr=False)


@attrs.frozen(kw_only=True)
class _Row:
    """What is found of one subgroup; `right` is -1 where nobody knows."""

    words: str
    records: int
    mu: float
    linked: float
    by_chance: float
    right: float

    @property
    def cells(self) -> list[str | float | None]:
        """The row of a table."""
        right = self.right if self.right >= 0 else None
        return [self.words, self.records, self.mu, self.linked, self.by_chance, right]


def subgroups(columns: Sequence[AlignedColumn]) -> Iterator[Subgroup]:
    """Divide the records by every column; small subgroups are left out."""
    for column in columns:
        for group in _by_place(column) if column.is_ordered else _by_value(column):
            if group.members.sum() >= LEAST_RECORDS:
                yield group


def _by_place(column: AlignedColumn) -> Iterator[Subgroup]:
    places = column.lo[column.sides[0]]
    known = places[~np.isnan(places)]
    if not len(known):
        return
    quarter = np.searchsorted(np.quantile(known, [0.25, 0.5, 0.75]), places, side="left")
    for number, words in enumerate(QUARTERS):
        yield Subgroup(f"{column.name}, {words} quarter", (quarter == number) & ~np.isnan(places))


def _by_value(column: AlignedColumn) -> Iterator[Subgroup]:
    cells = column.sides[0]
    counts = np.bincount(cells, minlength=len(column))
    order = np.argsort(-counts, kind="stable")[:MOST_VALUES]
    for rank, cell in enumerate(order, start=1):
        yield Subgroup(f"{column.name}, value {rank}", cells == cell)


def subgroup_rates(
    finding: FindingBuilder,
    columns: Sequence[AlignedColumn],
    evidence: Evidence,
    null_evidence: Evidence,
    null_people: IntArray,
    threshold: float,
) -> Findings:
    """Say how often each subgroup is linked, by chance, and rightly where the truth is known.

    Parameters
    ----------
    null_people
        The records that the null is of.
    """
    linked, chance = evidence.best >= threshold, null_evidence.wrong >= threshold
    rows: list[_Row] = []
    for group in subgroups(columns):
        own = group.members
        matched = own & evidence.has_true_row
        of_null = chance[own[null_people]]
        rows.append(
            _Row(
                words=group.words,
                records=int(own.sum()),
                mu=float((linked & own).sum()) / len(linked),
                linked=float(linked[own].mean()),
                by_chance=float(of_null.mean()) if len(of_null) else 0.0,
                right=float(evidence.hit[matched].mean()) if matched.any() else -1.0,
            )
        )
    if not rows:
        return Findings()
    worst, found = max(rows, key=lambda row: row.linked), max(rows, key=lambda row: row.right)
    about = (f"{len(rows)} subgroups of at least {LEAST_RECORDS} records",)
    results = [
        finding("linkage_rate_worst_subgroup", worst.linked,
                f"The highest linkage rate of a subgroup: {worst.words}.", assumptions=about)
    ]  # fmt: skip
    if found.right >= 0:
        results.append(
            finding("precision_worst_subgroup", found.right,
                    f"The highest share of right best candidates in a subgroup: {found.words}.",
                    assumptions=about)
        )  # fmt: skip
    chart = Chart(
        name="subgroups",
        kind="table",
        title="Who is linked",
        meaning="mu (27) is the share of all records that is linked and in the subgroup; over the "
        "subgroups of one column it adds up to the linkage rate. Values are ranked by frequency.",
        data={
            "columns": list(HEAD),
            "rows": [row.cells for row in sorted(rows, key=lambda row: -row.linked)],
        },
    )
    return Findings.of(results, [] if finding.unfit else [chart])
