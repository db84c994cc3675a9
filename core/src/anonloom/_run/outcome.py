"""What a run came to, before and after it is written."""

from pathlib import Path
from typing import Any

import attrs

from anonloom._representation import short_repr
from anonloom._run.check import Verdict
from anonloom._run.stages import PipelineStages
from anonloom.data._release import Release
from anonloom.data._table import Table
from anonloom.findings import Findings
from anonloom.kinds._collection import Collection


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
    stages: PipelineStages
    collection: Collection
    verdicts: tuple[Verdict, ...]
    findings: dict[str, Findings]
    report: dict[str, Any]
    private: dict[str, Any] = attrs.field(repr=False)
    folder: Path | None = None
