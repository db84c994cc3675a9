"""What a kind with a section of its own in a pipeline file derives from."""

from abc import ABC, abstractmethod
from typing import ClassVar, Literal

from anonloom.data._audit_input import AuditInput
from anonloom.data._schema import Schema
from anonloom.findings import Findings
from anonloom.kinds._context import StageContext


class SectionMethod(ABC):
    """Examines a release that was checked and audited and is not written yet.

    A plugin that registers a kind with ``where="section"`` derives the kind's base class from it.
    """

    #: What the figures are about.
    measures: ClassVar[Literal["risk", "utility", "cost"]] = "cost"

    @abstractmethod
    def examine(self, case: AuditInput, context: StageContext) -> Findings:
        """Return what there is to report.

        Raises
        ------
        PrivacyError
            If the release must not be published; nothing is written then.
        """

    def problem(self, schema: Schema) -> str | None:
        """Say what is wrong with using the method on such a table, or None.

        A pipeline file is checked with it before any data are read.
        """
        return None
