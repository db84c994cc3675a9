"""Depositing: the table of a `deposit`, a row for each position, and who may write there."""

from itertools import pairwise
from typing import TYPE_CHECKING

import attrs
import numpy as np

from anonloom.kinds.slots import read_row
from anonloom_dpf import slotauth
from anonloom_dpf.combining import xor_all
from anonloom_dpf.layout import TAG_BYTES, Bytes, DepositLayout

if TYPE_CHECKING:
    from anonloom_dpf.server import DpfServer

#: Into how many groups the uploads are cut; each is checked as a whole.
_GROUPS = 16

#: Uploads from one place in the list of admitted ones up to another.
Group = tuple[int, int]


@attrs.define(eq=False)
class Depositing:
    """One server's work in a `deposit`.

    Whether all writes of a group of uploads were made by owners of the slots shows in one value per
    server (see `slotauth`). Only groups that fail are halved, until the guilty uploads are found.
    """

    wrong = "foreign write"

    server: "DpfServer" = attrs.field(repr=False)
    layout: DepositLayout
    _share: Bytes | None = attrs.field(default=None, init=False, repr=False)
    _weights: Bytes | None = attrs.field(default=None, init=False, repr=False)
    _claims: dict[Group, bytes] = attrs.field(factory=dict, init=False, repr=False)

    def evaluate(self) -> list[bytes] | None:
        """Evaluate all keys; return the uploads that wrote elsewhere, None while it goes on."""
        admitted = self.server.admitted or ()
        bounds = np.linspace(0, len(admitted), min(_GROUPS, len(admitted)) + 1).astype(int)
        groups = [(int(start), int(stop)) for start, stop in pairwise(bounds)]
        self._add_up(groups)
        parents: list[Group] = []
        before: list[list[bytes]] = []
        wrong: list[Group] = []
        for level in range(len(admitted).bit_length() + 1):
            said = self._exchange(level, groups)
            if said is None or not self._consistent(said, before, parents):
                return None
            failing = [
                at
                for at, claims in enumerate(zip(*said, strict=True))
                if not slotauth.accepted(claims)
            ]
            wrong += [groups[at] for at in failing if groups[at][1] - groups[at][0] == 1]
            parents = [groups[at] for at in failing if groups[at][1] - groups[at][0] > 1]
            if not parents:
                break
            before = [[claims[groups.index(group)] for group in parents] for claims in said]
            groups = [half for group in parents for half in _halves(group)]
        return [admitted[start] for start, _ in wrong]

    def _exchange(self, level: int, groups: list[Group]) -> list[list[bytes]] | None:
        """Return what every server claims of every group."""
        talk, subject = self.server.talk, self.server.subject
        shown = talk.exchange(
            f"claims {level}", lambda: b"".join(self._claim(group) for group in groups), subject
        )
        if shown is None:
            return None
        if any(len(claims) != TAG_BYTES * len(groups) for claims in shown):
            talk.stop("a server sent check values of the wrong size")
            return None
        cuts = range(0, TAG_BYTES * len(groups), TAG_BYTES)
        return [[claims[at : at + TAG_BYTES] for at in cuts] for claims in shown]

    def _consistent(
        self, said: list[list[bytes]], before: list[list[bytes]], parents: list[Group]
    ) -> bool:
        """Whether every server's claims of two halves make up its claim of the whole."""
        for server, whole in enumerate(before):
            for at in range(len(parents)):
                if xor_all(said[server][2 * at : 2 * at + 2]) != whole[at]:
                    self.server.talk.stop(f"server {server} contradicts its own check values")
                    return False
        return True

    def _add_up(self, groups: list[Group]) -> None:
        """Evaluate group by group, note what to claim of each, and add all up."""
        if self._share is not None:
            return
        alphas = [key.alpha for key in self.server.seat.slot_keys]
        self._weights = self.layout.weights(alphas)
        total = np.zeros((self.layout.rows, self.layout.width), np.uint8)
        for group in groups:
            share, self._claims[group] = self._evaluated(group)
            total ^= share
        self._share = total

    def _claim(self, group: Group) -> bytes:
        if group not in self._claims:
            # Of two halves one is evaluated; the other is what remains of the whole.
            whole = next(parent for parent in self._claims if group in _halves(parent))
            left, right = _halves(whole)
            _, self._claims[left] = self._evaluated(left)
            self._claims[right] = xor_all([self._claims[whole], self._claims[left]])
        return self._claims[group]

    def _evaluated(self, group: Group) -> tuple[Bytes, bytes]:
        assert self._weights is not None
        keys, tags = self._contents((self.server.admitted or ())[slice(*group)])
        share = np.zeros((self.layout.rows, self.layout.width), np.uint8)
        self.layout.function.accumulate(self.server.seat.index, keys, share)
        tag = np.bitwise_xor.reduce(tags, axis=0).tobytes()
        return share, slotauth.claim(share, self._weights, tag)

    def _contents(self, uploads: "tuple[bytes, ...] | list[bytes]") -> tuple[Bytes, Bytes]:
        joined = b"".join(self.server.content(upload) for upload in uploads)
        rows = np.frombuffer(joined, np.uint8).reshape(len(uploads), self.layout.content_size)
        cut = self.layout.function.key_size
        return np.ascontiguousarray(rows[:, :cut]), rows[:, cut:]

    def remove(self, uploads: list[bytes]) -> None:
        """Take uploads out again: adding twice is adding nothing."""
        if uploads and self._share is not None:
            keys, _ = self._contents(uploads)
            self.layout.function.accumulate(self.server.seat.index, keys, self._share)

    def _kept(self) -> list[int]:
        erased = self.server.erased
        return [at for at in range(self.layout.rows) if at not in erased]

    def shown(self) -> bytes:
        """Return this server's share of the rows that are not erased, and of no other."""
        assert self._share is not None
        return self._share[self._kept()].tobytes()

    def combine(self, shares: tuple[bytes, ...]) -> None:
        """Read the records out of the sum of all shares, and publish them."""
        kept = self._kept()
        if any(len(share) != len(kept) * self.layout.width for share in shares):
            self.server.talk.stop("a server sent a share of the wrong size")
            return
        rows = xor_all(shares)
        result: list[bytes | None] = [None] * self.layout.rows
        contested, nothing = 0, bytes(self.layout.width)
        for at, position in enumerate(kept):
            row = rows[at * self.layout.width : (at + 1) * self.layout.width]
            if row != nothing:
                head = self.server.seat.slot_keys[position].head
                result[position] = read_row(head, self.layout.iteration, row)
                contested += result[position] is None
        if contested:
            self.server.remarks["contested records"] = contested
        self.server.publish(result)

    def forget(self) -> None:
        """Forget this server's share, of what was erased too."""
        self._share = self._weights = None
        self._claims.clear()


def _halves(group: Group) -> tuple[Group, Group]:
    start, stop = group
    middle = (start + stop + 1) // 2
    return (start, middle), (middle, stop)
