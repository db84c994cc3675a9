"""A sealed release, checked as far as its seal and what the recipient knows allow."""

from pathlib import Path
from typing import Self

import attrs

from anonloom.errors import IntegrityError, UsageError
from anonloom.kinds import KnownVersion, VerifiedScope
from anonloom_seals.binding import BoundRows
from anonloom_seals.folder import compare
from anonloom_seals.head import Head
from anonloom_seals.published_rows import read_table
from anonloom_seals.seal_format import SealFormat
from anonloom_seals.signed_text import SignedText
from anonloom_seals.versions import compare_versions

__all__ = ["SealedFolder"]


@attrs.frozen(eq=False)
class SealedFolder:
    """A public folder in which every file and every row is what the signed head says.

    Attributes
    ----------
    signed
        The head as it was signed.
    version
        What the head shows beside what the recipient knows of the data set's versions.
    """

    signed: SignedText
    head: Head
    rows: BoundRows
    version: VerifiedScope

    @classmethod
    def check(
        cls,
        public: Path,
        format: SealFormat,
        key: Path | None = None,
        known: KnownVersion | None = None,
    ) -> Self:
        """Check a folder: key, signature, head, files, version and rows, in this order.

        Raises
        ------
        IntegrityError
            Saying which check failed.
        """
        if not public.is_dir():
            raise IntegrityError(f"{public}: there is no such folder")
        names = format.names
        signed = SignedText.read(public, names)
        head = format.read_head(signed, names, key)
        compare(public, head.files, (names.text, names.signature))
        version = compare_versions(head, known)
        rows = _bind_rows(public, format, head)
        _check_roots(rows, head)
        return cls(signed, head, rows, version)

    def scope(self) -> VerifiedScope:
        """Say what of the files and rows was checked."""
        head, published = self.head, self.rows.published
        covers = [
            f"every byte of {len(head.files)} files, and that there is no other file",
            f"every row: {head.size} in '{head.table}', in their order"
            + "".join(f"; '{name}' holds the same" for name in published.files[1:]),
        ]
        by = dict.fromkeys(str(order.attribute) for order in head.orders[1:])
        if by:
            covers.append(f"that ranges of {', '.join(by)} are complete")
        return VerifiedScope(
            tuple(covers),
            tuple(f"whether '{name}' holds the same rows" for name in published.apart),
        )


def _bind_rows(public: Path, format: SealFormat, head: Head) -> BoundRows:
    published = read_table(public)
    if published.files[0] != head.table or published.layout != head.layout:
        raise IntegrityError(f"the columns of '{head.table}' are not those of the head")
    if len(published) != head.size:
        raise IntegrityError(f"'{head.table}' has {len(published)} rows; the head says {head.size}")
    by = dict.fromkeys(order.attribute for order in head.orders if order.attribute is not None)
    try:
        return BoundRows.bind(
            published, format.read_seeds(public, head), format.structure, tuple(by)
        )
    except UsageError as error:
        raise IntegrityError(f"the head makes no sense: {error}") from None


def _check_roots(rows: BoundRows, head: Head) -> None:
    result = rows.head_orders()
    if result[0] != head.orders[0]:
        raise IntegrityError("the rows are not those of the head: the root differs")
    if result != head.orders:
        # Ranges would be proved by an order that leaves rows out, or has them in a wrong place.
        raise IntegrityError(
            "the rows are not sorted as the head says: the root of an order differs"
        )
