"""The runs of an experiment over the paper's protections, found by the names of their cases."""

import re
from collections.abc import Iterable, Sequence

import attrs
import numpy as np

from anonloom import Findings
from anonloom.kinds import GridRow

_FAMILY = re.compile(r"^(k-anonymity|perturbation|synthetic|times)\b")

#: The protections that stand for their family where the paper does not say which it was. What it
#: says of outliers (0.149) is its rate at k = 10 and above; of Tables 21 to 26 it says nothing.
TYPICAL_K = "k-anonymity, k = 10"
TYPICAL = "perturbation, medium"

#: What `times.yaml` does to times: other readings of the paper's time rounding.
TIMES = (
    "times as they are",
    "times to 6 hours",
    "times to days",
    "times to months",
    "times as a quasi-identifier",
)

LR, TLR, P1 = "cvpl:linkage_rate", "cvpl:true_link_rate", "cvpl:precision_at_1"
NULL, NOT_QUASI = "cvpl:linkage_null", "cvpl:contribution_not_quasi"
#: The rate at the lowest similarity of the declared range, 0.70.
LR_LOWEST = "cvpl:linkage_rate_worst"
CONTRIBUTION = "cvpl:contribution."
FS, FS_P1 = "fellegi-sunter:linkage_rate", "fellegi-sunter:precision_at_1"
DCR, NNDR = "distance:dcr", "distance:nndr"
CLOSER, CLOSER_EXCESS = "distance:closer_to_train_share", "distance:closer_to_train_excess"
MARGINALS, CORRELATION = "utility:marginals_preserved", "utility:correlation_preserved"
ACCURACY, DISTANCES = "utility:accuracy_preserved", "utility:distances_preserved"
GCP = "utility:gcp"
VARIANTS, BLOCKS = "cvpl-variants:", "cvpl-variants:blocks."

#: The proxies of Table 11, in its order.
PROXIES = {
    "correlations": CORRELATION,
    "marginals": MARGINALS,
    "accuracy": ACCURACY,
    "distances": DISTANCES,
}
#: The ladder of section 8.11: audits of `ablations.yaml`, from all keys to age and gender.
LADDER = ("all-keys", "without-level-2", "without-region")

#: The figures that tables and claims show: of all protections, and of one only.
_OF_ALL = frozenset(
    {LR, TLR, P1, NULL, NOT_QUASI, LR_LOWEST, FS, FS_P1, DCR, NNDR, CLOSER, CLOSER_EXCESS, GCP}
    | set(PROXIES.values())
)
_OF_ONE = {
    TYPICAL: re.compile(rf"{VARIANTS}|({'|'.join(LADDER)}):linkage_rate$"),
    TYPICAL_K: re.compile(re.escape(BLOCKS)),
}


def is_used(case: str, figure: str) -> bool:
    """Whether a table or a claim shows a figure of a protection."""
    if figure in _OF_ALL or figure.startswith(CONTRIBUTION):
        return True
    return case in _OF_ONE and _OF_ONE[case].match(figure) is not None


@attrs.frozen
class Runs:
    """Runs of the paper's protections, found by the names of their cases."""

    rows: tuple[GridRow, ...]

    @classmethod
    def of(cls, grid: Sequence[GridRow]) -> "Runs":
        """Keep the runs of the paper's protections."""
        return cls(tuple(row for row in grid if _FAMILY.match(case_of(row))))

    @property
    def cases(self) -> list[str]:
        """Names of the protections, without other readings of them."""
        names = dict.fromkeys(case_of(row) for row in self.rows)
        return [name for name in names if not name.startswith(TIMES)]

    def mean(self, figure: str, case: str, outliers: float | None = 0.0) -> float | None:
        """Mean of a figure over the seeds of a protection; None when no run has it."""
        values = [
            value
            for row in self.rows
            if case_of(row) == case and (outliers is None or outliers_of(row) == outliers)
            for value in [value_of(row, figure)]
            if value is not None
        ]
        return float(np.mean(values)) if values else None

    def over(self, figure: str, cases: Iterable[str], outliers: float = 0.0) -> float | None:
        """Mean over several protections."""
        values = [self.mean(figure, case, outliers) for case in cases]
        known = [value for value in values if value is not None]
        return float(np.mean(known)) if known else None

    def everywhere(self, figure: str) -> float | None:
        """Mean over all runs of the protections."""
        values = [value_of(row, figure) for row in self.rows if not case_of(row).startswith(TIMES)]
        known = [value for value in values if value is not None]
        return float(np.mean(known)) if known else None

    def family(self, name: str) -> list[str]:
        """Protections of a family, or one reading of family A."""
        names = dict.fromkeys(case_of(row) for row in self.rows)
        return [case for case in names if case.startswith(name)]

    def by_k(self, name: str = "k-anonymity") -> dict[int, str]:
        """Protections of a family by their k, rising."""
        return dict(sorted((int(case.split("=")[1]), case) for case in self.family(name)))


def case_of(row: GridRow) -> str:
    """Name of a run's protection; a k that is varied apart belongs to it."""
    case = str(row.parameters.get("case", row.label))
    varied = [value for path, value in row.parameters.items() if path.endswith("k-anonymity.k")]
    return f"{case}, k = {varied[0]}" if varied else case


def outliers_of(row: GridRow) -> float:
    """Share of outliers of a run."""
    for path, value in row.parameters.items():
        if path.endswith("outliers"):
            return float(value)
    return 0.0


def value_of(row: GridRow, figure: str) -> float | None:
    """Value of `auditor:finding`, of whichever auditor of the run has it."""
    auditor, _, name = figure.partition(":")
    finding = row.others.get(auditor, Findings()).get(name)
    if finding is None or not finding.assessable:
        return None
    return float(finding.value)  # type: ignore[arg-type]  # it is assessable
