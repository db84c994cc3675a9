"""Integrity scheme digest: one signed list of what every file hashes to."""

from pathlib import Path

import attrs

from anonloom import param
from anonloom.errors import IntegrityError, UsageError
from anonloom.kinds import KnownVersion, Seal, SealFiles, VerifiedScope
from anonloom_digest.listing import Listing
from anonloom_seals import keys
from anonloom_seals.folder import compare, contents, entry_of, refuse_sealed
from anonloom_seals.signed_text import Names, SignedText, of_signer, together

LISTING = "digest.json"
SIGNATURE = "digest.sig"
PUBLIC_KEY = "digest.pub"
PRIVATE_KEY = "digest.key"
NAMES = Names(LISTING, SIGNATURE, PUBLIC_KEY)

# Before what is signed: a signature of this scheme can be taken for no other.
DOMAIN = b"anonloom digest signature 1\0"


@attrs.frozen(kw_only=True)
class Digest(Seal):
    """Signs the SHA-256 of every file in the public folder.

    Why every change is noticed: the signature covers every byte of the list; the list names every
    other file, the public key included, with its hash; and `verify` accepts no file, link or
    folder that the list does not name. The signature itself has one spelling only.
    """

    key: Path | None = param(
        help="A private Ed25519 key (PEM) to sign with; a new one is drawn from the system's "
        "randomness for every release without it.",
        default=None,
        private=True,
    )

    def ready(self) -> None:
        """Refuse a key that cannot be read."""
        if self.key is not None:
            keys.read_private(self.key)

    def seal(self, public: Path, private: Path) -> SealFiles:
        """Seal all files of the public folder.

        Raises
        ------
        IntegrityError
            When the folder is sealed already or holds something else than files, or the key cannot
            be used.
        """
        refuse_sealed(public, attrs.astuple(NAMES))
        contents(public)  # what cannot be sealed is refused before a key is made
        secret = keys.signing(self.key, public, private / PRIVATE_KEY)
        known = secret.public_key()
        (public / PUBLIC_KEY).write_bytes(keys.public_key_pem(known))
        files, _ = contents(public)
        listing = Listing(
            key=keys.fingerprint(known),
            files={name: entry_of(public / name) for name in files},
        ).write()
        (public / LISTING).write_bytes(listing)
        (public / SIGNATURE).write_bytes(keys.sign(secret, listing, DOMAIN))
        made = () if self.key is not None else (PRIVATE_KEY,)
        return SealFiles((LISTING, SIGNATURE, PUBLIC_KEY), made)

    def verify(
        self, public: Path, *, key: Path | None = None, known: KnownVersion | None = None
    ) -> VerifiedScope:
        """Check every file of the folder against the signed list.

        Raises
        ------
        IntegrityError
            Saying which check failed: key, signature, list, or which files.
        UsageError
            When the recipient knows of versions: a digest does not.
        """
        if known is not None and known != KnownVersion():
            raise UsageError(
                "a digest knows of no versions: the release cannot be compared with a known head "
                "or version; only its key and its files can be checked"
            )
        if not public.is_dir():
            raise IntegrityError(f"{public}: there is no such folder")
        signed = SignedText.read(public, NAMES)
        signer = signed.signer(NAMES, DOMAIN, key)
        listed = Listing.read(signed.text, LISTING)
        if listed.key != keys.fingerprint(signer):
            raise IntegrityError(f"'{LISTING}' was written for another key than '{PUBLIC_KEY}'")
        compare(public, listed.files, (LISTING, SIGNATURE))
        return _scope(listed, pinned=key is not None)


def _scope(listed: Listing, pinned: bool) -> VerifiedScope:
    files = len(listed.files)
    return together(
        VerifiedScope((f"every byte of {files} files, and that there is no other file",)),
        of_signer(listed.key, pinned),
        VerifiedScope(
            (),
            (
                "whether an older release of the same publisher was put in the place of a newer "
                "one",
                "whether the release protects anybody: the report speaks of that",
            ),
        ),
    )
