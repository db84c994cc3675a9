"""Invitations: one upload per person, by codes that the study has signed."""

import attrs

from anonloom.kinds.engines import Entropy
from anonloom.kinds.transport import Identity
from anonloom_rounds.signing import SIGNATURE_BYTES, Signer, new_identity, signed

_CODE = 16

#: Bytes of an invitation.
INVITATION_BYTES = _CODE + SIGNATURE_BYTES


@attrs.frozen
class Authority:
    """Whoever knows which persons may send, and hands each of them one invitation per study."""

    _identity: Identity

    @classmethod
    def draw(cls, entropy: Entropy) -> "Authority":
        """Return a new authority."""
        return cls(new_identity(entropy))

    @property
    def public(self) -> bytes:
        """What the round description holds of it."""
        return self._identity.public

    def invite(self, entropy: Entropy) -> bytes:
        """Return a new invitation."""
        code = entropy.bytes(_CODE)
        return code + Signer(self._identity).sign("invitation", b"", code)


def genuine(authority: bytes, invitation: bytes) -> bool:
    """Whether an authority gave out an invitation."""
    code, signature = invitation[:_CODE], invitation[_CODE:]
    return signed(authority, signature, "invitation", b"", code)
