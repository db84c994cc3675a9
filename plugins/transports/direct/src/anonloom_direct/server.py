"""The server's side of transport direct: every server knows everything, and all show the same."""

import hmac
from collections.abc import Sequence
from typing import ClassVar

import attrs

from anonloom import short_repr
from anonloom_direct.content import NOWHERE, Content, content_size, id_of
from anonloom_transport import ServerStrategy, pack, read_row, unpack


@short_repr
@attrs.define(eq=False)
class DirectServer(ServerStrategy):
    """Keeps what it is sent; the result is what all servers hold alike.

    A message with a receipt from every server is held by every server, hence in what they agree
    on; an id stands in it once, and is a hash of the message. That is the whole argument for
    'exactly once'.
    """

    steps: ClassVar[frozenset[str]] = frozenset(("rows",))

    _filled: dict[int, bytes] = attrs.field(factory=dict, init=False, repr=False)

    @property
    def content_size(self) -> int:
        """Bytes of what a client seals to this server."""
        return content_size(self.state.round)

    def judge(self, upload: bytes, content: bytes) -> str:
        """Say why an upload is refused under its id, or nothing."""
        if not hmac.compare_digest(id_of(content), upload):
            return "not what its id says"
        if self.state.round.operation == "post":
            return ""
        read = Content.read(self.state.round, content)
        if read.position == NOWHERE:
            return ""
        if read.position >= len(self.state.round.slots):
            return "no such position"
        key = self.state.config.slot_keys[read.position]
        if not hmac.compare_digest(key.alpha, read.alpha):
            return "not the position's secret"
        if read_row(key.head, self.state.round.iteration, read.message) is None:
            return "not from the position's owner"
        if read.position in self._filled:
            return "position already filled"
        self._filled[read.position] = read.alpha
        return ""

    def place(self) -> bool:
        """Do nothing: every server has everything already."""
        for upload in self.state.admitted or ():
            content = self.state.content(upload)
            self.state.learn(content, Content.read(self.state.round, content).message)
        return True

    def tally(self, groups: Sequence[Sequence[int]]) -> list[int]:
        """Count: every server sees which positions are filled."""
        contents = (
            Content.read(self.state.round, self.state.content(upload))
            for upload in self.state.admitted or ()
        )
        filled = {content.position for content in contents}
        return [len(filled.intersection(group)) for group in groups]

    def reveal(self) -> bool:
        """Show all that was not erased."""
        self.state.channel.exchange("rows", self._rows, self.state.subject)
        return self.state.channel.has_sent("rows")

    def _rows(self) -> bytes:
        contents = [
            Content.read(self.state.round, self.state.content(upload))
            for upload in self.state.admitted or ()
        ]
        if self.state.round.operation == "post":
            # Sorted by content: the order of arrival says who sent what.
            return pack(*sorted(content.message for content in contents))
        rows = {content.position: content.message for content in contents}
        kept = (
            b"" if index in self.state.erased else rows.get(index, b"")
            for index in range(self._positions)
        )
        return pack(*kept)

    @property
    def _positions(self) -> int:
        return len(self.state.round.slots)

    def conclude(self) -> list[bytes | None] | None:
        """Return what all servers have shown alike."""
        shown = self.state.channel.exchange_result("rows", self.state.subject)
        if shown is None:
            return None
        if len(set(shown)) > 1:
            self.state.channel.stop("one of the servers does not show what all hold")
            return None
        rows = unpack(shown[0])
        if self.state.round.operation == "post":
            return list(rows)
        return [self._record(index, row) for index, row in enumerate(rows)]

    def _record(self, position: int, row: bytes) -> bytes | None:
        if not row:
            return None
        head = self.state.config.slot_keys[position].head
        return read_row(head, self.state.round.iteration, row)

    def forget(self) -> None:
        """Forget who filled which position."""
        self._filled.clear()
