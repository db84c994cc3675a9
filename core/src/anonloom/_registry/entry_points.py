"""The entry points of installed distributions, found by one look at their folders.

`importlib_metadata` finds the same and is asked wherever something else than folders holds
distributions. But importing it takes longer than starting Python, and every command would pay.
"""

import os
import re
import sys
from collections.abc import Iterable, Iterator
from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol

    class Point(Protocol):
        """What is needed of an entry point: ours, or that of `importlib_metadata`."""

        @property
        def name(self) -> str: ...
        @property
        def value(self) -> str: ...
        @property
        def dist(self) -> Any: ...
        def load(self) -> Any: ...


_REFERENCE = re.compile(r"([\w.]+)\s*(?::\s*([\w.]+)\s*)?(?:\[.*\]\s*)?")
_ENDINGS = (".dist-info", ".egg-info")


class NotOnlyFolders(Exception):
    """Distributions may be where a look at folders does not find them."""


class Distribution:
    """An installed distribution, known by the folder of its metadata."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def read_text(self, filename: str) -> str | None:
        """Return the text of a file of the metadata; None if there is none."""
        try:
            # pathlib takes longer to import than all this to run.
            with open(f"{self._folder}/{filename}", encoding="utf-8") as file:  # noqa: PTH123  # as said
                return file.read()
        except (OSError, UnicodeError):
            return None

    @property
    def name(self) -> str:
        """The distribution's name."""
        return str(self._whole().name)

    @property
    def version(self) -> str:
        """The distribution's version."""
        return str(self._whole().version)

    def _whole(self) -> "Any":
        from pathlib import Path

        import importlib_metadata

        return importlib_metadata.Distribution.at(Path(self._folder))


class EntryPoint:
    """Where a distribution says that something of it can be found."""

    def __init__(self, name: str, value: str, dist: Distribution) -> None:
        self.name, self.value, self.dist = name, value, dist

    def load(self) -> object:
        """Import and return what the entry point names."""
        reference = _REFERENCE.fullmatch(self.value)
        if reference is None:
            # Says what is wrong with it, in words that others know.
            import importlib_metadata

            return importlib_metadata.EntryPoint(self.name, self.value, "anonloom").load()
        result: object = import_module(reference[1])
        for name in filter(None, (reference[2] or "").split(".")):
            result = getattr(result, name)
        return result


def installed_entry_points(group: str) -> "Iterable[Point]":
    """Return the entry points of a group, of all distributions that can be imported from."""
    try:
        return list(_entry_points_in_folders(group))
    except NotOnlyFolders:
        import importlib_metadata

        return importlib_metadata.entry_points(group=group)


def _entry_points_in_folders(group: str) -> Iterator[EntryPoint]:
    for folder in _metadata_folders():
        distribution = Distribution(folder)
        text = distribution.read_text("entry_points.txt")
        if text is not None and f"[{group}]" in text:
            yield from (
                EntryPoint(name, value, distribution) for name, value in _lines_of(group, text)
            )


def _lines_of(group: str, text: str) -> Iterator[tuple[str, str]]:
    """Return name and value of every entry of a group."""
    within = False
    for line in map(str.strip, text.splitlines()):
        if line.startswith("[") and line.endswith("]"):
            within = line[1:-1] == group
        elif within and "=" in line and not line.startswith("#"):
            name, _, value = line.partition("=")
            yield name.strip(), value.strip()


def _metadata_folders() -> list[str]:
    """Return the folder of metadata of every distribution, the first of each name in `sys.path`.

    Raises
    ------
    NotOnlyFolders
        If there are other places than folders to look at, or other finders than Python's own.
    """
    for finder in sys.meta_path:
        # importlib_metadata, once imported, stands in for Python's own.
        if hasattr(finder, "find_distributions") and not finder.__module__.startswith(
            ("_frozen_importlib", "importlib_metadata")
        ):
            raise NotOnlyFolders
    by_name: dict[str, list[str]] = {}
    for place in sys.path:
        place = place or "."
        try:
            children = os.listdir(place)  # noqa: PTH208  # no pathlib, as above
        except FileNotFoundError:
            continue
        except OSError:
            # A zip file, perhaps.
            raise NotOnlyFolders from None
        if place.lower().endswith(".egg"):
            raise NotOnlyFolders
        for child in children:
            if child.lower().endswith(_ENDINGS):
                name = child.rpartition(".")[0].partition("-")[0]
                plain = re.sub("[-_.]+", "-", name).lower()
                by_name.setdefault(plain, []).append(f"{place}/{child}")
    return [_first_whole(folders) for folders in by_name.values()]


def _first_whole(folders: list[str]) -> str:
    """Return the first folder that holds metadata: an uninstallation may leave empty ones."""
    if len(folders) == 1:
        return folders[0]
    return next(filter(_holds_metadata, folders), folders[0])


def _holds_metadata(folder: str) -> bool:
    # The oldest form is a file and no folder.
    paths = (f"{folder}/METADATA", f"{folder}/PKG-INFO", folder)
    return any(map(os.path.isfile, paths))
