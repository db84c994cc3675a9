"""Invitations: one upload per person, by keys that the study has signed.

An invitation is a secret of its own, and uploads show only what it signs for one server and one
upload. A code that servers got to see could be used by any of them: it would send in the name of
everybody whom it has seen in an earlier phase, and leave the one whom it is after alone.

The study is part of what is signed: an authority may run several, and whoever was invited to one
must not appear in another, where one person would count twice.
"""

import attrs

from anonloom_transport.engines import Entropy
from anonloom_transport.server_config import Identity
from anonloom_transport.signing import (
    SIGNATURE_BYTES,
    Signer,
    identity_of,
    new_identity,
    verify_signature,
)

_KEY = 32

#: Bytes of an invitation: a secret key, and the study's signature of its public half.
INVITATION_BYTES = _KEY + SIGNATURE_BYTES

#: Bytes of what an upload shows of it: public half, the study's signature, its own signature.
PROOF_BYTES = _KEY + 2 * SIGNATURE_BYTES


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

    def invite(self, entropy: Entropy, study: bytes = b"") -> bytes:
        """Return a new invitation; nobody but the invited person may see it.

        Parameters
        ----------
        study
            What it admits to: the field `study` of the rounds.
        """
        invited = new_identity(entropy)
        return invited.secret + Signer(self._identity).sign("invitation", study, invited.public)


def prove(invitation: bytes, context: bytes) -> bytes:
    """Return what shows one server, for one upload, that its sender was invited."""
    identity, vouched = identity_of(invitation[:_KEY]), invitation[_KEY:]
    return identity.public + vouched + Signer(identity).sign("invited", b"", context)


def verify_invitation(
    authority: bytes, proof: bytes, context: bytes, study: bytes = b""
) -> bytes | None:
    """Return who sends, by the public half of an invitation; None when nobody was invited.

    Parameters
    ----------
    context
        What the upload is bound to.
    study
        What the invitation must have been signed for.
    """
    public, signatures = proof[:_KEY], proof[_KEY:]
    vouched, own = signatures[:SIGNATURE_BYTES], signatures[SIGNATURE_BYTES:]
    genuine = verify_signature(authority, vouched, "invitation", study, public)
    return public if genuine and verify_signature(public, own, "invited", b"", context) else None
