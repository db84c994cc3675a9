"""What this distribution offers: knowledge of other plugins."""

from anonloom.api import KnownPlugin, hookimpl

ANONLOOM_API = 2


@hookimpl
def anonloom_register_known_plugins() -> list[KnownPlugin]:
    """Name the plugins."""
    # Imported here: most commands never name a method that is missing.
    from anonloom_catalog import known_plugins

    return known_plugins()
