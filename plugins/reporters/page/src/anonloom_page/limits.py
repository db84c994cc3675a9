"""How much of a report goes on the page, so that it opens on any machine."""

import attrs

#: A page larger than this is drawn again with less on it.
LARGEST = 1_900_000


@attrs.frozen
class Limits:
    """What is shown in full, in brief, and not at all; the data file always has everything.

    Attributes
    ----------
    full, brief
        Findings of one auditor with their meaning; further ones as a name and a value.
    audits, charts, columns, runs, figures
        The most of each.
    manifest
        Characters of the manifest.
    """

    full: int = 120
    brief: int = 2000
    audits: int = 60
    charts: int = 24
    columns: int = 300
    runs: int = 1000
    figures: int = 60
    manifest: int = 120_000

    def half(self) -> "Limits":
        """Return tighter limits."""
        return Limits(*(max(1, limit // 2) for limit in attrs.astuple(self)))
