"""Open: when nobody misses a packet, traps are struck, layers peeled and shares put together.

Every server publishes its key of the inner layers once, and everybody peels alike. What a packet of
a deposit holds is still sealed then: of a row that is kept each server shows the key of its share,
of an erased one nobody does. Which positions are filled is seen by then: where that is counted,
layers are peeled before the opening, and keys of shares wait for it.
"""

from collections import Counter
from collections.abc import Sequence

import attrs

from anonloom import short_repr
from anonloom_mixnet.blame_protocol import BlameProtocol
from anonloom_mixnet.cascade import peel, sealed_list
from anonloom_mixnet.items import NOWHERE, Item, open_row, read_item, unopened_by
from anonloom_mixnet.layers import KEY, Opener, UnopenedLayer
from anonloom_mixnet.mix_phase import NUMBER, MixPhase
from anonloom_mixnet.route_claims import LISTED, KeptPacket, list_entry
from anonloom_mixnet.trap_store import COMMITMENT
from anonloom_mixnet.traps import struck
from anonloom_transport import Envelope, RoundState, cut, pack, read_row, row_size, unpack

_SALT = 32
_FINGERPRINT = 32

#: Stand for a key in what a server shows of its shares.
_ERASED, _UNOPENED = bytes(KEY), b"\xff" * KEY


@short_repr
@attrs.define(eq=False)
class OpenPhase:
    """A server's part in opening what was mixed."""

    state: RoundState
    mix: MixPhase
    blame: BlameProtocol

    _names: frozenset[bytes] = attrs.field(default=frozenset(), init=False, repr=False)
    _present: frozenset[bytes] = attrs.field(default=frozenset(), init=False, repr=False)
    _kept: tuple[bytes, ...] | None = attrs.field(default=None, init=False, repr=False)
    _inside: list[bytes] | None = attrs.field(default=None, init=False, repr=False)
    _items: list[Item] | None = attrs.field(default=None, init=False, repr=False)
    _opened_rows: list[bytes | None] | None = attrs.field(default=None, init=False, repr=False)

    # --- senders whose packets are missing ------------------------------------------------------

    def receive_missing(self, envelope: Envelope) -> str:
        """Take the claim of a sender that its core is not in the signed list."""
        if not self.mix.shown or "open" in self.state.requests or "count" in self.state.requests:
            return "not the time for objections"
        claim = KeptPacket.read(self.mix.route, envelope.body)
        if claim is None or self._way_of(claim) is None:
            return "unfounded objection"
        self.state.remembered[f"missing {claim.name.hex()}"] = envelope.body
        return ""

    def _way_of(self, claim: KeptPacket) -> tuple[bytes, ...] | None:
        """Return which way a packet should have gone, if its core is missing."""
        if not self._names:
            self._names = frozenset(self.mix.sent_names)
            self._present = frozenset(cut(self.mix.listed, LISTED))
        if claim.name not in self._names or claim.name in self.blame.guilty:
            return None
        way = claim.way(self.mix.route)
        return None if way is None or list_entry(way[-1]) in self._present else way

    def _nobody_misses_any(self) -> bool:
        """Whether all servers have said that no sender and no trap of theirs is missing."""
        if not self.state.channel.has_sent("missing"):
            facts = [
                fact for name, fact in self.state.remembered.items() if name.startswith("missing ")
            ]
            own = self.mix.own_traps
            facts += [
                bytes(KeptPacket.of(own.packets[index])) for index in own.missing(self.mix.cores)
            ]
            self.state.channel.send("missing", pack(*sorted(facts)))
        words = self.state.channel.all("missing")
        if words is None:
            return False
        hops = sorted({self._lost_by(way) for word in words for way in self._ways(word)})
        if hops:
            names = " and ".join(f"server {hop}" for hop in hops)
            self.state.channel.stop(f"{names} did not pass on a packet that it was given")
        return not hops

    def _ways(self, word: bytes) -> list[tuple[bytes, ...]]:
        try:
            claims = [
                KeptPacket.read(self.mix.route, fact)
                for fact in unpack(word, len(self.mix.sent_names))
            ]
        except ValueError:
            return []
        ways = (self._way_of(claim) for claim in claims if claim is not None)
        return [way for way in ways if way is not None]

    def _lost_by(self, way: Sequence[bytes]) -> int:
        """Return the first hop that did not pass a packet on; the last list lacks its core."""
        return next(hop for hop, passed in enumerate(self.mix.lists) if way[hop + 1] not in passed)

    # --- opening --------------------------------------------------------------------------------

    def _has_peeled(self) -> bool:
        """Name the traps and publish the key of the inner layers; return whether that is done."""
        if not self.state.channel.has_sent("named") and not self._nobody_misses_any():
            return False
        own = self.mix.own_traps
        self.state.channel.send("named", own.salt + b"".join(own.fingerprints))
        if self._without_traps() is None:
            return False
        assert self.mix.private is not None
        self.state.channel.send("peel", self.mix.private.peel)
        return True

    def reveal(self) -> bool:
        """Peel, and show shares of kept rows; return whether that is done."""
        if not self._has_peeled():
            return False
        if self.state.round.operation == "post":
            return True
        if self._authentic() is None:
            return False
        self.state.channel.exchange("shares", self._share_keys, self.state.subject)
        return self.state.channel.has_sent("shares")

    def _without_traps(self) -> tuple[bytes, ...] | None:
        """Return the signed list without the traps of all servers; None as long as one is open."""
        if self._kept is None:
            laid, words = self.state.channel.all("traps"), self.state.channel.all("named")
            last = self.state.channel.of("mix", self.state.round.servers - 1)
            if laid is None or words is None or last is None:
                return None
            kept = sealed_list(cut(last[NUMBER:], self.mix.route.core_size()))
            for server, (message, word) in enumerate(zip(laid, words, strict=True)):
                named = [
                    word[index : index + _FINGERPRINT]
                    for index in range(_SALT, len(word), _FINGERPRINT)
                ]
                left = struck(kept, message[:COMMITMENT], word[:_SALT], named)
                # One that is not struck would become public like a sender's message.
                if left is None or len(left) != len(kept) - self.mix.traps:
                    self.state.channel.stop(
                        f"server {server} names other traps than it committed to"
                    )
                    return None
                kept = left
            if len(kept) < self.state.round.min_batch:
                self.state.channel.stop(
                    f"{len(kept)} different packets arrived, it takes {self.state.round.min_batch}"
                )
                return None
            self._kept = kept
        return self._kept

    def _peel_cores(self) -> list[bytes] | None:
        """Return what the packets hold; None as long as a key is missing."""
        if self._inside is not None:
            return self._inside
        cores, keys = self._without_traps(), self.state.channel.all("peel")
        if cores is None or keys is None:
            return None
        inside, numbers = cores, tuple(range(len(cores)))
        for server, key in enumerate(keys):
            try:
                opener = Opener(self.mix.route.place("peel", server), key)
            except ValueError:
                self.state.channel.stop(f"server {server} shows another key than it announced")
                return None
            batch = peel(inside, self.mix.route.core_size(server), opener, set())
            inside, numbers = batch.outputs, tuple(numbers[index] for index in batch.origins)
        self._count("packet that cannot be peeled", len(cores) - len(inside))
        if self.state.on_link is not None:
            for number, message in zip(numbers, inside, strict=True):
                self.state.learn(cores[number], message)
        self._inside = list(inside)
        return self._inside

    def _count(self, reason: str, number: int) -> None:
        if number:  # set, not added: a server that starts again finds the same once more
            self.state.refused[reason] = number

    # --- deposits -------------------------------------------------------------------------------

    def ready_to_count(self) -> bool:
        """Peel: what is counted lies in the layers that all servers open together."""
        return self._has_peeled() and self._authentic() is not None

    def tally(self, groups: Sequence[Sequence[int]]) -> list[int]:
        """Count: every server sees which positions are filled, and not with what."""
        filled = {item.position for item in self._authentic() or ()}
        return [len(filled.intersection(group)) for group in groups]

    def _authentic(self) -> list[Item] | None:
        """Return the items that were made by somebody who knows the secret of their position."""
        if self._items is None:
            inside = self._peel_cores()
            if inside is None:
                return None
            suite, servers = self.state.round.suite, self.state.round.servers
            size, keys = row_size(self.state.round.message_size), self.state.config.slot_keys
            items = [read_item(element, suite, servers, size) for element in inside]
            meant = [item for item in items if item.position != NOWHERE]
            known = [item for item in meant if item.position < len(keys)]
            self._count("no such position", len(meant) - len(known))
            self._items = [
                item
                for item in known
                if item.authentic(self.state.binding, keys[item.position].alpha)
            ]
            self._count("not the position's secret", len(known) - len(self._items))
            if self.state.on_link is not None:
                for item, element in zip(items, inside, strict=True):
                    self.state.learn(element, item.position.to_bytes(8, "big"))
        return self._items

    def _share_keys(self) -> bytes:
        opener, shown = self.mix.opener("share"), []
        for item in self._items or ():
            if item.position in self.state.erased:
                shown.append(_ERASED)
                continue
            try:
                layer = opener.open(item.shares[self.mix.index])
            except UnopenedLayer:
                shown.append(_UNOPENED)
            else:
                shown.append(layer.key)
        return b"".join(shown)

    def _rows(self, shares: Sequence[bytes]) -> list[bytes | None] | None:
        """Put rows together; what is not from the owner of its position is withheld."""
        items = self._authentic()
        if items is None:
            return None
        for server, word in enumerate(shares):
            if len(word) != KEY * len(items):
                self.state.channel.stop(f"server {server} does not show its shares of all rows")
                return None
        results: dict[int, set[bytes]] = {}
        unopened: Counter[int] = Counter()
        by_item = zip(*(cut(word, KEY) for word in shares), strict=True)
        foreign = 0
        for item, keys in zip(items, by_item, strict=True):
            if item.position in self.state.erased:
                continue
            if _ERASED in keys:
                server = keys.index(_ERASED)
                self.state.channel.stop(
                    f"server {server} withholds shares of rows that are not erased"
                )
                return None
            records, row = results.setdefault(item.position, set()), self._row(item, keys, unopened)
            head = self.state.config.slot_keys[item.position].head
            record = None if row is None else read_row(head, self.state.round.iteration, row)
            foreign += row is not None and record is None
            if record is not None:
                records.add(record)
        self._count("not from the position's owner", foreign)
        for server, number in unopened.items():
            message = f"a share does not open: its sender or server {server} deviates"
            self.state.remarks[message] = number
        self._count("contested", sum(len(records) != 1 for records in results.values()))
        one = {
            index: next(iter(records)) for index, records in results.items() if len(records) == 1
        }
        return [one.get(index) for index in range(len(self.state.round.slots))]

    def _row(self, item: Item, keys: Sequence[bytes], unopened: Counter[int]) -> bytes | None:
        """Return the row of an item, or None; count whose keys do not open their shares."""
        try:
            return open_row(item, self.state.round.suite, keys)
        except UnopenedLayer:
            unopened.update(unopened_by(item, self.state.round.suite, keys))
            return None

    # --- the result -----------------------------------------------------------------------------

    def conclude(self) -> Sequence[bytes | None] | None:
        """Return what all keys together open."""
        if self.state.round.operation == "post":
            messages = self._peel_cores()
            return None if messages is None else sorted(messages)
        if self._opened_rows is None:
            shares = self.state.channel.exchange_result("shares", self.state.subject)
            self._opened_rows = None if shares is None else self._rows(shares)
        return self._opened_rows
