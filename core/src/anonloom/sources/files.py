"""Opening a source's file, and saying in one form what is wrong with it."""

import codecs
import mmap
import stat
from pathlib import Path

from anonloom.errors import DataError

# Encodings in which every byte is a character; multi-byte ones may use ASCII bytes as second ones.
_ONE_BYTE = ("ascii", "iso8859", "cp125")


def broken(path: Path, what: str, *, hint: str = "") -> DataError:
    """Return the error that something is wrong with a file as a whole."""
    return DataError(f"{path}: {what}", hint=hint)


def require_file(path: Path) -> None:
    """Refuse a path that is no file with something in it.

    Raises
    ------
    DataError
        When there is no such file, it is something else, it is empty, or it may not be read.
    """
    try:
        # Looked at before it is opened: a pipe would make the reader wait.
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise broken(path, "this is a folder, not a file")
        if not stat.S_ISREG(mode):
            raise broken(path, "this is no ordinary file")
        with path.open("rb") as file:
            empty = not file.read(1)
    except FileNotFoundError:
        raise broken(path, "there is no such file") from None
    except OSError as error:
        raise broken(path, f"the file cannot be read: {error.strerror}") from None
    if empty:
        raise broken(path, "the file is empty")


def readable_as_bytes(path: Path, encoding: str, character: str) -> bool:
    """Whether a character of the text is one byte of the file, and that byte nothing else."""
    if path.suffix in {".gz", ".bz2", ".zst", ".lz4", ".br"}:
        return False
    name = codecs.lookup(encoding).name
    return character.isascii() and (name in {"utf-8", "utf-8-sig"} or name.startswith(_ONE_BYTE))


def may_hold(path: Path, encoding: str, character: str) -> bool:
    """Whether a character may occur in a file, which has something in it.

    True where its bytes do not say.
    """
    if not readable_as_bytes(path, encoding, character):
        return True
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        return data.find(character.encode()) >= 0
