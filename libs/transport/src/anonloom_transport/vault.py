"""Vault in memory: keys of saved states, held apart from what is saved."""

import attrs


@attrs.define
class MemoryVault:
    """Keeps keys until they are destroyed or the process ends."""

    _keys: dict[str, bytes] = attrs.field(factory=dict, init=False, repr=False)

    def keep(self, name: str, key: bytes, /) -> None:
        """Keep a key."""
        self._keys[name] = key

    def fetch(self, name: str, /) -> bytes | None:
        """Return a key, or None when it was destroyed or never kept."""
        return self._keys.get(name)

    def destroy(self, name: str, /) -> None:
        """Destroy a key for ever."""
        self._keys.pop(name, None)
