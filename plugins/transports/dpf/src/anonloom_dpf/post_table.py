"""Post table: what all messages of a `post` are written into and read from together."""

import hashlib
from collections.abc import Sequence

import attrs
import numpy as np

from anonloom import short_repr
from anonloom.typing import ByteArray
from anonloom_dpf.combining import xor_all
from anonloom_dpf.layout import PostLayout
from anonloom_dpf.sqrt_dpf import Square
from anonloom_dpf.tree import Tree
from anonloom_transport import RoundState

#: Why an upload is taken out.
WRONG = "malformed key"

#: Bytes of what a server says about one upload.
SAID_BYTES = 16


#: Keys that are evaluated between two reports of how far it is.
_TOGETHER = 4096


@short_repr
@attrs.define(eq=False)
class PostTable:
    """One server's work in a `post`."""

    state: RoundState = attrs.field(repr=False)
    layout: PostLayout
    _shares: list[ByteArray] | None = attrs.field(default=None, init=False, repr=False)
    _tags: bytes = attrs.field(default=b"", init=False, repr=False)

    def evaluate(self) -> list[bytes] | None:
        """Evaluate all keys; return the uploads that fail the check, None while it goes on."""
        if not self.layout.can_check_keys:
            self._add_up(None)
            return []
        # The key of the check is tossed when all uploads are fixed: nobody can prepare for it.
        coins = self.state.coins()
        if coins is None:
            return None
        self._add_up(hashlib.sha256(b"anonloom dpf check 1\0" + coins).digest())
        message = self.state.channel.exchange("check", lambda: self._tags, self.state.subject)
        if message is None:
            return None
        admitted = self.state.admitted or ()
        if any(len(tags) != SAID_BYTES * len(admitted) for tags in message):
            self.state.channel.stop("a server sent check values of the wrong size")
            return None
        first, *others = (np.frombuffer(tags, np.uint8).reshape(-1, SAID_BYTES) for tags in message)
        differs = np.any([np.any(first != other, axis=1) for other in others], axis=0)
        return [admitted[index] for index in np.flatnonzero(differs)]

    def reasons(self, wrong: Sequence[bytes]) -> dict[str, list[bytes]]:
        """Say why uploads are taken out."""
        return {WRONG: list(wrong)}

    def _add_up(self, check_key: bytes | None) -> None:
        if self._shares is not None:
            return
        state, shares = self.state, self.layout.empty()
        keys = self.layout.split(self._contents(state.admitted or ()))
        tags: list[ByteArray] = []
        for number, (function, own) in enumerate(zip(self.layout.functions, keys, strict=True)):
            tested = []
            for start in range(0, len(own), _TOGETHER):
                part = own[start : start + _TOGETHER]
                tested.append(self._evaluate(function, part, shares[number], check_key))
                if state.on_progress is not None:
                    state.on_progress(number * len(own) + start, len(keys) * len(own))
            if isinstance(function, Tree):
                tags += [np.concatenate(tested), function.public(own)]
        if check_key is not None:
            # Both servers must hold the same public part of every key.
            message = np.concatenate(tags, axis=1)
            self._tags = b"".join(
                hashlib.blake2b(row, digest_size=SAID_BYTES, key=check_key).digest()
                for row in message
            )
        self._shares = shares

    def _evaluate(
        self, function: Tree | Square, keys: ByteArray, share: ByteArray, check_key: bytes | None
    ) -> ByteArray:
        """Add keys to a share; return what is compared of each, nothing without a check."""
        party, nothing = self.state.config.index, np.empty((len(keys), 0), np.uint8)
        if isinstance(function, Square):
            function.accumulate(party, keys, share)
            return nothing
        result = function.accumulate(party, keys, share, check_key=check_key)
        return nothing if result is None else result

    def _contents(self, uploads: "tuple[bytes, ...] | list[bytes]") -> ByteArray:
        joined = b"".join(self.state.content(upload) for upload in uploads)
        return np.frombuffer(joined, np.uint8).reshape(len(uploads), self.layout.content_size)

    def remove(self, uploads: list[bytes]) -> None:
        """Take uploads out again: adding twice is adding nothing."""
        if not uploads:
            return
        keys = self.layout.split(self._contents(uploads))
        for function, own, share in zip(
            self.layout.functions, keys, self._shares or (), strict=True
        ):
            function.accumulate(self.state.config.index, own, share)

    def own_share(self) -> bytes:
        """Return this server's share of all tables."""
        return b"".join(share.tobytes() for share in self._shares or ())

    def combine(self, shares: tuple[bytes, ...]) -> Sequence[bytes | None] | None:
        """Read the messages out of the sum of all shares."""
        tables = None
        if len({len(share) for share in shares}) == 1:
            tables = self.layout.tables(xor_all(shares))
        if tables is None:
            self.state.channel.stop("a server sent a share of the wrong size")
            return None
        read = self.layout.placement.decode(tables)
        expected = len(self.state.admitted or ())
        if len(read.messages) < self.state.round.min_batch:
            self.state.channel.stop(
                f"{len(read.messages)} of {expected} messages can be read, fewer than "
                f"{self.state.round.min_batch}: one of the servers deviates, or many senders do"
            )
            return None
        missing = expected - self.state.refused[WRONG] - len(read.messages)
        if missing > 0:
            self.state.remarks["messages that cannot be read"] = missing
        if missing < 0:
            # A leaf of several slots has room for more than one message.
            self.state.remarks["messages beyond the number of uploads"] = -missing
        return read.messages

    def forget(self) -> None:
        """Forget this server's share."""
        self._shares = None
        self._tags = b""
