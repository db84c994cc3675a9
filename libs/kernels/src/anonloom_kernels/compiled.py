"""How kernels run: their C where it was built, otherwise their Python text, interpreted.

A kernel is written twice. The Python function reads like the paper, works without a compiler, and
is what the C must agree with bit by bit; the C, in the header that is named like the Python module,
is what runs where it could be built.
"""

import functools
import importlib
import os
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from anonloom import StageContext

__all__ = [
    "Kernel",
    "announce_interpreted",
    "in_threads",
    "is_compiled",
    "kernel",
]

Function = TypeVar("Function", bound=Callable[..., Any])
Part = TypeVar("Part")
Result = TypeVar("Result")

#: `python` interprets all kernels, whether or not their C was built; `compare` runs both.
SETTING = "ANONLOOM_KERNELS"
#: Estimates below this are not worth a number.
WORTH_A_NUMBER = 5.0


_thread = threading.local()
#: Whether every call is compared; see `comparison`.
compares = os.environ.get(SETTING) == "compare"


@cache
def _table(package: str) -> Any:
    """The kernels of a package that were built, or None."""
    if os.environ.get(SETTING) == "python":
        return None
    try:
        importlib.import_module("anonloom_kernels._binding")
        return importlib.import_module(f"{package}._kernels").table
    except ModuleNotFoundError:
        return None


def _bind(package: str, name: str) -> Callable[..., Any] | None:
    table = _table(package)
    if table is None:
        return None
    try:
        return cast(
            Callable[..., Any],
            importlib.import_module("anonloom_kernels._binding").bind(table, name),
        )
    except (LookupError, ImportError) as error:
        raise ImportError(
            f"the compiled kernels of {package} are not those of its Python files ({error}); "
            f"install the package again"
        ) from error


class Kernel:
    """A kernel as Python calls it.

    Attributes
    ----------
    reference, name
        The Python function, and what it is called.
    compiled
        Calls its C; None if that was not built.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self.reference, self.name = function, function.__name__
        self.compiled = _bind(function.__module__.partition(".")[0], self.name)

    @property
    def is_compiled(self) -> bool:
        """Whether its C was built."""
        return self.compiled is not None

    def __call__(self, *arguments: Any) -> Any:
        """Run the C, or else the Python function."""
        if self.compiled is None or getattr(_thread, "interprets", False):
            return self.interpret(*arguments)
        if compares:
            from anonloom_kernels.comparison import compare_call

            return compare_call(self, arguments)
        return self.compiled(*arguments)

    def interpret(self, *arguments: Any) -> Any:
        """Run the Python function, and those of all kernels that it calls."""
        before = getattr(_thread, "interprets", False)
        _thread.interprets = True
        try:
            # As in C, what overflows wraps around, and a division by zero is no event.
            with np.errstate(all="ignore"):
                return self.reference(*arguments)
        finally:
            _thread.interprets = before


def kernel(function: Function) -> Function:
    """Run the C that was built for a function of this name, if its package has any.

    Everything that the function calls is a plain function: in C it is static. Arrays are taken as
    they are, C-contiguous and of the types in the signature; scratch is allocated outside. C
    releases the interpreter's lock, so that threads use all cores.
    """
    return cast(Function, Kernel(function))


def is_compiled(package: str) -> bool:
    """Whether the kernels of a package run as C."""
    return _table(package) is not None


@cache
def _seconds_per_step() -> float:
    """What this interpreter takes to read and add one element of an array, about."""
    numbers = np.arange(500)
    # The best of some: any of them may be interrupted.
    return min(_seconds_to_add(numbers) for _ in range(8)) / len(numbers)


def _seconds_to_add(numbers: NDArray[np.int64]) -> float:
    start, total = time.perf_counter(), 0
    for index in range(len(numbers)):
        total += numbers[index]
    return time.perf_counter() - start


def announce_interpreted(context: StageContext, package: str, steps: float) -> None:
    """Tell the run, before it waits, that a package's kernels are interpreted, and what helps.

    Parameters
    ----------
    package
        Name of the Python package whose kernels are about to run.
    steps
        How many elements they will read and write, about.
    """
    if is_compiled(package):
        return
    distribution = package.replace("_", "-")
    seconds = steps * _seconds_per_step()
    duration = f" and takes about {_rounded(seconds)}" if seconds >= WORTH_A_NUMBER else ""
    context.note(
        f"{distribution} was installed without its compiled kernels: this step is interpreted"
        f"{duration}; to make it fast, install a C compiler and then anonloom-kernels and "
        f"{distribution} again"
    )


def _rounded(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} minutes" if seconds < 6000 else f"{seconds / 3600:.0f} hours"


def in_threads(work: Callable[[Part], Result], parts: Iterable[Part], workers: int) -> list[Result]:
    """Apply work, most of it in kernels, to every part; results in the order of the parts."""
    # Threads may write to different places of one array: whoever compares it must be alone.
    if workers <= 1 or compares:
        return [work(part) for part in parts]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(work, parts))
