"""Auditor: what a release reveals, and what it is still good for."""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

import attrs

from anonloom._representation import short_repr
from anonloom.data._audit_input import AuditInput, Need
from anonloom.data._schema import Schema
from anonloom.findings import Findings
from anonloom.kinds._context import StageContext

_SEED = re.compile(r"(^|, )seed=[^,]*")


@short_repr
@attrs.frozen(eq=False)
class GridRow:
    """One run of an experiment.

    Attributes
    ----------
    label, parameters
        What it is called, and what was varied.
    findings
        What this auditor found, charts included: a risk surface is made of the curves of all runs.
        Results that an earlier version left have no charts.
    others
        What every auditor of the run found, by its id.
    """

    label: str
    parameters: dict[str, Any]
    findings: Findings
    others: Mapping[str, Findings] = attrs.field(factory=dict, repr=False)

    @property
    def setting(self) -> str:
        """The label without the seed: runs that share it repeat each other."""
        return _SEED.sub("", self.label) or self.label


class Auditor(ABC):
    """Judges a release.

    Promise: an auditor that measures risk finds a planted risk and does not blame an independent
    table; every finding says what it means and under which assumptions.
    """

    #: What the figures are about.
    measures: ClassVar[Literal["risk", "utility", "cost"]]
    #: Evidence without which the audit makes no sense; checked before the run.
    needs: ClassVar[frozenset[Need]] = frozenset()
    #: Whether what it finds may name cells of the release. A run publishes these beside it; an
    #: audit keeps such findings private: that release is perhaps never handed over.
    names_cells: ClassVar[bool] = True

    @abstractmethod
    def audit(self, case: AuditInput, context: StageContext) -> Findings:
        """Return what was found; `not assessable` where the evidence does not suffice."""

    def problem(self, schema: Schema) -> str | None:
        """Say what is wrong with using the method on such a table, or None.

        A pipeline file is checked with it before any data are read.
        """
        return None

    def summarize(self, grid: Sequence[GridRow]) -> Findings:
        """Return what a whole experiment shows; nothing by default."""
        return Findings()
