"""The uploads of one round: each id once, with one content."""

import hashlib
from collections.abc import Iterator
from typing import Literal

import attrs


@attrs.define
class Uploads:
    """What a server has accepted, so that whatever comes twice counts once.

    A sender whose receipt was lost sends the same bytes again and gets the same receipt. Other
    bytes under an id that is known come from a mistake or from somebody else: they are refused, and
    what was accepted first stands.
    """

    _bodies: dict[bytes, bytes] = attrs.field(factory=dict, repr=False)

    def judge(self, upload: bytes, body: bytes) -> Literal["new", "again", "other"]:
        """Say whether an upload is new, comes again, or has other bytes than before."""
        if upload not in self._bodies:
            return "new"
        return "again" if self._bodies[upload] == body else "other"

    def add(self, upload: bytes, body: bytes) -> None:
        """Keep a new upload."""
        if self.judge(upload, body) != "new":
            raise ValueError("an upload is added once")
        self._bodies[upload] = body

    def __len__(self) -> int:
        return len(self._bodies)

    def __getitem__(self, upload: bytes) -> bytes:
        return self._bodies[upload]

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._bodies)

    def fingerprints(self) -> dict[bytes, bytes]:
        """Return a hash of the content of every upload, by id: what servers compare."""
        return {upload: hashlib.sha256(body).digest() for upload, body in self._bodies.items()}

    def keep(self, uploads: set[bytes]) -> int:
        """Forget all uploads but these; return how many that were."""
        gone = [upload for upload in self._bodies if upload not in uploads]
        for upload in gone:
            del self._bodies[upload]
        return len(gone)
