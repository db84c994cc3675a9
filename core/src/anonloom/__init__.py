"""Anonloom: a plugin framework for publishing personal tables safely.

Public names are looked up when they are first used, so that ``import anonloom`` costs nothing.
"""

# Type checkers take this name for `typing.TYPE_CHECKING`; importing typing would cost as much as
# the rest of ``anonloom --help``.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from anonloom.errors import AnonloomError as AnonloomError
    from anonloom.params import param as param
    from anonloom.registry import Registry as Registry

_HOMES = {
    "AnonloomError": "anonloom.errors",
    "Classes": "anonloom.data.classes",
    "Findings": "anonloom.data.findings",
    "Outcome": "anonloom.run.outcome",
    "Pipeline": "anonloom.run.pipeline",
    "Registry": "anonloom.registry",
    "Release": "anonloom.data.release",
    "Schema": "anonloom.data.schema",
    "Table": "anonloom.data.table",
    "param": "anonloom.params",
}

__all__ = sorted(_HOMES)
__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'anonloom' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return [*globals(), *_HOMES]
