"""Seals over rows: a signed head binds every file, and every row of the table among them."""

import secrets
from datetime import UTC, datetime
from pathlib import Path
from typing import ClassVar

import attrs
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from anonloom import Schema, param
from anonloom.errors import IntegrityError, UsageError
from anonloom.kinds import (
    KnownVersion,
    ProofSystem,
    ProvedRows,
    Query,
    Seal,
    SealFiles,
    VerifiedScope,
)
from anonloom.params import distinct
from anonloom_seals import keys
from anonloom_seals.answers import answer, check_answer, refuse_other
from anonloom_seals.binding import BoundRows
from anonloom_seals.folder import contents, entry_of, refuse_sealed
from anonloom_seals.head import Head
from anonloom_seals.proof import NAMES, Proof
from anonloom_seals.published_rows import read_table
from anonloom_seals.salts import Seeds
from anonloom_seals.seal_format import SealFormat
from anonloom_seals.sealed_folder import SealedFolder
from anonloom_seals.signed_text import SignedText, of_signer, together
from anonloom_seals.structure import GrowingStructure
from anonloom_seals.versions import compare_versions

__all__ = ["RowSeal"]

_SAME_KEY = "a new version must be signed with the key of the version before"


@attrs.frozen(kw_only=True)
class RowSeal(Seal, ProofSystem):
    """Seals every file of a release, and every row, so that single rows can be proved.

    A scheme brings its format: its name, and the structure that binds the rows. The parameters are
    the publisher's: to verify, to prove and to check a proof the format is enough.

    Why every change is noticed: the head is signed, and holds the hash of every file but itself
    and its signature, the number of rows, and the root of a structure over them in the order of
    the file, and of one per indexed end of an attribute. A change of a row changes its leaf and
    thereby every root, unless SHA-256 has a collision; a change of the head does not fit the
    signature.
    """

    format: ClassVar[SealFormat]

    key: Path | None = param(
        help="A private Ed25519 key (PEM) to sign with; a new one is drawn from the system's "
        "randomness for every release without it. Versions of one data set need one key.",
        default=None,
        private=True,
    )
    index: tuple[str, ...] = param(
        help="Columns by which ranges can be proved: all rows of which a condition holds.",
        default=(),
        check=distinct(),
    )
    previous: Path | None = param(
        help="The output folder of the version before this one: the release continues its data "
        "set. Without it a new data set begins.",
        default=None,
        private=True,
    )
    growing: bool = param(
        help="Rows are only ever added at the end (publish with 'shuffle: false'): rows of the "
        "version before keep their salts, so that the growth can be proved.",
        default=False,
    )

    def problem(self, schema: Schema) -> str | None:
        """Say which column cannot be indexed, or which parameters do not fit; or None."""
        for name in self.index:
            unpublished = schema.publication_problem([name])
            if unpublished:
                return unpublished
            column = schema[name]
            if column.role == "quasi" and column.type != "category" and column.form == "nodes":
                return (
                    f"column '{name}' is published as groups of a hierarchy, and nobody can tell "
                    "from a group's name where it ends: publish intervals, or index another column"
                )
        if self.previous is not None and self.key is None:
            return f"{_SAME_KEY}: give it with 'key'"
        return self._growth_problem()

    def _growth_problem(self) -> str | None:
        if self.growing and not self.format.shows_growth:
            return f"'{self.format.name}' cannot prove that a release only grew"
        return None

    # --- sealing ----------------------------------------------------------------------------

    def ready(self) -> None:
        """Refuse a key that cannot be read, and a version before that cannot be continued."""
        before = self._version_before()
        if self.key is not None:
            _check_same_key(keys.read_private(self.key), before and before[0])

    def seal(self, public: Path, private: Path) -> SealFiles:
        """Seal all files of the public folder and every row of its table.

        Raises
        ------
        IntegrityError
            When the folder is sealed already, holds no table or something else than files, or the
            key or the previous version cannot be used.
        UsageError
            When the release has no such columns to index, or growth is asked of a structure that
            cannot show it.
        """
        format, names = self.format, self.format.names
        if problem := self._growth_problem():
            raise UsageError(problem)
        refuse_sealed(public, format.public_files)
        contents(public)  # what cannot be sealed is refused before a key is made
        before = self._version_before()
        published = read_table(public)
        older = before if self.growing else None
        seeds = Seeds.new() if older is None else older[1].for_next_version(older[0].size)
        rows = BoundRows.bind(published, seeds, format.structure, self.index)
        if older is not None:
            _check_grown(rows, older[0])
        secret = self._signing_key(public, private / format.private_key, before and before[0])
        (public / names.key).write_bytes(keys.public_key_pem(secret.public_key()))
        (public / format.salts).write_bytes(seeds.write())
        head = self._head(public, rows, keys.fingerprint(secret.public_key()), before and before[0])
        text = head.write()
        (public / names.text).write_bytes(text)
        (public / names.signature).write_bytes(keys.sign(secret, text, format.domain))
        made = (format.private_key,) if self.key is None else ()
        return SealFiles(format.public_files, made)

    def _version_before(self) -> tuple[Head, Seeds] | None:
        """Read head and seeds of the version before, checked as far as its own folder goes."""
        if self.previous is None:
            return None
        above = self.previous / "public"
        public = above if above.is_dir() else self.previous
        if not public.is_dir():
            raise IntegrityError(f"the version before: there is no folder '{self.previous}'")
        names = self.format.names
        head = self.format.read_head(SignedText.read(public, names), names, None)
        return head, self.format.read_seeds(public, head)

    def _signing_key(self, public: Path, new: Path, before: Head | None) -> Ed25519PrivateKey:
        if self.key is None and before is not None:
            raise IntegrityError(_SAME_KEY, hint="Give it with 'key'.")
        secret = keys.signing(self.key, public, new)
        _check_same_key(secret, before)
        return secret

    def _head(self, public: Path, rows: BoundRows, key: str, before: Head | None) -> Head:
        files, _ = contents(public)
        return Head(
            scheme=self.format.name,
            dataset=secrets.token_hex(16) if before is None else before.dataset,
            version=1 if before is None else before.version + 1,
            previous=None if before is None else before.digest,
            created=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            key=key,
            table=rows.published.files[0],
            size=len(rows.encoded),
            layout=rows.published.layout,
            orders=rows.head_orders(),
            files={name: entry_of(public / name) for name in files},
        )

    # --- verifying a release ----------------------------------------------------------------

    def verify(
        self, public: Path, *, key: Path | None = None, known: KnownVersion | None = None
    ) -> VerifiedScope:
        """Check every file and every row against the signed head.

        Raises
        ------
        IntegrityError
            Saying which check failed: key, signature, head, version, files or rows.
        """
        folder = SealedFolder.check(public, self.format, key, known)
        return together(
            folder.scope(),
            of_signer(folder.head.key, pinned=key is not None),
            folder.version,
            VerifiedScope((), ("whether the release protects anybody: the report speaks of that",)),
        )

    # --- proofs -----------------------------------------------------------------------------

    def prove(self, public: Path, query: Query) -> bytes:
        """Return a proof of some rows, of all rows of a range, or of growth.

        The whole release is checked first: of a changed one nothing is proved.

        Raises
        ------
        UsageError
            When the release has no such rows, columns or orders.
        IntegrityError
            When the folder is not what was sealed.
        """
        folder = SealedFolder.check(public, self.format)
        return answer(folder.signed, folder.head, folder.rows, query).write()

    def verify_proof(
        self,
        proof: bytes,
        *,
        key: Path | None = None,
        known: KnownVersion | None = None,
        asked: Query | None = None,
    ) -> ProvedRows:
        """Check a proof on its own.

        Raises
        ------
        IntegrityError
            Saying which check failed: key, signature, head, version, rows, completeness, or that
            it answers something else than was asked.
        UsageError
            When what was asked makes no sense for the columns of the release.
        """
        result = Proof.read(proof)
        head = self.format.read_head(result.head, NAMES, key)
        version = compare_versions(head, known)
        shown = check_answer(result, head, self.format.structure, known)
        if asked is not None:
            refuse_other(result, head, asked)
        verified = together(
            shown.verified,
            of_signer(head.key, pinned=key is not None),
            version,
            VerifiedScope((), ("other rows of the release, and its files",)),
        )
        return ProvedRows(verified=verified, rows=shown.rows)


def _check_same_key(secret: Ed25519PrivateKey, before: Head | None) -> None:
    if before is not None and keys.fingerprint(secret.public_key()) != before.key:
        raise IntegrityError("the version before was signed with another key")


def _check_grown(rows: BoundRows, before: Head) -> None:
    """Refuse to seal as grown what is no continuation."""
    structure = rows.orders[None, "low"].structure
    assert isinstance(structure, GrowingStructure)
    what = "the version before is not the beginning of this release"
    hint = "Only add rows at the end, with 'shuffle: false'; or write 'growing: false'."
    if before.layout != rows.published.layout or before.size > structure.size:
        raise IntegrityError(what, hint=hint)
    old = bytes.fromhex(before.orders[0].root)
    try:
        path = structure.growth(before.size)
        structure.check_growth(before.size, old, structure.size, structure.root, path)
    except IntegrityError:
        raise IntegrityError(what, hint=hint) from None
