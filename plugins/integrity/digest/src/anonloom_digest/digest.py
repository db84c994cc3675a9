"""Integrity scheme digest: one signed list of what every file hashes to."""

import hashlib
from pathlib import Path

import attrs

from anonloom.errors import IntegrityError
from anonloom.kinds.integrity import Seal, Sealed, Verified
from anonloom.params import param
from anonloom_digest import keys
from anonloom_digest.folder import contents
from anonloom_digest.listing import Entry, Listing

LISTING = "digest.json"
SIGNATURE = "digest.sig"
PUBLIC_KEY = "digest.pub"
PRIVATE_KEY = "digest.key"


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
            files={name: _entry(public / name) for name in files},
        ).write()
        (public / LISTING).write_bytes(listing)
        (public / SIGNATURE).write_bytes(keys.sign(secret, listing))
        made = () if self.key is not None else (PRIVATE_KEY,)
        return Sealed((LISTING, SIGNATURE, PUBLIC_KEY), made)

    def verify(self, public: Path, *, key: Path | None = None) -> Verified:
        """Check every file of the folder against the signed list.

        Raises
        ------
        IntegrityError
            Saying which check failed: key, signature, list, or which files.
        """
        if not public.is_dir():
            raise IntegrityError(f"{public}: there is no such folder")
        listing, signature, known = (
            _read(public, name) for name in (LISTING, SIGNATURE, PUBLIC_KEY)
        )
        signer = keys.read_public(known, f"'{PUBLIC_KEY}'")
        if key is not None and not keys.same(signer, keys.pinned(key)):
            raise IntegrityError(
                f"the release is signed with another key than the pinned one: "
                f"{keys.fingerprint(signer)}"
            )
        if not keys.fits(signer, listing, signature):
            raise IntegrityError(f"the signature in '{SIGNATURE}' does not fit '{LISTING}'")
        listed = Listing.read(listing, LISTING)
        if listed.key != keys.fingerprint(signer):
            raise IntegrityError(f"'{LISTING}' was written for another key than '{PUBLIC_KEY}'")
        _compare(public, listed)
        return _verified(listed, pinned=key is not None)


def _entry(path: Path) -> Entry:
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            return Entry(digest, file.tell())
    except OSError as error:
        raise IntegrityError(f"'{path.name}' cannot be read: {error.strerror}") from None


def _read(public: Path, name: str) -> bytes:
    path = public / name
    if path.is_symlink():
        raise IntegrityError(f"'{name}' is a symbolic link")
    if not path.is_file():
        raise IntegrityError(
            f"'{name}' is missing: the folder is not sealed, or its seal was removed"
        )
    try:
        return path.read_bytes()
    except OSError as error:
        raise IntegrityError(f"'{name}' cannot be read: {error.strerror}") from None


def _compare(public: Path, listed: Listing) -> None:
    """Compare the folder with the list, and name everything that differs."""
    files, folders = contents(public)
    found = set(files) - {LISTING, SIGNATURE}
    expected = set(listed.files)
    implied = {str(above) for name in expected for above in Path(name).parents}
    different = [f"missing: '{name}'" for name in sorted(expected - found)]
    different += [f"added: '{name}'" for name in sorted(found - expected)]
    different += [f"added folder: '{name}'" for name in sorted(set(folders) - implied)]
    different += [
        f"changed: '{name}'"
        for name in sorted(expected & found)
        if _entry(public / name) != listed.files[name]
    ]
    if different:
        raise IntegrityError("the folder is not what was sealed", hint="\n".join(different))


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
