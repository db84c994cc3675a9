"""For authors who would rather write no C: kernels that numba compiles at their first call.

Needs the extra `numba`. What is compiled is kept on disk, once per installation; whoever waits is
told. Anonloom's own kernels are written in C, see `compiled`.
"""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core import event

from anonloom import StageContext

__all__ = [
    "NOTICE",
    "announce_compilation",
    "numba_kernel",
]

Function = TypeVar("Function", bound=Callable[..., Any])

NOTICE = "compiling; this happens once after an installation"


@cache
def _digest(folder: Path) -> str:
    """Digest of all sources that a kernel of a package can be built from."""
    digest = hashlib.sha256()
    for source in sorted({*folder.glob("*.py"), *Path(__file__).parent.glob("*.py")}):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:12]


def numba_kernel(function: Function) -> Function:
    """Compile a function at its first call and keep the result on disk.

    Kernels release the interpreter's lock, so that threads use all cores, and follow numpy in
    dividing by zero. A kernel that loops takes the arrays out of its named tuples first: each look
    into a tuple counts references, which costs more than the arithmetic around it.
    """
    # numba looks at the kernel's own file only when it asks whether what it kept is still true;
    # a kernel may have been built from others. Under a new name it is compiled anew.
    folder = Path(function.__code__.co_filename).parent
    function.__qualname__ += f"_{_digest(folder)}"
    compiled = numba.njit(nogil=True, error_model="numpy")(function)
    # Where no folder can be written, as in some containers, every process compiles for itself.
    with suppress(RuntimeError):
        compiled.enable_caching()
    return cast(Function, compiled)


class _Notice(event.Listener):
    """Tells a run, once, that compilation began; what comes from the disk is not compiled."""

    def __init__(self, context: StageContext) -> None:
        self.run = context
        self.said = False

    def on_start(self, event: Any) -> None:
        """Say it before the waiting begins."""
        if not self.said:
            self.said = True
            self.run.note(NOTICE)

    def on_end(self, event: Any) -> None:
        """Say nothing more."""


@contextmanager
def announce_compilation(context: StageContext) -> Iterator[None]:
    """Announce it to the run if any kernel has to be compiled meanwhile."""
    with event.install_listener("numba:compile", _Notice(context)):
        yield
