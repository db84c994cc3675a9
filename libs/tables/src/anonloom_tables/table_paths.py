"""Opening a source's file, and saying in one form what is wrong with it."""

import codecs
import mmap
from pathlib import Path

from anonloom.errors import DataError
from anonloom.files import NotAFile, size_of

# Encodings in which every byte is a character; multi-byte ones may use ASCII bytes as second ones.
_ONE_BYTE = ("ascii", "iso8859", "cp125")


def file_error(path: Path, what: str, *, hint: str = "") -> DataError:
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
        if not size_of(path):
            raise file_error(path, "the file is empty")
        with path.open("rb") as file:
            file.read(1)
    except FileNotFoundError:
        raise file_error(path, "there is no such file") from None
    except IsADirectoryError:
        raise file_error(path, "this is a folder, not a file") from None
    except NotAFile as error:
        raise file_error(path, str(error.strerror)) from None
    except OSError as error:
        raise file_error(path, f"the file cannot be read: {error.strerror}") from None


def largest_block(path: Path) -> int:
    """Return the size of the largest block in which Arrow can read a file: all of it, or 2 GB."""
    most = (1 << 31) - 1
    return most if _is_compressed(path) else min(max(path.stat().st_size, 1 << 20), most)


def _is_compressed(path: Path) -> bool:
    return path.suffix in {".gz", ".bz2", ".zst", ".lz4", ".br"}


def may_hold(path: Path, encoding: str, character: str) -> bool:
    """Whether a character may occur in a file, which has something in it.

    True where its bytes do not say: it is compressed, or a byte is not a character.
    """
    name = codecs.lookup(encoding).name
    plain = name in {"utf-8", "utf-8-sig"} or name.startswith(_ONE_BYTE)
    if _is_compressed(path) or not plain or not character.isascii():
        return True
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        return data.find(character.encode()) >= 0
