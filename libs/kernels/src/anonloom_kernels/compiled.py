"""How kernels run: their C where it was built, otherwise their Python text, interpreted.

A kernel is written twice. The Python function reads like the paper, works without a compiler, and
is what the C must agree with bit by bit; the C, in the header that is named like the Python module,
is what runs where it could be built.
"""

import os
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from anonloom import StageContext
from anonloom_kernels.bound_kernel import SETTING, Kernel, kernels_of
from anonloom_kernels.comparison import compare_call

__all__ = [
    "announce_interpreted",
    "in_threads",
    "is_compiled",
    "kernel",
]

Function = TypeVar("Function", bound=Callable[..., Any])
Part = TypeVar("Part")
Result = TypeVar("Result")

#: Estimates below this are not worth a number.
WORTH_A_NUMBER = 5.0

if os.environ.get(SETTING) == "compare":
    Kernel.instead = compare_call


def kernel(function: Function) -> Function:
    """Run the C that was built for a function of this name, if its package has any.

    Everything that the function calls is a plain function: in C it is static. Arrays are taken as
    they are, C-contiguous and of the types in the signature; scratch is allocated outside. C
    releases the interpreter's lock, so that threads use all cores.
    """
    return cast(Function, Kernel(function))


def is_compiled(package: str) -> bool:
    """Whether the kernels of a package run as C."""
    return kernels_of(package) is not None


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
    if workers <= 1 or Kernel.instead is not None:
        return [work(part) for part in parts]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(work, parts))
