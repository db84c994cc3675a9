"""The libraries of data frames, and others, imported when something of them is first used.

``from anonloom.lazy import pd`` is ``import pandas as pd`` that costs nothing until ``pd.concat``
is called: commands that read no data, such as ``anonloom check``, load the class of every method
and must not load pandas with it. Annotations would use it at once, and therefore are quoted:
``"pd.DataFrame"``.
"""

from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.csv as arrow_csv
    import pyarrow.parquet as pq

__all__ = [
    "arrow_csv",
    "lazy_module",
    "pa",
    "pc",
    "pd",
    "pq",
]


class _LazyModule:
    """Stands for a module, and imports it when it is asked for something."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._module: ModuleType | None = None

    def __getattr__(self, name: str) -> Any:
        if self._module is None:
            self._module = import_module(self._name)
        return getattr(self._module, name)

    def __reduce__(self) -> tuple[Callable[[str], Any], tuple[str]]:
        # Sent to another process, it imports there.
        return lazy_module, (self._name,)


def lazy_module(name: str) -> Any:
    """Return what stands for a module and imports it when something of it is used.

    Parameters
    ----------
    name
        The module's whole name: ``sparse = lazy_module("scipy.sparse")``.
    """
    return _LazyModule(name)


if not TYPE_CHECKING:
    pd = lazy_module("pandas")
    pa = lazy_module("pyarrow")
    pc = lazy_module("pyarrow.compute")
    arrow_csv = lazy_module("pyarrow.csv")
    pq = lazy_module("pyarrow.parquet")
