"""Public names that are looked up when they are first used: importing them costs nothing."""

from collections.abc import Callable, Mapping


def lazy_exports(
    module: str, homes: Mapping[str, tuple[str, ...]]
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` of a public module.

    Parameters
    ----------
    module
        The public module's `__name__`.
    homes
        Private module -> the names that it lends to the public one. Type checkers cannot follow
        this; the public module repeats it under ``if TYPE_CHECKING``, and a test compares.
    """
    home_of = {name: home for home, names in homes.items() for name in names}

    def getattr_(name: str) -> object:
        if name not in home_of:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        from importlib import import_module

        return getattr(import_module(home_of[name]), name)

    def dir_() -> list[str]:
        return sorted(home_of)

    return getattr_, dir_
