"""A kernel as Python calls it: bound to its C where that was built, interpreted elsewhere."""

import functools
import importlib
import os
import threading
from collections.abc import Callable
from functools import cache
from typing import Any, ClassVar, cast

import numpy as np

__all__ = ["SETTING", "Kernel", "kernels_of"]

#: `python` interprets all kernels, whether or not their C was built; `compare` runs both.
SETTING = "ANONLOOM_KERNELS"

_thread = threading.local()


@cache
def kernels_of(package: str) -> Any:
    """The kernels of a package that were built, or None."""
    if os.environ.get(SETTING) == "python":
        return None
    try:
        importlib.import_module("anonloom_kernels._binding")
        return importlib.import_module(f"{package}._kernels").table
    except ModuleNotFoundError:
        return None


def _bind(package: str, name: str) -> Callable[..., Any] | None:
    table = kernels_of(package)
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
    instead
        Called in the place of any C, with the kernel and its arguments, while somebody compares.
    """

    instead: ClassVar["Callable[[Kernel, tuple[Any, ...]], Any] | None"] = None

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
        if Kernel.instead is not None:
            return Kernel.instead(self, arguments)
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
