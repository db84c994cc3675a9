"""How kernels are compiled: once per installation, without the interpreter's lock, announced."""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
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
    "in_threads",
    "inline_kernel",
    "kernel",
]

Function = TypeVar("Function", bound=Callable[..., Any])
Part = TypeVar("Part")
Result = TypeVar("Result")

NOTICE = "compiling; this happens once after an installation"


@cache
def _digest(folder: Path) -> str:
    """Digest of all sources that a kernel of a package can be built from."""
    digest = hashlib.sha256()
    for source in sorted({*folder.glob("*.py"), *Path(__file__).parent.glob("*.py")}):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:12]


def kernel(function: Function) -> Function:
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


def inline_kernel(function: Function) -> Function:
    """Compile a function into every kernel that calls it, where a call would cost more than it."""
    compiled = numba.njit(inline="always", error_model="numpy")(function)
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


def in_threads(work: Callable[[Part], Result], parts: Iterable[Part], workers: int) -> list[Result]:
    """Apply work, most of it in kernels, to every part; results in the order of the parts."""
    if workers <= 1:
        return [work(part) for part in parts]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(work, parts))
