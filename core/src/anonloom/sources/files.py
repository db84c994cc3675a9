"""Opening a source's file, and saying in one form what is wrong with it."""

from pathlib import Path

from anonloom.errors import DataError


def broken(path: Path, what: str, *, hint: str = "") -> DataError:
    """Return the error that something is wrong with a file as a whole."""
    return DataError(f"{path}: {what}", hint=hint)


def require_file(path: Path) -> None:
    """Refuse a path that is no file with something in it.

    Raises
    ------
    DataError
        When there is no such file, it is a folder, it is empty, or it may not be read.
    """
    try:
        with path.open("rb") as file:
            empty = not file.read(1)
    except FileNotFoundError:
        raise broken(path, "there is no such file") from None
    except IsADirectoryError:
        raise broken(path, "this is a folder, not a file") from None
    except OSError as error:
        raise broken(path, f"the file cannot be read: {error.strerror}") from None
    if empty:
        raise broken(path, "the file is empty")
