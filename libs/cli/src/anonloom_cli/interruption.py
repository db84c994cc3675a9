"""A polite request to stop cleans up like Ctrl-C does."""

import signal
from types import FrameType

__all__ = [
    "interrupt_when_asked",
]


def interrupt_when_asked() -> None:
    """Treat SIGTERM as an interruption from now on."""
    signal.signal(signal.SIGTERM, _interrupt)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt
