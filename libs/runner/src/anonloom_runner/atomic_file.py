"""One file that is written whole or not at all, and never over another."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from anonloom.errors import UsageError

__all__ = [
    "atomic_file",
    "refuse_target",
]


def refuse_target(target: Path) -> None:
    """Refuse a file that cannot be made, before the work that fills it.

    Raises
    ------
    UsageError
        When it exists, or its folder does not.
    """
    if target.exists():
        raise UsageError(f"'{target}' exists already", hint="Write to another file.")
    if not target.parent.is_dir():
        raise UsageError(f"'{target}' cannot be written: there is no folder '{target.parent}'")


@contextmanager
def atomic_file(target: Path) -> Iterator[Path]:
    """Give a path to write to, which becomes `target` when nothing went wrong."""
    refuse_target(target)
    aside = target.with_name(f".{target.name}.building-{os.getpid()}")
    try:
        yield aside
        aside.rename(target)
    finally:
        aside.unlink(missing_ok=True)
