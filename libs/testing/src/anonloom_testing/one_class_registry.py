"""A registry that knows one class, for methods that no installed plugin registers (yet)."""

from types import SimpleNamespace

from anonloom import Registry
from anonloom.api import API_VERSION, ROLES, Method, hookimpl


def registry_with(kind: str, cls: type, name: str = "toy") -> Registry:
    """Return a registry in which a plugin made on the spot registers a class.

    Parameters
    ----------
    kind : str
        The kind's YAML key.
    cls : type
        The class; it must be importable by its module's name.
    name : str
        What the method is called.
    """
    method = Method(
        name=name,
        target=f"{cls.__module__}:{cls.__qualname__}",
        summary=f"{cls.__name__}, registered on the spot.",
        reads=frozenset(ROLES),
    )

    def hook() -> list[Method]:
        return [method]

    registry = Registry.empty()
    # pluggy reads the hook's name from the function.
    hook.__name__ = registry.kinds[kind].hook
    plugin = SimpleNamespace(ANONLOOM_API=API_VERSION, **{hook.__name__: hookimpl(hook)})
    if not registry.register(plugin, distribution="anonloom-on-the-spot"):
        raise ValueError(str(registry.broken[0]))
    return registry
