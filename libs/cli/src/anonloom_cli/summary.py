"""Saying what a command did, when it cannot be undone any more."""

from pathlib import Path

from anonloom_cli import complain, give_up_output

__all__ = [
    "page_name",
    "print_done",
    "relative_path",
]


def print_done(text: str, done: str) -> None:
    """Print a summary; what was done stays done where it cannot be printed.

    An exit code that tells of failure would say that nothing was written.

    Parameters
    ----------
    text
        The summary.
    done
        What was done, in a few words: said on standard error where the summary is lost.
    """
    try:
        print(text, flush=True)
    except OSError as error:
        give_up_output()
        complain(f"{done}, but this could not be printed: {error.strerror}")


def page_name(folder: Path | None) -> tuple[str, ...]:
    """Return the file of an output that people read first, if there is one."""
    assert folder is not None
    names = ("report.html", "grid.html", "report.txt", "grid.csv", "report.json")
    return tuple(name for name in names if (folder / "public" / name).is_file())[:1]


def relative_path(folder: Path | None, *parts: str) -> str:
    """Return a path in an output folder, relative to the working folder where that is possible."""
    assert folder is not None
    path = folder.joinpath(*parts)
    try:
        return str(path.resolve().relative_to(Path.cwd()))
    except ValueError:
        return str(path)
