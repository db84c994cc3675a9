"""Integrity scheme digest: one signed list of what every file hashes to."""

from pathlib import Path

import attrs

from anonloom.errors import IntegrityError, UsageError
from anonloom.kinds.integrity import Known, Seal, Sealed, Verified
from anonloom.params import param
from anonloom_digest.listing import Listing
from anonloom_proofs import keys
from anonloom_proofs.folder import compare, contents, entry_of, read

LISTING = "digest.json"
SIGNATURE = "digest.sig"
PUBLIC_KEY = "digest.pub"
PRIVATE_KEY = "digest.key"

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

    def seal(self, public: Path, private: Path) -> Sealed:
        """Seal all files of the public folder.

        Raises
        ------
        IntegrityError
            When the folder is sealed already or holds something else than files, or the key cannot
            be used.
        """
        for name in (LISTING, SIGNATURE, PUBLIC_KEY):
            if (public / name).exists():
                raise IntegrityError(f"the folder is sealed already: it has a '{name}'")
        contents(public)  # what cannot be sealed is refused before a key is made
        if self.key is None:
            secret = keys.new(private / PRIVATE_KEY)
        else:
            if self.key.resolve().is_relative_to(public.resolve()):
                raise IntegrityError("the private key lies in the folder that is to be published")
            secret = keys.read_private(self.key)
        known = secret.public_key()
        (public / PUBLIC_KEY).write_bytes(keys.written(known))
        files, _ = contents(public)
        listing = Listing(
            key=keys.fingerprint(known),
            files={name: entry_of(public / name) for name in files},
        ).write()
        (public / LISTING).write_bytes(listing)
        (public / SIGNATURE).write_bytes(keys.sign(secret, listing, DOMAIN))
        made = () if self.key is not None else (PRIVATE_KEY,)
        return Sealed((LISTING, SIGNATURE, PUBLIC_KEY), made)

    def verify(
        self, public: Path, *, key: Path | None = None, known: Known | None = None
    ) -> Verified:
        """Check every file of the folder against the signed list.

        Raises
        ------
        IntegrityError
            Saying which check failed: key, signature, list, or which files.
        UsageError
            When the recipient knows of versions: a digest does not.
        """
        if known is not None and known != Known():
            raise UsageError(
                "a digest knows of no versions: the release cannot be compared with a known head "
                "or version; only its key and its files can be checked"
            )
        if not public.is_dir():
            raise IntegrityError(f"{public}: there is no such folder")
        listing, signature, pem = (read(public, name) for name in (LISTING, SIGNATURE, PUBLIC_KEY))
        signer = keys.read_public(pem, f"'{PUBLIC_KEY}'")
        if key is not None and not keys.same(signer, keys.pinned(key)):
            raise IntegrityError(
                f"the release is signed with another key than the pinned one: "
                f"{keys.fingerprint(signer)}"
            )
        if not keys.fits(signer, listing, signature, DOMAIN):
            raise IntegrityError(f"the signature in '{SIGNATURE}' does not fit '{LISTING}'")
        listed = Listing.read(listing, LISTING)
        if listed.key != keys.fingerprint(signer):
            raise IntegrityError(f"'{LISTING}' was written for another key than '{PUBLIC_KEY}'")
        compare(public, listed.files, (LISTING, SIGNATURE))
        return _verified(listed, pinned=key is not None)


def _verified(listed: Listing, pinned: bool) -> Verified:
    covers = [f"every byte of {len(listed.files)} files, and that there is no other file"]
    not_covered = [
        "whether an older release of the same publisher was put in the place of a newer one",
        "whether the release protects anybody: the report speaks of that",
    ]
    if pinned:
        covers.append(f"the signer: whoever holds the pinned key {listed.key}")
    else:
        not_covered.insert(
            0,
            "self-consistent, signer unknown: whoever changes the files can seal them again; "
            "give the publisher's key, obtained elsewhere",
        )
    return Verified(tuple(covers), tuple(not_covered))
