"""Deposit table: the table of a `deposit`, a row for each position, and who may write there."""

import hmac
from collections.abc import Sequence
from itertools import pairwise
from typing import ClassVar

import attrs
import numpy as np

from anonloom import short_repr
from anonloom.typing import ByteArray
from anonloom_dpf import slotauth
from anonloom_dpf.combining import xor_all
from anonloom_dpf.layout import TAG_BYTES, DepositLayout
from anonloom_dpf.prime_field import Elements
from anonloom_transport import RoundState, read_row

#: Into how many groups the uploads are cut; each is checked as a whole.
GROUPS = 16

#: Uploads from one place in the list of admitted ones up to another.
Group = tuple[int, int]


@attrs.frozen
class Evaluation:
    """What a server finds of some uploads: its share, what it claims, and numbers if it counts."""

    share: ByteArray = attrs.field(repr=False)
    claim: bytes = attrs.field(repr=False)
    sums: Elements = attrs.field(factory=lambda: np.empty(0, np.uint64), repr=False)
    sketches: Elements = attrs.field(factory=lambda: np.empty(0, np.uint64), repr=False)
    witnesses: Elements = attrs.field(factory=lambda: np.empty(0, np.uint64), repr=False)


@short_repr
@attrs.define(eq=False)
class DepositTable:
    """One server's work in a `deposit`.

    Whether all writes of a group of uploads were made by owners of the slots shows in one value per
    server (see `slotauth`). Only groups that fail are halved, until the guilty uploads are found.
    """

    #: Bytes of what a server claims of a group.
    claim_bytes: ClassVar[int] = TAG_BYTES

    state: RoundState = attrs.field(repr=False)
    layout: DepositLayout
    _share: ByteArray | None = attrs.field(default=None, init=False, repr=False)
    _weights: ByteArray | None = attrs.field(default=None, init=False, repr=False)
    _claims: dict[Group, bytes] = attrs.field(factory=dict, init=False, repr=False)

    def evaluate(self) -> list[bytes] | None:
        """Evaluate all keys; return the uploads that wrote elsewhere, None while it goes on."""
        groups = self.groups()
        self.add_up(groups)
        return self.foreign(groups)

    def reasons(self, wrong: Sequence[bytes]) -> dict[str, list[bytes]]:
        """Say why uploads are taken out."""
        return {"foreign write": list(wrong)}

    def groups(self) -> list[Group]:
        """Return the groups that uploads are cut into at first."""
        number = len(self.state.admitted or ())
        bounds = np.linspace(0, number, min(GROUPS, number) + 1).astype(int)
        return [(int(start), int(stop)) for start, stop in pairwise(bounds)]

    def foreign(self, groups: list[Group]) -> list[bytes] | None:
        """Return the uploads that wrote elsewhere, None while it goes on."""
        admitted = self.state.admitted or ()
        parents: list[Group] = []
        before: list[list[bytes]] = []
        wrong: list[Group] = []
        for level in range(len(admitted).bit_length() + 1):
            message = self._exchange(level, groups)
            if message is None or not self._consistent(message, before, parents):
                return None
            failing = [
                index
                for index, claims in enumerate(zip(*message, strict=True))
                if not hmac.compare_digest(self.add_claims(claims), bytes(self.claim_bytes))
            ]
            wrong += [
                groups[index] for index in failing if groups[index][1] - groups[index][0] == 1
            ]
            parents = [
                groups[index] for index in failing if groups[index][1] - groups[index][0] > 1
            ]
            if not parents:
                break
            before = [[claims[groups.index(group)] for group in parents] for claims in message]
            groups = [half for group in parents for half in _halves(group)]
        return [admitted[start] for start, _ in wrong]

    def _exchange(self, level: int, groups: list[Group]) -> list[list[bytes]] | None:
        """Return what every server claims of every group."""
        channel, subject = self.state.channel, self.state.subject
        shown = channel.exchange(
            f"claims {level}", lambda: b"".join(self._claim(group) for group in groups), subject
        )
        if shown is None:
            return None
        if any(len(claims) != self.claim_bytes * len(groups) for claims in shown):
            channel.stop("a server sent check values of the wrong size")
            return None
        size = self.claim_bytes
        cuts = range(0, size * len(groups), size)
        return [[claims[index : index + size] for index in cuts] for claims in shown]

    def _consistent(
        self, said: list[list[bytes]], before: list[list[bytes]], parents: list[Group]
    ) -> bool:
        """Whether every server's claims of two halves make up its claim of the whole."""
        for server, whole in enumerate(before):
            for index in range(len(parents)):
                if self.add_claims([*said[server][2 * index : 2 * index + 2]]) != self.add_claims(
                    [whole[index]]
                ):
                    self.state.channel.stop(f"server {server} contradicts its own check values")
                    return False
        return True

    def add_claims(self, claims: Sequence[bytes]) -> bytes:
        """Return the sum of claims."""
        return xor_all(claims)

    def without(self, whole: bytes, part: bytes) -> bytes:
        """Return what remains of a claim."""
        return xor_all([whole, part])

    def members(self, group: Group) -> list[bytes]:
        """Return the uploads of a group."""
        return list((self.state.admitted or ())[slice(*group)])

    def add_up(self, groups: list[Group]) -> None:
        """Evaluate group by group, note what to claim of each, and add all up."""
        if self._share is not None:
            return
        alphas = [key.alpha for key in self.state.config.slot_keys]
        self._weights = self.layout.weights(alphas)
        self._share = self.layout.empty()
        for done, group in enumerate(groups):
            self.keep(group, self.evaluate_uploads(self.members(group)))
            if self.state.on_progress is not None:
                self.state.on_progress(done, len(groups))

    def keep(self, group: Group, found: Evaluation) -> None:
        """Note what was evaluated of a whole group."""
        assert self._share is not None
        self._claims[group] = found.claim
        self._share ^= found.share

    def _claim(self, group: Group) -> bytes:
        if group not in self._claims:
            # Of two halves one is evaluated; the other is what remains of the whole.
            whole = next(parent for parent in self._claims if group in _halves(parent))
            left, right = _halves(whole)
            self._claims[left] = self.evaluate_uploads(self.members(left)).claim
            self._claims[right] = self.without(self._claims[whole], self._claims[left])
        return self._claims[group]

    def evaluate_uploads(self, uploads: Sequence[bytes]) -> Evaluation:
        """Evaluate uploads, and claim of their rows."""
        keys, tags = self.contents(uploads)
        share = self.layout.empty()
        self.layout.function.accumulate(self.state.config.index, keys, share)
        return Evaluation(share, self.claim_rows(share, tags))

    def claim_rows(self, share: ByteArray, tags: ByteArray) -> bytes:
        """Return what this server claims of its share of some uploads' rows."""
        assert self._weights is not None
        tag = np.bitwise_xor.reduce(tags, axis=0, initial=0).astype(np.uint8).tobytes()
        return slotauth.claim(share, self._weights, tag)

    def contents(self, uploads: Sequence[bytes]) -> tuple[ByteArray, ByteArray]:
        """Return the keys of uploads, and what came with them."""
        joined = b"".join(self.state.content(upload) for upload in uploads)
        rows = np.frombuffer(joined, np.uint8).reshape(len(uploads), self.layout.content_size)
        cut = self.layout.function.key_size
        return np.ascontiguousarray(rows[:, :cut]), rows[:, cut:]

    def remove(self, uploads: Sequence[bytes]) -> None:
        """Take uploads out again: adding twice is adding nothing."""
        if uploads and self._share is not None:
            keys, _ = self.contents(uploads)
            self.layout.function.accumulate(self.state.config.index, keys, self._share)

    def _kept_rows(self) -> list[int]:
        erased = self.state.erased
        return [index for index in range(self.layout.rows) if index not in erased]

    def own_share(self) -> bytes:
        """Return this server's share of the rows that are not erased, and of no other."""
        assert self._share is not None
        return self._share[self._kept_rows()].tobytes()

    def combine(self, shares: tuple[bytes, ...]) -> list[bytes | None] | None:
        """Read the records out of the sum of all shares."""
        kept = self._kept_rows()
        if any(len(share) != len(kept) * self.layout.width for share in shares):
            self.state.channel.stop("a server sent a share of the wrong size")
            return None
        rows = xor_all(shares)
        result: list[bytes | None] = [None] * self.layout.rows
        contested, nothing = 0, bytes(self.layout.width)
        for index, position in enumerate(kept):
            row = rows[index * self.layout.width : (index + 1) * self.layout.width]
            if row != nothing:
                head = self.state.config.slot_keys[position].head
                result[position] = read_row(head, self.layout.iteration, row)
                contested += result[position] is None
        if contested:
            self.state.remarks["contested records"] = contested
        return result

    def forget(self) -> None:
        """Forget this server's share, of what was erased too."""
        self._share = self._weights = None
        self._claims.clear()


def _halves(group: Group) -> tuple[Group, Group]:
    start, stop = group
    middle = (start + stop + 1) // 2
    return (start, middle), (middle, stop)
