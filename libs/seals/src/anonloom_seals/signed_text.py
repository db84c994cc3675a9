"""A signed text, and whether it is the publisher's."""

from pathlib import Path

import attrs
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from anonloom.errors import IntegrityError
from anonloom.kinds import VerifiedScope
from anonloom_seals import keys
from anonloom_seals.folder import read

__all__ = ["Names", "SignedText", "of_signer", "together"]


@attrs.frozen
class Names:
    """What the parts of a signed text are called in messages, and in a folder."""

    text: str
    signature: str
    key: str


@attrs.frozen
class SignedText:
    """A text, its signature and the key that should fit it."""

    text: bytes
    signature: bytes
    key: bytes

    @classmethod
    def read(cls, public: Path, names: Names) -> "SignedText":
        """Read all three from a folder.

        Raises
        ------
        IntegrityError
            When one of them is missing.
        """
        return cls(*(read(public, name) for name in attrs.astuple(names)))

    def signer(self, names: Names, domain: bytes, pinned: Path | None) -> Ed25519PublicKey:
        """Return the key that signed the text.

        Parameters
        ----------
        pinned
            The publisher's key, obtained elsewhere, if the recipient has it.

        Raises
        ------
        IntegrityError
            When the key is no key or another than the pinned one, or does not fit.
        """
        signer = keys.read_public(self.key, f"'{names.key}'")
        if keys.public_key_pem(signer) != self.key:
            raise IntegrityError(f"'{names.key}' holds more than a public key in its one spelling")
        if pinned is not None and not keys.same(signer, keys.read_pinned(pinned)):
            raise IntegrityError(
                f"the release is signed with another key than the pinned one: "
                f"{keys.fingerprint(signer)}"
            )
        if not keys.fits(signer, self.text, self.signature, domain):
            raise IntegrityError(
                f"the signature in '{names.signature}' does not fit '{names.text}'"
            )
        return signer


def of_signer(fingerprint: str, pinned: bool) -> VerifiedScope:
    """Say what a fitting signature shows of the signer.

    Parameters
    ----------
    pinned
        Whether the key is the one that the recipient had from elsewhere.
    """
    if pinned:
        return VerifiedScope((f"the signer: whoever holds the pinned key {fingerprint}",))
    return VerifiedScope(
        (),
        (
            "self-consistent, signer unknown: whoever changes the files can seal them again; "
            "give the publisher's key, obtained elsewhere",
        ),
    )


def together(*parts: VerifiedScope) -> VerifiedScope:
    """Join what several checks cover."""
    return VerifiedScope(
        tuple(line for part in parts for line in part.covers),
        tuple(line for part in parts for line in part.does_not_cover),
    )
