"""State: what a server saves, readable only with a key that dies with the round."""

import os

import attrs
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from anonloom.errors import TransportError
from anonloom_transport.codec import pack, unpack
from anonloom_transport.engines import Entropy, Vault
from anonloom_transport.server_group import ServerGroup

_SECRET, _PUBLIC = b"secret", b"public"
_NONCE = 12


@attrs.frozen
class StateVault:
    """Seals and opens the saved state of one server in one round.

    The key comes from the entropy that was passed in and lies in the vault alone. When it is
    destroyed, nobody can read what was saved before, whoever has the disks, the backups and the
    long-term keys.
    """

    round: ServerGroup
    server: int
    _vault: Vault = attrs.field(repr=False)

    @property
    def name(self) -> str:
        """Under which the vault keeps the key."""
        return f"{self.round.id}/{self.server}/{self.round.digest.hex()[:16]}"

    @property
    def begun(self) -> bool:
        """Whether there is a key."""
        return self._vault.fetch(self.name) is not None

    def prepare(self, entropy: Entropy) -> None:
        """Draw the key."""
        self._vault.keep(self.name, entropy.bytes(32))

    def destroy(self) -> None:
        """Destroy the key: what was saved until now is erased."""
        self._vault.destroy(self.name)

    def seal(self, *parts: bytes) -> bytes:
        """Write a state that only the key's holder can read."""
        key = self._vault.fetch(self.name)
        if key is None:
            raise TransportError("the round's key is destroyed: nothing secret can be saved")
        # A nonce may never come twice under one key, not even after a restart that draws the same
        # entropy again: hence the system's randomness, whatever was passed in.
        nonce = os.urandom(_NONCE)
        return pack(
            _SECRET,
            nonce,
            ChaCha20Poly1305(key).encrypt(nonce, pack(*parts), self.name.encode()),
        )

    def publish(self, *parts: bytes) -> bytes:
        """Write a state that holds public data only."""
        return pack(_PUBLIC, *parts)

    def open(self, saved: bytes) -> tuple[bool, list[bytes]]:
        """Return whether a saved state is of a round that is still secret, and its parts.

        Raises
        ------
        TransportError
            When it cannot be read, because the key is destroyed or somebody changed it.
        """
        try:
            kind, *parts = unpack(saved)
            if kind == _PUBLIC:
                return False, parts
            nonce, sealed = parts
            if kind != _SECRET:
                raise ValueError("neither secret nor public")
        except ValueError:
            raise TransportError("what was saved cannot be read") from None
        key = self._vault.fetch(self.name)
        if key is None:
            raise TransportError(
                "the round's key is destroyed: what was saved before that is erased, and the round "
                "can go on from public data only"
            )
        try:
            return True, unpack(ChaCha20Poly1305(key).decrypt(nonce, sealed, self.name.encode()))
        except (InvalidTag, ValueError):
            raise TransportError("what was saved cannot be read") from None
