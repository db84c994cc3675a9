"""What lies in a folder: files and folders, and nothing that leads elsewhere.

Whoever changes a folder chooses the names in it: messages show them as Python writes a text, so
that none can pass for a line of ours.
"""

import hashlib
import os
import stat
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from anonloom.errors import IntegrityError
from anonloom_seals.listing import Entry

__all__ = ["compare", "contents", "entry_of", "read", "refuse_sealed"]


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
                raise IntegrityError(f"{name!r} is {what}")
    return sorted(files), sorted(folders)


def refuse_sealed(public: Path, names: Iterable[str]) -> None:
    """Refuse to seal a folder twice.

    Raises
    ------
    IntegrityError
        When one of these files, which sealing would write, is there.
    """
    for name in names:
        if (public / name).exists():
            raise IntegrityError(f"the folder is sealed already: it has a '{name}'")


def read(public: Path, name: str) -> bytes:
    """Read a file of a seal.

    Raises
    ------
    IntegrityError
        When it is missing, a link, or cannot be read.
    """
    path = public / name
    if path.is_symlink():
        raise IntegrityError(f"'{name}' is a symbolic link")
    if not path.is_file():
        raise IntegrityError(
            f"'{name}' is missing: the folder is not sealed, or its seal was removed"
        )
    try:
        return path.read_bytes()
    except OSError as error:
        raise IntegrityError(f"'{name}' cannot be read: {error.strerror}") from None


def entry_of(path: Path) -> Entry:
    """Return what a file is: its hash and its size.

    Raises
    ------
    IntegrityError
        When it cannot be read.
    """
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            return Entry(digest, file.tell())
    except OSError as error:
        raise IntegrityError(f"{path.name!r} cannot be read: {error.strerror}") from None


def compare(public: Path, listed: Mapping[str, Entry], beside: Collection[str]) -> None:
    """Compare a folder with a list of what must be in it.

    Parameters
    ----------
    beside
        Files that may be there without being listed: those that hold the list.

    Raises
    ------
    IntegrityError
        Naming everything that differs.
    """
    files, folders = contents(public)
    result = set(files) - set(beside)
    expected = set(listed)
    implied = {str(above) for name in expected for above in Path(name).parents}
    different = [f"missing: {name!r}" for name in sorted(expected - result)]
    different += [f"added: {name!r}" for name in sorted(result - expected)]
    different += [f"added folder: {name!r}" for name in sorted(set(folders) - implied)]
    different += [
        f"changed: {name!r}"
        for name in sorted(expected & result)
        if entry_of(public / name) != listed[name]
    ]
    if different:
        raise IntegrityError("the folder is not what was sealed", hint="\n".join(different))
