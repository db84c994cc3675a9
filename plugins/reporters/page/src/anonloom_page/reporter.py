"""The reporter `page`: one HTML file per report."""

from pathlib import Path
from typing import Any

import attrs

from anonloom import Reporter

#: Names of the pages.
REPORT, GRID = "report.html", "grid.html"


@attrs.frozen(kw_only=True)
class Page(Reporter):
    """Writes one self-contained HTML page."""

    # What draws pages is imported when one is written: most pipelines that are checked name this
    # reporter, or take it by default.

    def write(self, report: dict[str, Any], folder: Path) -> tuple[str, ...]:
        """Write `report.html`."""
        from anonloom_page.rendering import render_report

        (folder / REPORT).write_bytes(render_report(report))
        return (REPORT,)

    def write_grid(self, report: dict[str, Any], folder: Path) -> tuple[str, ...]:
        """Write `grid.html`."""
        from anonloom_page.rendering import render_grid

        (folder / GRID).write_bytes(render_grid(report))
        return (GRID,)

    def write_audit(self, report: dict[str, Any], folder: Path) -> tuple[str, ...]:
        """Write `report.html`."""
        from anonloom_page.rendering import render_audit

        (folder / REPORT).write_bytes(render_audit(report))
        return (REPORT,)
