"""Reading files that somebody else named or wrote: none that never ends, none that never answers.

What cannot be read is an `OSError` whose `strerror` is fit for a message, like those of the system.
"""

import errno
import json
import os
import stat
from pathlib import Path
from typing import Any

__all__ = [
    "MOST_BYTES",
    "MOST_NESTED",
    "NotAFile",
    "read_bytes",
    "read_json",
    "size_of",
    "wrong_path",
]

#: More than any text that is read as a whole has; a pipe does not say how much is to come.
MOST_BYTES = 1 << 30

#: More levels than anything that Anonloom writes has, and few enough for every reader.
MOST_NESTED = 100


class NotAFile(OSError):
    """A path leads to something that is not read, or to nothing at all."""


def wrong_path(path: Path) -> str:
    """Say why no file can have such a name, or that not every reader can open it; or nothing."""
    if "\0" in str(path):
        return "a path holds no NUL character"
    try:
        str(path).encode()
    except UnicodeEncodeError:
        # Linux allows any bytes; Arrow asks for text.
        return "its name is no UTF-8"
    return ""


def size_of(path: Path, *, pipes: bool = False) -> int:
    """Return the size of a file that can be read, before it is opened: a device may never answer.

    Files of the system, such as ``/proc/kmsg``, say that they are empty and are taken at their
    word.

    Parameters
    ----------
    pipes
        Whether a pipe will do, too, such as the shell's ``<(command)``; its size is `MOST_BYTES`.

    Raises
    ------
    OSError
        When there is no such file, or it is a folder; `NotAFile` if it is a device or a socket.
    """
    wrong = wrong_path(path)
    if wrong:
        raise _refusal(path, wrong)
    result = path.stat()
    if stat.S_ISDIR(result.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if stat.S_ISFIFO(result.st_mode) and pipes:
        return MOST_BYTES
    if not stat.S_ISREG(result.st_mode):
        raise _refusal(path, "this is no ordinary file")
    return result.st_size


def read_bytes(path: Path, *, pipes: bool = True) -> bytes:
    """Return the content of a file or, unless it must not be one, of a pipe.

    Raises
    ------
    OSError
        See `size_of`; also when it is larger than `MOST_BYTES`.
    """
    size = size_of(path, pipes=pipes)
    if not size:
        return b""
    with path.open("rb") as file:
        content = file.read(MOST_BYTES) if size <= MOST_BYTES else b""
        if size > MOST_BYTES or len(content) == MOST_BYTES:
            raise _refusal(path, os.strerror(errno.EFBIG))
    return content


def read_json(path: Path) -> Any:
    """Return what a JSON file holds.

    Raises
    ------
    OSError
        See `read_bytes`.
    ValueError
        When it is no JSON, is nested deeper than `MOST_NESTED`, or holds half a character, which
        could not be written again.
    """
    text = read_bytes(path).decode("utf-8")
    try:
        content = json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    _refuse_nested(content)
    if "\\u" in text:
        json.dumps(content, ensure_ascii=False).encode("utf-8")
    return content


def _refuse_nested(content: Any) -> None:
    level = [content] if isinstance(content, dict | list) else []
    for _ in range(MOST_NESTED):
        level = [
            below
            for item in level
            for below in (item.values() if isinstance(item, dict) else item)
            if isinstance(below, dict | list)
        ]
    if level:
        raise ValueError("nested too deeply")


def _refusal(path: Path, why: str) -> "NotAFile":
    return NotAFile(errno.EINVAL, why, str(path))
