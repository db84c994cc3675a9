"""The releases that are audited: read, named, and placed beside the original."""

import re
from collections.abc import Sequence
from pathlib import Path

import attrs
import pandas as pd

from anonloom import short_repr
from anonloom_runner.external import read_foreign_table


@short_repr
@attrs.frozen
class ForeignRelease:
    """A release as it was read.

    Attributes
    ----------
    name
        What reports call it: the least of its path that tells it from the others.
    hidden
        By column, cells that were changed when they were read.
    """

    name: str
    path: Path
    frame: pd.DataFrame
    hidden: dict[str, int]

    @property
    def file_name(self) -> str:
        """The name as a part of names of files."""
        name = self.name.removesuffix(self.path.suffix)
        return re.sub(r"[^\w.-]+", "-", name).strip(".-") or "release"


def read_releases(paths: Sequence[str]) -> list[ForeignRelease]:
    """Read all releases.

    Raises
    ------
    DataError
        When one cannot be read.
    """
    results = []
    for path, name in zip(map(Path, paths), _distinct_names(paths), strict=True):
        frame, hidden = read_foreign_table(path)
        results.append(ForeignRelease(name, path, frame, hidden))
    return results


def _distinct_names(paths: Sequence[str]) -> list[str]:
    """Name every path by its last parts, as few as tell all apart; no path leaves the machine."""
    parts = [Path(path).parts for path in paths]
    for length in range(1, max(map(len, parts)) + 1):
        names = ["/".join(part[-length:]) for part in parts]
        if len(set(names)) == len(names):
            return names
    # The same file twice.
    return [f"{index}. {part[-1]}" for index, part in enumerate(parts, start=1)]
