"""The runs of an experiment over the paper's protections, found by the names of their cases."""

import re
from collections.abc import Iterable, Sequence

import attrs
import numpy as np

from anonloom import Findings
from anonloom.kinds import GridRow

_FAMILY = re.compile(r"^(k-anonymity|perturbation|synthetic)\b")

#: The protections that stand for their family where the paper does not say which it was.
TYPICAL_K = "k-anonymity, k = 10"
TYPICAL = "perturbation, medium"


@attrs.frozen
class Runs:
    """Runs of the paper's protections, found by the names of their cases."""

    rows: tuple[GridRow, ...]

    @classmethod
    def of(cls, grid: Sequence[GridRow]) -> "Runs":
        """Keep the runs of the paper's protections."""
        return cls(tuple(row for row in grid if _FAMILY.match(_case(row))))

    @property
    def cases(self) -> list[str]:
        """Names of the protections."""
        return list(dict.fromkeys(_case(row) for row in self.rows))

    def mean(self, figure: str, case: str, outliers: float | None = 0.0) -> float | None:
        """Mean of a figure over the seeds of a protection; None when no run has it."""
        values = [
            value
            for row in self.rows
            if _case(row) == case and (outliers is None or _outliers(row) == outliers)
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
        """Mean over all runs."""
        values = [value_of(row, figure) for row in self.rows]
        known = [value for value in values if value is not None]
        return float(np.mean(known)) if known else None

    def family(self, name: str) -> list[str]:
        """Protections of a family."""
        return [case for case in self.cases if case.startswith(name)]


def _case(row: GridRow) -> str:
    return str(row.parameters.get("case", row.label))


def _outliers(row: GridRow) -> float:
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


LR, TLR, P1 = "cvpl:linkage_rate", "cvpl:true_link_rate", "cvpl:precision_at_1"
NULL, NOT_QUASI = "cvpl:linkage_null", "cvpl:contribution_not_quasi"
FS, FS_P1 = "fellegi-sunter:linkage_rate", "fellegi-sunter:precision_at_1"
DCR, NNDR = "distance:dcr", "distance:nndr"
MARGINALS, CORRELATION = "utility:marginals_preserved", "utility:correlation_preserved"
