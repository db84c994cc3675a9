"""Watching: who waits for a round is told how far it is."""

from collections.abc import Callable

#: Told a phase, and how much of how much of it is done.
Watch = Callable[[str, int, int], None]


def unwatched(phase: str, done: int, total: int) -> None:
    """Tell nobody."""
