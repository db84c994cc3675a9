"""What a run came to, before and after it is written."""

from pathlib import Path
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom._representation import short_repr
from anonloom.data._release import Release
from anonloom.data._table import Table
from anonloom.findings import Findings
from anonloom.kinds._collection import Collection
from anonloom.kinds._privacy import PrivacyModel


@short_repr
@attrs.frozen(eq=False)
class ModelVerdict:
    """What the check of a release found for one model.

    Attributes
    ----------
    classes, rows
        How many published classes and rows were judged.
    failing
        Rows of the release that lie in a refused class.
    failing_classes
        How many classes are refused.
    would_pass
        The parameter that would pass, in words.
    """

    name: str
    model: PrivacyModel
    classes: int
    rows: int
    failing: NDArray[np.bool_]
    failing_classes: int
    would_pass: str

    @property
    def holds(self) -> bool:
        """Whether the model holds."""
        return self.failing_classes == 0


@short_repr
@attrs.frozen(eq=False)
class Outcome:
    """A checked release with all that was found; nothing here is written yet.

    Attributes
    ----------
    release
        The published frame; its rows are already shuffled.
    collection
        What the collector returned, before the check withheld anything.
    findings
        What stages and auditors found, by id.
    report
        The content of `report.json`.
    private
        What only the steward may see: seed, salt, timings, digest of the input.
    folder
        Where the outputs are, once they are written.
    """

    run_id: str
    release: Release
    original: Table
    collection: Collection
    verdicts: tuple[ModelVerdict, ...]
    findings: dict[str, Findings]
    report: dict[str, Any]
    private: dict[str, Any] = attrs.field(repr=False)
    folder: Path | None = None
