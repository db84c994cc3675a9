"""What lies in a folder: files and folders, and nothing that leads elsewhere."""

import os
import stat
from pathlib import Path

from anonloom.errors import IntegrityError


def contents(top: Path) -> tuple[list[str], list[str]]:
    """Return the names of all files and of all folders below a folder, with `/` between parts.

    Raises
    ------
    IntegrityError
        When something is a link, a pipe or a device: what it leads to can change unnoticed.
    """
    files: list[str] = []
    folders: list[str] = []
    waiting = [top]
    while waiting:
        folder = waiting.pop()
        for path in sorted(folder.iterdir()):
            name = path.relative_to(top).as_posix()
            mode = os.lstat(path).st_mode
            if stat.S_ISDIR(mode):
                folders.append(name)
                waiting.append(path)
            elif stat.S_ISREG(mode):
                files.append(name)
            else:
                what = "a symbolic link" if stat.S_ISLNK(mode) else "no ordinary file"
                raise IntegrityError(f"'{name}' is {what}")
    return sorted(files), sorted(folders)
