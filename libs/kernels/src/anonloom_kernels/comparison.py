"""Kernels run twice, as C and as Python, on the same arguments: every bit must be the same.

With `ANONLOOM_KERNELS=compare` in the environment every call of every kernel is compared, whatever
is run; `comparing_kernels` does the same for a while, `assert_same` for one call.
"""

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from anonloom_kernels.bound_kernel import Kernel

__all__ = ["arrays_compared", "assert_same", "compare_call", "comparing_kernels"]

#: Arrays that were compared in this process, by kernel.
_compared: Counter[str] = Counter()
_lock = threading.Lock()


def assert_same(kernel: Any, *arguments: Any) -> Any:
    """Call a kernel and return its result; the Python text must leave the same bits everywhere."""
    assert isinstance(kernel, Kernel), "only what is decorated with kernel has a C of its own"
    assert kernel.is_compiled, "there is no C to compare with: it was not built"
    return compare_call(kernel, arguments)


@contextmanager
def comparing_kernels() -> Iterator[None]:
    """Compare every call of a compiled kernel meanwhile; fail if there was none."""
    before, Kernel.instead = Kernel.instead, compare_call
    count = arrays_compared().total()
    try:
        yield
    finally:
        Kernel.instead = before
    assert arrays_compared().total() > count, "no compiled kernel was called"


def compare_call(kernel: Kernel, arguments: tuple[Any, ...]) -> Any:
    """Call a compiled kernel and its reference; raise AssertionError where they differ.

    One call at a time: threads may write to different parts of the same array.
    """
    with _lock:
        return _compare(kernel, arguments)


def _compare(kernel: Kernel, arguments: tuple[Any, ...]) -> Any:
    memo: dict[int, Any] = {}
    copies = tuple(_copy(argument, memo) for argument in arguments)
    assert kernel.compiled is not None
    result = kernel.compiled(*arguments)
    expected = kernel.interpret(*copies)
    _same_result(kernel, expected, result)
    count = 0
    for number, (before, after) in enumerate(
        zip(_arrays(copies), _arrays(arguments), strict=True), start=1
    ):
        count += 1
        if before.tobytes() != after.tobytes():
            differ = np.flatnonzero((_bytes(before) != _bytes(after)).any(axis=1))
            raise AssertionError(
                f"kernel {kernel.name}: array {number} of its arguments has other bits in C "
                f"than in Python, first at {differ[:5].tolist()}"
            )
    _compared[kernel.name] += count
    return result


def arrays_compared() -> Counter[str]:
    """How many arrays were compared in this process, by kernel."""
    with _lock:
        return Counter(_compared)


def _copy(value: Any, memo: dict[int, Any]) -> Any:
    """A copy in which what was one array is still one."""
    if isinstance(value, tuple):
        items = [_copy(item, memo) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if not isinstance(value, np.ndarray):
        return value
    if id(value) not in memo:
        memo[id(value)] = value.copy()
    return memo[id(value)]


def _arrays(value: Any) -> Iterator[np.ndarray[Any, Any]]:
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from _arrays(item)


def _bytes(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The bytes of every element, (elements x bytes)."""
    return np.frombuffer(array.tobytes(), np.uint8).reshape(array.size, -1)


def _same_result(kernel: Kernel, expected: Any, result: Any) -> None:
    expected = expected if isinstance(expected, tuple) else (expected,)
    result = result if isinstance(result, tuple) else (result,)
    bits = [[_bits(value) for value in values] for values in (expected, result)]
    if bits[0] != bits[1]:
        raise AssertionError(f"kernel {kernel.name}: C returns something else than Python")


def _bits(value: Any) -> Any:
    """A number as what it is made of: 0.0 and -0.0 differ, and a NaN equals itself."""
    if isinstance(value, float | np.floating):
        return float(value).hex()
    return None if value is None else int(value)
