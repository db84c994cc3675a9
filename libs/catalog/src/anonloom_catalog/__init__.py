"""Which package provides which method, installed or not: two lists as data."""

from typing import Any

from anonloom.api import KnownPlugin

__all__ = ["first_party_folders", "known_plugins"]


def known_plugins() -> list[KnownPlugin]:
    """Return the plugins of this repository, and those of others that asked to be listed."""
    return [
        KnownPlugin(
            distribution=plugin["distribution"],
            install=plugin["install"],
            methods=[(hook, name) for hook, names in plugin["methods"].items() for name in names],
        )
        for file in ("first_party.json", "third_party.json")
        for plugin in _read(file)
    ]


def first_party_folders() -> dict[tuple[str, str], str]:
    """Return (kind's key, method's name) -> folder, for the methods of this repository."""
    # Imported here: the hook module needs descriptors only.
    from anonloom import Registry

    key_of = {kind.hook: kind.key for kind in Registry.empty().kinds.values()}
    return {
        (key_of[hook], name): plugin["folder"]
        for plugin in _read("first_party.json")
        for hook, names in plugin["methods"].items()
        # Commands are no kind.
        if hook in key_of
        for name in names
    }


def _read(file: str) -> list[dict[str, Any]]:
    # Imported here: every command imports this package with its hook module.
    import json
    from pathlib import Path

    text = Path(__file__).with_name(file).read_text(encoding="utf-8")
    plugins: list[dict[str, Any]] = json.loads(text)["plugins"]
    return plugins
