"""A limit on how long one check may take, and where a method raised."""

import contextlib
import signal
import threading
import traceback
from collections.abc import Iterator
from types import FrameType

#: The kit's own package; its frames say nothing about the method.
_KIT = __name__.partition(".")[0]


class TimeLimitExceeded(BaseException):
    """A check took too long.

    No `Exception`: neither the method nor the kit, both of which catch what a call raises, may take
    it for a mistake of the method on one table and go on.
    """


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise `TimeLimitExceeded` inside the block when it takes longer.

    Needs an alarm of the system, which there is in the main thread on POSIX systems; elsewhere
    nothing is limited. Compiled code is interrupted when it comes back to the interpreter.
    """
    usable = hasattr(signal, "SIGALRM") and threading.current_thread() is threading.main_thread()
    if not usable or seconds <= 0:
        yield
        return

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise TimeLimitExceeded

    earlier = signal.signal(signal.SIGALRM, stop)
    # Again every second: what a handler raises inside a destructor or a callback of C code is
    # thrown away by the interpreter, and a single alarm would be lost with it.
    signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, earlier)


def place_of(error: BaseException) -> str:
    """Return where an exception came from: file, line, function, and the line itself.

    The innermost place outside the kit; an empty text if there is none. Only source code is shown,
    never a value.
    """
    frames = [
        (frame, number)
        for frame, number in traceback.walk_tb(error.__traceback__)
        if frame.f_globals.get("__name__", "").partition(".")[0] != _KIT
    ]
    if not frames:
        return ""
    summary = traceback.StackSummary.extract(iter(frames[-1:]))[0]
    line = f": {summary.line}" if summary.line else ""
    return f"{summary.filename}, line {summary.lineno}, in {summary.name}{line}"
