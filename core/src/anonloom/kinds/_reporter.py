"""Reporter: draws what findings hold, and computes nothing."""

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any


class Reporter(ABC):
    """Writes a report for people.

    Promise: it writes only into the folder that it is given, needs no network, and shows nothing
    that is not in the report's data.
    """

    @abstractmethod
    def write(self, report: dict[str, Any], folder: Path) -> tuple[str, ...]:
        """Write the report of one run.

        Parameters
        ----------
        report
            The content of `report.json`.

        Returns
        -------
        tuple of str
            Names of the files written.
        """

    def write_grid(self, report: dict[str, Any], folder: Path) -> tuple[str, ...]:
        """Write the report of an experiment; nothing by default."""
        return ()

    def write_audit(self, report: dict[str, Any], folder: Path) -> tuple[str, ...]:
        """Write the report of an audit of one release or several; nothing by default."""
        return ()
