"""A registry of toy methods, so that a test depends on no plugin."""

from importlib.metadata import distribution

from anonloom import Registry
from anonloom_testing import toy_methods


def toy_registry(*packages: str) -> Registry:
    """Return the methods of core and of the libraries of a run, the toys, and what others add."""
    registry = Registry.empty()
    for name in ("anonloom-core", "anonloom-tables", "anonloom-runner", *packages):
        installed = distribution(name)
        for entry in installed.entry_points.select(group="anonloom"):
            registry.register(entry.load(), distribution=name, version=installed.version)
    registry.register(toy_methods, distribution="anonloom-core", version="0.1.0")
    assert registry.broken == ()
    return registry
